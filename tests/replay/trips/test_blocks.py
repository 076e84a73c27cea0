"""Files in blocks: every line in one of them, whatever their size."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

import pytest

from replay.errors import DataError
from replay.trips.blocks import blocks_of, count_lines, first_lines, read_lines

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_each_line_lies_in_one_block(tmp_path: Path, name: str, end: str) -> None:
    """Empty lines, lines longer than a block and a last line without its end too."""
    seed = 7
    rng = random.Random(seed)
    lines = ["x" * rng.choice((0, 1, 2, 5, 40)) + str(number) for number in range(200)]
    lines += ["", "y"]
    file = tmp_path / name
    data = ("\n".join(lines) + end).encode()
    file.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    for size in (1, 2, 3, 7, 64, 10_000):
        blocks = blocks_of(file, size)
        pieces = [b"".join(read_lines(block)) for block in blocks]
        assert b"".join(pieces) == data, (seed, size)
        assert all(piece.endswith(b"\n") for piece in pieces[:-1] if piece)
        assert sum(map(count_lines, blocks)) == len(lines), (seed, size)


def test_missing_and_empty_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    with pytest.raises(DataError, match=r"missing\.csv: no such file"):
        blocks_of(tmp_path / "missing.csv")
    with pytest.raises(DataError, match=r"empty\.csv: the file is empty"):
        blocks_of(tmp_path / "empty.csv")
    with pytest.raises(DataError, match="not a file"):
        blocks_of(tmp_path)


@pytest.mark.parametrize("piece", [100, 1 << 20])
def test_a_packed_file_that_is_cut_short_is_named_with_its_line(tmp_path: Path, piece: int) -> None:
    """The line is the last whole one, whatever is held at once."""
    rng = random.Random(3)
    data = b"".join(b"%030d\n" % rng.getrandbits(90) for _ in range(5_000))
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(gzip.compress(data)[:50_000])
    readable = gzip_prefix(file)

    with pytest.raises(DataError) as refused:
        count_lines(blocks_of(file, piece)[0])

    lines = readable.count(b"\n")
    assert str(refused.value) == f"{file}: the packed data are cut short after line {lines}"


def test_packed_data_that_hold_nothing_or_are_none_are_named(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv.gz"
    file.write_bytes(gzip.compress(b""))
    with pytest.raises(DataError, match="the packed file holds nothing"):
        first_lines(file, 5)
    file.write_bytes(b"plain text, not packed")
    with pytest.raises(DataError, match="the packed data are damaged after line 0"):
        first_lines(file, 5)


def gzip_prefix(file: Path) -> bytes:
    lines = []
    with gzip.open(file) as stream:
        try:
            lines.extend(iter(stream.readline, b""))
        except EOFError:
            return b"".join(lines)
    raise AssertionError("the file is whole")
