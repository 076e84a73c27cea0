"""Lines of a taxi file, plain or packed with gzip, one block of the file in memory at a time."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST_LINE = 65_536
"""Bytes; a file with a longer line is no file of rows, and would otherwise have to be held whole."""

_BLOCK = 262_144
_PACKED_BLOCK = 65_536
_GZIP = 31  # zlib's window bits for a gzip header and its checksum


class RowsError(Exception):
    """A source of rows cannot be read; the message is one sentence with file and line."""


class LinesFile:
    """The lines of one file; names that end with `.gz` are unpacked.

    Args:
        path: The file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0

    def lines(self) -> Iterator[bytes]:
        """Yield the lines from the first one on, without their ends, as the bytes that they are.

        Raises:
            RowsError: The file is missing, cut off, damaged or no gzip; all whole lines before come first.
        """
        number = 0
        try:
            with self._path.open("rb") as file:
                rest = b""
                for block in self._unpack(file) if self._path.suffix == ".gz" else self._blocks(file):
                    text = rest + block
                    lines = text.split(b"\n")
                    rest = lines.pop()
                    if b"\r" in text:
                        lines = [line.rstrip(b"\r") for line in lines]
                    for line in lines:
                        number += 1
                        if len(line) > LONGEST_LINE:
                            raise RowsError(self._too_long(number))
                        yield line
                    if len(rest) > LONGEST_LINE:
                        raise RowsError(self._too_long(number + 1))
                if rest:
                    yield rest.rstrip(b"\r")
        except EOFError as error:
            msg = f"{self._path} is cut off after line {number}: its gzip stream does not end"
            raise RowsError(msg) from error
        except zlib.error as error:
            what = f"is damaged after line {number}" if number else "is no gzip file, or damaged in line 1"
            raise RowsError(f"{self._path} {what}: {error}") from error
        except OSError as error:
            raise RowsError(f"{self._path} cannot be read: {error.strerror or error}") from error

    def share(self) -> float:
        """Return how much of the file has been read, 0 to 1."""
        try:
            return self._read / max(1, self._path.stat().st_size)
        except OSError:
            return 0.0  # only a figure of progress: reading itself says what is wrong

    def _too_long(self, number: int) -> str:
        return f"{self._path}, line {number}: longer than {LONGEST_LINE} bytes, so this is no file of rows"

    def _blocks(self, file: BinaryIO, size: int = _BLOCK) -> Iterator[bytes]:
        self._read = 0
        while block := file.read(size):
            self._read += len(block)
            yield block

    def _unpack(self, file: BinaryIO) -> Iterator[bytes]:
        """Unpack all members of a gzip file, each block with a bound on what it unpacks to."""
        unpack = zlib.decompressobj(_GZIP)
        begun = True  # a file without any byte is cut off too
        for block in self._blocks(file, _PACKED_BLOCK):
            packed = block
            while packed:
                if not begun:
                    packed = packed.lstrip(b"\0")  # padding between and behind members
                    unpack, begun = zlib.decompressobj(_GZIP), bool(packed)
                    continue
                before = unpack.copy()
                try:
                    unpacked = unpack.decompress(packed, _BLOCK)
                except zlib.error:
                    yield from _byte_by_byte(before, packed)
                    raise
                if unpacked:
                    yield unpacked
                packed = unpack.unused_data if unpack.eof else unpack.unconsumed_tail
                begun = not unpack.eof
        if begun:
            raise EOFError


def _byte_by_byte(unpack: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """Yield what comes before the damage: zlib gives nothing of a block in which it finds any."""
    for index in range(len(packed)):
        yield unpack.decompress(packed[index : index + 1])


def count_lines(path: Path) -> int:
    """Return the number of lines, reading the file once; raises as `lines`, and when it is empty."""
    lines = sum(1 for _ in LinesFile(path).lines())
    if not lines:
        raise RowsError(f"{path} holds no rows")
    return lines
