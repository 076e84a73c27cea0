"""Rules of the probe protocol's bytes."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.agent.probe import Answer, Malformed, Probe, decode, encode_answer, encode_probe
from monitoring.coordinate import Coordinate

nonces = st.integers(0, 2**64 - 1)
numbers_ms = st.floats(-30_000, 30_000)
places = st.builds(
    Coordinate, st.lists(numbers_ms, min_size=2, max_size=8).map(tuple), st.floats(0, 1e4), st.floats(0, 1.5)
)
PROBE = encode_probe(Probe(42, 3))
ANSWER = encode_answer(Answer(42, Coordinate((1.0, 2.0, 3.0), 0.5, 0.1)))


@given(nonces, st.integers(2, 8))
def test_a_probe_survives_the_wire(nonce: int, dimensions: int) -> None:
    assert decode(encode_probe(Probe(nonce, dimensions))) == Probe(nonce, dimensions)


@given(nonces, places)
def test_an_answer_survives_the_wire_to_the_last_bit(nonce: int, place: Coordinate) -> None:
    assert decode(encode_answer(Answer(nonce, place))) == Answer(nonce, place)


def test_an_answer_is_no_longer_than_its_probe() -> None:
    assert len(ANSWER) == len(PROBE) == 56


@given(st.binary(max_size=120))
def test_noise_is_malformed(datagram: bytes) -> None:
    assert isinstance(decode(datagram), Malformed)


@given(st.sampled_from([PROBE, ANSWER]), st.integers(0, 200))
def test_a_cut_or_padded_datagram_is_malformed(datagram: bytes, length: int) -> None:
    changed = datagram[:length].ljust(length, b"\0")
    assert isinstance(decode(changed), Malformed) == (length != len(datagram))


@pytest.mark.parametrize(
    ("at", "byte", "word"),
    [
        (0, 0x58, "not a probe"),
        (4, 2, "version 2"),
        (5, 3, "not a probe"),
        (6, 4, "length"),
        (7, 1, "not a probe"),
    ],
)
def test_each_field_of_the_header_is_checked(at: int, byte: int, word: str) -> None:
    changed = bytearray(ANSWER)
    changed[at] = byte
    message = decode(bytes(changed))
    assert isinstance(message, Malformed)
    assert word in message.reason


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("field", range(5))
def test_numbers_that_are_not_finite_are_malformed(bad: float, field: int) -> None:
    changed = bytearray(ANSWER)
    struct.pack_into("!d", changed, 16 + 8 * field, bad)
    assert isinstance(decode(bytes(changed)), Malformed)
