"""Files in blocks of whole lines, so that many tasks can read one file and each line keeps its number."""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BLOCK_BYTES = 32 << 20


@dataclass(frozen=True)
class FileBlock:
    """A part of a file.

    Attributes:
        file: The file.
        start: First byte; a line belongs to the block in which its first byte lies.
        end: The byte behind the last. A packed file is one block, however large.
        piece: Bytes that are held at once.
    """

    file: Path
    start: int
    end: int
    piece: int = BLOCK_BYTES

    @property
    def packed(self) -> bool:
        """Whether the file is read through gzip."""
        return self.file.suffix == ".gz"


def require_text(file: Path) -> None:
    """Refuse a file that is missing, is no file, or holds nothing.

    Raises:
        DataError: Naming the file.
    """
    if not file.exists():
        raise DataError(f"{file}: no such file")
    if not file.is_file():
        raise DataError(f"{file}: not a file")
    if file.stat().st_size == 0:
        raise DataError(f"{file}: the file is empty")


def blocks_of(file: Path, size: int = BLOCK_BYTES) -> list[FileBlock]:
    """Cut a file into blocks, ascending; a packed one is not cut, as none of its parts can be read alone.

    Raises:
        DataError: The file is missing, no file, or empty.
    """
    require_text(file)
    total = file.stat().st_size
    if file.suffix == ".gz":
        return [FileBlock(file, 0, total, size)]
    return [FileBlock(file, start, min(start + size, total), size) for start in range(0, total, size)]


def read_lines(block: FileBlock) -> Iterator[bytes]:
    """Give the lines that begin in a block, in pieces of whole lines; only a file's last line may lack its
    end.

    Raises:
        DataError: Packed data are cut short or damaged, or hold nothing; the line where they break off is
            named.
        OSError: The file cannot be read.
    """
    if not block.packed:
        with block.file.open("rb") as stream:
            yield from _plain(stream, block)
        return
    try:
        with gzip.open(block.file, "rb") as packed:
            yield from _whole_lines(packed, block.piece)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(broken_gzip(block.file) or f"{block.file}: {error}") from None


def count_lines(block: FileBlock) -> int:
    """Return how many lines begin in a block; raises as `read_lines`."""
    lines = 0
    for piece in read_lines(block):
        lines += piece.count(b"\n") + (not piece.endswith(b"\n"))
    return lines


def first_lines(file: Path, count: int) -> list[str]:
    """Return a file's first lines, fewer if its first piece has fewer; raises as `read_lines`."""
    block = FileBlock(file, 0, min(file.stat().st_size, BLOCK_BYTES), 1 << 16)
    for piece in read_lines(block):
        return [line.decode("utf-8", "replace") for line in piece.split(b"\n", count)[:count]]
    raise DataError(f"{file}: the packed file holds nothing")


def broken_gzip(file: Path) -> str | None:
    """Say behind which whole line a packed file breaks off; None if all of it can be read."""
    lines = 0
    try:
        with gzip.open(file, "rb") as stream:
            for _ in stream:
                lines += 1
    except EOFError:
        return f"{file}: the packed data are cut short after line {lines}"
    except (gzip.BadGzipFile, zlib.error) as error:
        return f"{file}: the packed data are damaged after line {lines}: {error}"
    return None


def _plain(stream: IO[bytes], block: FileBlock) -> Iterator[bytes]:
    if block.start > 0:
        # the line that is under way at the start belongs to the block before
        stream.seek(block.start - 1)
        stream.readline()
    if (length := block.end - stream.tell()) > 0:
        yield stream.read(length) + _rest_of_line(stream, block.end)


def _rest_of_line(stream: IO[bytes], end: int) -> bytes:
    stream.seek(end - 1)
    return b"" if stream.read(1) == b"\n" else stream.readline()


def _whole_lines(stream: IO[bytes] | gzip.GzipFile, size: int) -> Iterator[bytes]:
    kept = b""
    while piece := stream.read(size):
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield kept + piece[:cut]
            kept = piece[cut:]
        else:
            kept += piece
    if kept:
        yield kept
