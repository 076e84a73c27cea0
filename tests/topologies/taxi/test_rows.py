"""Lines come as the bytes that they are, in bounded memory, up to where a file breaks off."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

import pytest

from topologies.taxi.rows import LONGEST_LINE, LinesFile, RowsError, count_lines

if TYPE_CHECKING:
    from pathlib import Path

LINES = [b"%d,%s" % (number, b"x" * (number % 97)) for number in range(20_000)]
CONTENT = b"".join(line + b"\n" for line in LINES)
# without a time stamp: the name of a test is made of it, and has to be the same in every process
PACKED = gzip.compress(CONTENT, mtime=0)


def read(path: Path, content: bytes) -> list[bytes]:
    path.write_bytes(content)
    return list(LinesFile(path).lines())


def read_until_broken(path: Path) -> tuple[list[bytes], str]:
    """Return the lines before a file breaks off, and what is said then."""
    lines: list[bytes] = []

    def read_all() -> None:
        for line in LinesFile(path).lines():
            lines.append(line)

    with pytest.raises(RowsError) as caught:
        read_all()
    return lines, str(caught.value)


def test_plain_and_packed_files_read_alike(tmp_path: Path) -> None:
    """Also in several members, with padding, and with other line ends."""
    halves = gzip.compress(CONTENT[:50_000], mtime=0) + bytes(100) + gzip.compress(CONTENT[50_000:], mtime=0)
    assert read(tmp_path / "a.csv", CONTENT) == LINES
    assert read(tmp_path / "a.csv", CONTENT.replace(b"\n", b"\r\n")[:-2]) == LINES
    assert read(tmp_path / "a.csv.gz", PACKED) == LINES
    assert read(tmp_path / "a.csv.gz", halves + bytes(10)) == LINES
    assert read(tmp_path / "b.csv", b"\xff\n\na\rb\n") == [b"\xff", b"", b"a\rb"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_lines_may_lie_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Their ends as well."""
    monkeypatch.setattr("topologies.taxi.rows._PACKED_BLOCK", size)
    monkeypatch.setattr("topologies.taxi.rows._BLOCK", size)
    content = b"a,b\r\n\r\nc\n\r,d\r\n"
    assert read(tmp_path / "a.csv.gz", gzip.compress(content, mtime=0)) == [b"a,b", b"", b"c", b"\r,d"]


@pytest.mark.parametrize("cut", [1, 9, 3_000, len(PACKED) // 2, len(PACKED) - 20])
def test_whole_lines_before_a_cut_come_first(tmp_path: Path, cut: int) -> None:
    """And the cut is reported with the last of them."""
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(PACKED[:-cut])
    lines, message = read_until_broken(path)
    assert lines == LINES[: len(lines)]
    assert len(lines) >= len(LINES) * (1 - cut / len(PACKED)) - 3_000
    assert message == f"{path} is cut off after line {len(lines)}: its gzip stream does not end"


def test_whole_lines_before_damage_come_first(tmp_path: Path) -> None:
    """All that can be read at all, up to the byte."""
    path = tmp_path / "damaged.csv.gz"
    packer = zlib.compressobj(wbits=31)
    good = packer.compress(b"".join(line + b"\n" for line in LINES[:15_000]) + b"half a l")
    # from here on the data can be read without what came before; no block begins with these bits
    path.write_bytes(good + packer.flush(zlib.Z_FULL_FLUSH) + b"\x07" * 300)
    lines, message = read_until_broken(path)
    assert lines == LINES[:15_000]
    assert "damaged.csv.gz is damaged after line 15000: Error -3" in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, "none.csv cannot be read: No such file"),
        ("empty.csv", b"", "empty.csv holds no rows"),
        ("empty.csv.gz", b"", "empty.csv.gz is cut off after line 0"),
        ("nothing.csv.gz", gzip.compress(b"", mtime=0), "nothing.csv.gz holds no rows"),
        ("no.csv.gz", b"plain text", "no.csv.gz is no gzip file"),
        ("long.csv", b"good\n" + b"x" * (LONGEST_LINE + 1), "long.csv, line 2: longer than 65536 bytes"),
        ("long.csv", b"x" * (LONGEST_LINE + 1) + b"\ngood\n", "long.csv, line 1: longer than 65536 bytes"),
    ],
)
def test_a_bad_file_is_refused_with_its_place(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    """Name and line, in one sentence."""
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RowsError, match=message):
        count_lines(path)


def test_how_far_a_file_is_read_is_known(tmp_path: Path) -> None:
    """From 0 to 1, by its bytes, packed or not."""
    for name, content in (("a.csv", CONTENT), ("a.csv.gz", PACKED)):
        path = tmp_path / name
        path.write_bytes(content)
        file = LinesFile(path)
        assert file.share() == 0.0
        shares = [file.share() for _ in file.lines()]
        assert shares == sorted(shares)
        assert shares[0] < 1.0
        assert shares[-1] == 1.0
