"""Bytes are exactly one struct, or the check says why not; it neither reads beyond the end nor runs on."""

from __future__ import annotations

import struct

import pytest

from bridge.wire.binary_check import BinaryError, check_struct
from bridge.wire.encoding import encode_request

STOP = b"\0"
DEEPEST = 16


def _field(kind: int, value: bytes) -> bytes:
    return struct.pack(">bh", kind, 1) + value


def test_a_request_passes_whole_and_fails_wherever_it_is_cut(make):
    """Or where bytes follow its end."""
    data = encode_request(make.cluster(make.taxi()))
    check_struct(data)
    with pytest.raises(BinaryError, match="1 bytes follow the end"):
        check_struct(data + STOP)
    for end in range(len(data)):
        with pytest.raises(BinaryError):
            check_struct(data[:end])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_field(11, struct.pack(">i", -1)) + STOP, "negative length"),
        (_field(11, struct.pack(">i", 2**31 - 1)) + STOP, "ends too early"),
        (_field(15, struct.pack(">bi", 8, 2**31 - 1)) + STOP, "ends too early"),
        (_field(15, struct.pack(">bi", 8, -1)) + STOP, "negative length"),
        (_field(15, struct.pack(">bi", 1, 3)) + STOP, "unknown type 1"),
        (_field(13, struct.pack(">bbi", 11, 11, 2**31 - 1)) + STOP, "ends too early"),
        (_field(7, b"") + STOP, "unknown type 7"),
        (_field(10, b"1234567"), "ends too early"),
        (_field(12, b"") * DEEPEST + _field(8, b"1234") + STOP * (DEEPEST + 1), "nested deeper than 16"),
    ],
)
def test_what_is_no_struct_is_refused_with_the_reason(data, reason):
    with pytest.raises(BinaryError, match=reason):
        check_struct(data)


@pytest.mark.parametrize("inner", [_field(8, b"1234"), _field(11, struct.pack(">i", 0)), b""])
def test_structs_may_be_nested_as_deeply_as_stated(inner):
    check_struct(_field(12, b"") * (DEEPEST - 1) + inner + STOP * DEEPEST)
    check_struct(_field(13, struct.pack(">bbi", 0, 0, 0)) + STOP)
