"""A check of TBinaryProtocol bytes before they are decoded.

thriftpy2's compiled decoder trusts lengths and type codes: a list of two thousand million elements of a type
that takes no bytes keeps a core busy for minutes, and no signal gets through. Here every length is held
against the bytes that are really there, which takes time in proportion to their number at most.
"""

from __future__ import annotations

import struct

_BYTE, _DOUBLE, _SHORT, _INT, _LONG, _TEXT, _STRUCT, _MAP, _SET, _LIST = 3, 4, 6, 8, 10, 11, 12, 13, 14, 15
_BOOLEAN = 2
_FIXED_BYTES = {_BOOLEAN: 1, _BYTE: 1, _DOUBLE: 8, _SHORT: 2, _INT: 4, _LONG: 8}
_LENGTH = struct.Struct(">i")
_DEEPEST = 16
_HEADER_BYTES = 4
_STRICT_VERSION = 0x8001


class BinaryError(ValueError):
    """The bytes are no TBinaryProtocol."""


def check_struct(data: bytes) -> None:
    """Check that bytes are exactly one struct.

    Raises:
        BinaryError: Lengths, types or nesting do not hold.
    """
    _expect_end(data, _skip_struct(data, 0, _DEEPEST))


def check_message(data: bytes) -> None:
    """Check that bytes are exactly one message: strict header, name, sequence number, struct.

    Raises:
        BinaryError: Lengths, types or nesting do not hold.
    """
    if len(data) < _HEADER_BYTES or int.from_bytes(data[:2]) != _STRICT_VERSION:
        raise BinaryError("no strict header of TBinaryProtocol")
    position = _skip(data, _HEADER_BYTES, _TEXT, _DEEPEST)
    position = _skip(data, position, _INT, _DEEPEST)
    _expect_end(data, _skip_struct(data, position, _DEEPEST))


def _expect_end(data: bytes, position: int) -> None:
    if position != len(data):
        raise BinaryError(f"{len(data) - position} bytes follow the end")


def _skip_struct(data: bytes, position: int, depth: int) -> int:
    if depth == 0:
        raise BinaryError(f"nested deeper than {_DEEPEST} levels at byte {position}")
    end = len(data)
    while position < end:
        kind = data[position]
        if kind == 0:
            return position + 1
        # Type and number of the field.
        position += 3
        # Most fields are of a fixed size, text or numbers: more calls for each would be half of the time.
        fixed = _FIXED_BYTES.get(kind)
        if fixed is not None:
            position += fixed
        elif kind == _TEXT:
            size, position = _size(data, position)
            position += size
        elif kind == _LIST and (element := _FIXED_BYTES.get(_byte(data, position))) is not None:
            count, position = _size(data, position + 1)
            position += count * element
        else:
            position = _skip(data, position, kind, depth)
    raise BinaryError("the data ends too early")


def _skip(data: bytes, position: int, kind: int, depth: int) -> int:
    """Return the position after a value of a type."""
    if depth == 0:
        raise BinaryError(f"nested deeper than {_DEEPEST} levels at byte {position}")
    if kind in _FIXED_BYTES:
        return _within(data, position + _FIXED_BYTES[kind])
    if kind == _TEXT:
        size, position = _size(data, position)
        return _within(data, position + size)
    if kind == _STRUCT:
        return _skip_struct(data, position, depth - 1)
    if kind in (_LIST, _SET):
        types: tuple[int, ...] = (_byte(data, position),)
    elif kind == _MAP:
        types = (_byte(data, position), _byte(data, position + 1))
    else:
        raise BinaryError(f"unknown type {kind} at byte {position}")
    count, position = _size(data, position + len(types))
    fixed = [_FIXED_BYTES[each] for each in types if each in _FIXED_BYTES]
    if len(fixed) == len(types):
        return _within(data, position + count * sum(fixed))
    # A map or list of no elements may name no type; otherwise every known type takes at least a byte, so that
    # the end of the data ends the loop.
    for _ in range(count):
        for each in types:
            position = _skip(data, position, each, depth - 1)
    return position


def _byte(data: bytes, position: int) -> int:
    if position >= len(data):
        raise BinaryError("the data ends too early")
    return data[position]


def _size(data: bytes, position: int) -> tuple[int, int]:
    _within(data, position + _LENGTH.size)
    (size,) = _LENGTH.unpack_from(data, position)
    if size < 0:
        raise BinaryError(f"negative length at byte {position}")
    return int(size), position + _LENGTH.size


def _within(data: bytes, position: int) -> int:
    if position > len(data):
        raise BinaryError("the data ends too early")
    return position
