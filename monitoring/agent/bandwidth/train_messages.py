"""Trains on the wire: a peer is asked, allows one, gets its packets, and says how they arrived.

All numbers are big-endian, and all messages begin alike::

    0   4 bytes   magic "SPTR"
    4   uint8     version, 1
    5   uint8     kind: 1 ask, 2 grant, 3 packet, 4 result
    6   uint16    packets of the train; of a packet its position, from 0
    8   uint64    nonce, chosen by the sender of the train at random
    16  uint64    token, chosen by its receiver at random; zero in an ask and in a result

A packet is filled up to 1,200 bytes with what cannot be compressed. A result goes on with::

    24  uint16    packets that arrived in order
    26  uint16    packets that arrived out of order
    28  uint64    time from the first arrival to the last one, ns
    36  uint64    median of the times between one arrival and the next, ns

Ask and grant have the same length, and only who received the grant can send the packets: a forged sender
gets no more than was sent in its name. An agent that knows no trains refuses an ask as malformed.
"""

from __future__ import annotations

import secrets
import struct
from dataclasses import dataclass
from enum import IntEnum

from monitoring.agent.probe import Malformed, Refusal

PACKET_BYTES = 1_200
"""Payload of a packet: with headers less than what every path has to carry unfragmented (1,280, IPv6)."""

LEAST_PACKETS = 8
MOST_PACKETS = 20

_HEADER = struct.Struct("!4sBBHQQ")
_ARRIVAL = struct.Struct("!HHQQ")
_MAGIC = b"SPTR"
_VERSION = 1


class _Kind(IntEnum):
    ASK = 1
    GRANT = 2
    PACKET = 3
    RESULT = 4


_LENGTHS = {
    _Kind.ASK: _HEADER.size,
    _Kind.GRANT: _HEADER.size,
    _Kind.PACKET: PACKET_BYTES,
    _Kind.RESULT: _HEADER.size + _ARRIVAL.size,
}


@dataclass(frozen=True, slots=True)
class Ask:
    """May I send you so many packets?"""

    nonce: int
    packets: int


@dataclass(frozen=True, slots=True)
class Grant:
    """You may, with this token."""

    nonce: int
    packets: int
    token: int


@dataclass(frozen=True, slots=True)
class Packet:
    """One packet of a train."""

    nonce: int
    token: int
    position: int


@dataclass(frozen=True, slots=True)
class Result:
    """How a train arrived.

    Attributes:
        nonce: That of the ask.
        packets: Packets of the train.
        arrived: Those that arrived in order until the last one did.
        disordered: Those that arrived out of order or twice.
        spread_ns: Time from the first arrival to the last one.
        gap_ns: Median of the times between one arrival and the next.
    """

    nonce: int
    packets: int
    arrived: int
    disordered: int
    spread_ns: int
    gap_ns: int


def is_of_train(datagram: bytes) -> bool:
    """Say whether a datagram is meant to be one of these messages."""
    return datagram.startswith(_MAGIC)


def headers_bytes(host: str) -> int:
    """Return what IP and UDP put before each datagram to a numeric address."""
    return 48 if ":" in host else 28


def train_bytes(packets: int, host: str) -> int:
    """Return what the packets of a train take on the way to a numeric address, with IP headers."""
    return packets * (PACKET_BYTES + headers_bytes(host))


def talk_bytes(host: str) -> int:
    """Return what ask, grant and result of a train take together, with IP headers."""
    return sum(_LENGTHS[kind] + headers_bytes(host) for kind in (_Kind.ASK, _Kind.GRANT, _Kind.RESULT))


def encode_ask(ask: Ask) -> bytes:
    """Give the datagram of an ask."""
    return _HEADER.pack(_MAGIC, _VERSION, _Kind.ASK, ask.packets, ask.nonce, 0)


def encode_grant(grant: Grant) -> bytes:
    """Give the datagram of a grant."""
    return _HEADER.pack(_MAGIC, _VERSION, _Kind.GRANT, grant.packets, grant.nonce, grant.token)


def encode_train(grant: Grant) -> tuple[bytes, ...]:
    """Give all packets of a train."""
    filling = secrets.token_bytes(PACKET_BYTES - _HEADER.size)
    return tuple(
        _HEADER.pack(_MAGIC, _VERSION, _Kind.PACKET, position, grant.nonce, grant.token) + filling
        for position in range(grant.packets)
    )


def encode_result(result: Result) -> bytes:
    """Give the datagram of a result."""
    header = _HEADER.pack(_MAGIC, _VERSION, _Kind.RESULT, result.packets, result.nonce, 0)
    return header + _ARRIVAL.pack(result.arrived, result.disordered, result.spread_ns, result.gap_ns)


def decode(datagram: bytes) -> Ask | Grant | Packet | Result | Malformed:
    """Read a datagram from the network.

    Returns:
        The message; `Malformed` for anything that is not exactly of the form above.
    """
    fault = _fault(datagram)
    if fault is not None:
        return fault
    _, _, kind, number, nonce, token = _HEADER.unpack_from(datagram)
    match kind:
        case _Kind.ASK:
            return Ask(nonce, number)
        case _Kind.GRANT:
            return Grant(nonce, number, token)
        case _Kind.PACKET:
            return Packet(nonce, token, number)
        case _:
            return Result(nonce, number, *_ARRIVAL.unpack_from(datagram, _HEADER.size))


def _fault(datagram: bytes) -> Malformed | None:
    if len(datagram) < _HEADER.size:
        return Malformed("shorter than a train's header")
    magic, version, kind, number, *_ = _HEADER.unpack_from(datagram)
    if magic != _MAGIC or kind not in _LENGTHS:
        return Malformed("no message of a train")
    if version != _VERSION:
        return Malformed(f"version {version} of trains instead of {_VERSION}", Refusal.VERSION)
    if len(datagram) != _LENGTHS[kind]:
        return Malformed("length does not fit a train's message")
    if kind != _Kind.PACKET and not LEAST_PACKETS <= number <= MOST_PACKETS:
        return Malformed(f"a train of {number} packets", Refusal.IMPOSSIBLE)
    return None
