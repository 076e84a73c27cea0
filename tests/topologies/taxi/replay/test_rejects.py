"""The file of malformed rows holds each of them once, also after a crash."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.rejects import RejectsFile

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


ROWS = [(3, "columns", b'a,"b"'), (40, "encoding", b"\xff\r\x00"), (500, "fares", "é".encode())]
RECORDS = [["3", "columns", 'a,"b"'], ["40", "encoding", "\\xff\r\x00"], ["500", "fares", "é"]]
HEADER = ["line", "reason", "text"]


def test_what_is_written_is_there_at_once(tmp_path: Path) -> None:
    """The line as it was, with undecodable bytes as escapes."""
    rejects = RejectsFile(tmp_path / "r.csv")
    rejects.begin()
    assert not rejects.path.exists()
    for row in ROWS:
        rejects.write([row])
    assert read(rejects.path) == [HEADER, *RECORDS]
    with pytest.raises(FeedError, match=r"r\.csv exists already: move it away"):
        RejectsFile(rejects.path).begin()


@pytest.mark.parametrize(("next_row", "kept"), [(501, 3), (500, 2), (41, 2), (40, 1), (3, 0), (1, 0)])
def test_rows_that_never_came_to_redis_are_dropped(tmp_path: Path, next_row: int, kept: int) -> None:
    """They come again; without any row left the file is gone."""
    first = RejectsFile(tmp_path / "r.csv")
    first.write(ROWS)
    again = RejectsFile(first.path)
    again.resume(next_row)
    assert first.path.exists() == bool(kept)
    again.write(ROWS[kept:])
    assert read(first.path) == [HEADER, *RECORDS]
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_record_that_a_crash_cut_is_dropped(tmp_path: Path, cut: int) -> None:
    """It is of a row that never came to Redis, as records are written first."""
    path = tmp_path / "r.csv"
    first = RejectsFile(path)
    first.write(ROWS)
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    again = RejectsFile(path)
    again.resume(41)
    again.write(ROWS[2:])
    if cut < 8:
        assert path.read_bytes() == content
    assert read(path)[-1] == RECORDS[-1]


def test_another_file_is_left_alone(tmp_path: Path) -> None:
    """It is refused, and nothing of it is lost."""
    path = tmp_path / "r.csv"
    path.write_text("some,thing\n")
    with pytest.raises(FeedError, match=r"r\.csv is no file of rejects"):
        RejectsFile(path).resume(5)
    assert path.read_text() == "some,thing\n"
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_a_file_that_cannot_be_written_ends_feeding(tmp_path: Path) -> None:
    """With its name and the reason."""
    with pytest.raises(FeedError, match=r"rejects .*none/r\.csv cannot be kept: No such file"):
        RejectsFile(tmp_path / "none" / "r.csv").write(ROWS)
