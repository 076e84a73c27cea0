"""The probe protocol on the wire: one datagram there, one back.

All numbers are big-endian. Both kinds start alike and have the same length, so that an agent cannot be used
to amplify traffic towards a forged sender::

    0   4 bytes   magic "SPPR"
    4   uint8     version, 1
    5   uint8     kind: 1 probe, 2 answer
    6   uint8     dimensions D of the coordinate space, 2 to 8
    7   uint8     zero
    8   uint64    nonce, chosen by the prober at random, returned by the answer
    16  float64   D position numbers, height (ms, one way) and error; all zero in a probe
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import StrEnum

from monitoring.coordinate import MAX_DIMENSIONS, Coordinate

_HEADER = struct.Struct("!4sBBBBQ")
_MAGIC = b"SPPR"
_VERSION = 1
_PROBE = 1
_ANSWER = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """A question: how far are you, and where?"""

    nonce: int
    dimensions: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The echo of a probe with the responder's coordinate."""

    nonce: int
    coordinate: Coordinate


class Refusal(StrEnum):
    """Why a datagram teaches nothing and gets no answer."""

    MALFORMED = "malformed"
    """Neither a probe nor an answer."""
    VERSION = "version"
    """Of another version of the protocol."""
    IMPOSSIBLE = "impossible"
    """An answer whose coordinate is none: a number that is not finite, a negative height."""
    DIMENSIONS = "dimensions"
    """Of another coordinate space than this agent's."""
    OWN = "own"
    """A probe of this agent's own that came back to it: the address of a peer is its own address."""
    UNASKED = "unasked"
    """An answer to no probe or train under way, a packet of no train that was allowed: late or forged."""
    STRANGER = "stranger"
    """It asks for a train, and its address is that of no known peer."""


@dataclass(frozen=True, slots=True)
class Malformed:
    """A datagram that cannot be read, and why."""

    reason: str
    refusal: Refusal = Refusal.MALFORMED


def encode_probe(probe: Probe) -> bytes:
    """Give the datagram of a probe."""
    header = _HEADER.pack(_MAGIC, _VERSION, _PROBE, probe.dimensions, 0, probe.nonce)
    return header + bytes(8 * (probe.dimensions + 2))


def encode_answer(answer: Answer) -> bytes:
    """Give the datagram of an answer."""
    place = answer.coordinate
    dimensions = len(place.position_ms)
    header = _HEADER.pack(_MAGIC, _VERSION, _ANSWER, dimensions, 0, answer.nonce)
    return header + struct.pack(f"!{dimensions + 2}d", *place.position_ms, place.height_ms, place.error)


def decode(datagram: bytes) -> Probe | Answer | Malformed:
    """Read a datagram from the network.

    Returns:
        The message; `Malformed` for anything that is not exactly of the form above or whose coordinate is
        not one (a number that is not finite, a negative height).
    """
    if len(datagram) < _HEADER.size:
        return Malformed("shorter than a header")
    magic, version, kind, dimensions, zero, nonce = _HEADER.unpack_from(datagram)
    if magic != _MAGIC or zero != 0 or kind not in (_PROBE, _ANSWER):
        return Malformed("not a probe or an answer")
    if version != _VERSION:
        return Malformed(f"version {version} instead of {_VERSION}", Refusal.VERSION)
    if not 2 <= dimensions <= MAX_DIMENSIONS or len(datagram) != _HEADER.size + 8 * (dimensions + 2):
        return Malformed("length does not fit its dimensions")
    if kind == _PROBE:
        return Probe(nonce, dimensions)
    *position_ms, height_ms, error = struct.unpack_from(f"!{dimensions + 2}d", datagram, _HEADER.size)
    coordinate = Coordinate(tuple(position_ms), height_ms, error)
    fault = coordinate.fault(dimensions)
    return Malformed(f"coordinate: {fault}", Refusal.IMPOSSIBLE) if fault else Answer(nonce, coordinate)
