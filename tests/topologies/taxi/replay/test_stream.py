"""A run's stream is written by one feeder at a time, each batch exactly once."""

from __future__ import annotations

from typing import Any

import pytest

from topologies.taxi.replay.errors import FeedError
from topologies.taxi.replay.stream import Released, RunStream, add_to_crc


def begun(side: Any) -> RunStream:
    stream = RunStream(side.client(), side.run)
    stream.begin({"source_name": "a.csv"})
    return stream


def append(stream: RunStream, fed: int, *lines: bytes, grown: dict[str, int] | None = None) -> Released:
    return stream.append(fed, list(lines), 7, settled={}, grown=grown or {})


def test_a_batch_that_is_sent_twice_is_there_once(side: Any) -> None:
    """Its first answer may have been lost: the second is the same, and nothing is counted twice."""
    stream = begun(side)
    for _ in range(2):
        append(stream, 0, b"a", b"b", grown={"duplicate": 1})
    for _ in range(2):
        append(stream, 2, b"")
    for _ in range(2):
        stream.end(3)
    assert side.entries() == [
        {"n": 1, "lines": [b"a", b"b"]},
        {"n": 3, "lines": [b""]},
        {"n": 4, "end": b"1"},
    ]
    feed = side.feed()
    assert {name: feed[name] for name in ("fed", "duplicate", "rows", "source_name", "crc")} == {
        "fed": "3",
        "duplicate": "1",
        "rows": "3",
        "source_name": "a.csv",
        "crc": "7",
    }


def test_what_the_run_has_come_to_is_read_from_its_last_entry(side: Any) -> None:
    """A run without rows has come to nothing; a stream that does not agree with its notes is refused."""
    stream = begun(side)
    assert stream.standing() is None
    append(stream, 0, b"a", b"\xff", b"")
    standing = stream.standing()
    assert standing is not None
    assert (standing.fed, standing.ended, standing.crc) == (3, False, 7)
    stream.end(3)
    standing = stream.standing()
    assert standing is not None
    assert (standing.fed, standing.ended) == (3, True)
    side.client().hset(side.run.feed, "fed", "4")
    with pytest.raises(FeedError, match="its last entry ends with row 3, noted was row 4"):
        stream.standing()


def test_a_run_with_rows_does_not_begin_anew(side: Any) -> None:
    """One that was begun without any row does, without what was noted then."""
    first = begun(side)
    second = RunStream(side.client(), side.run)
    second.begin({"other": "1"})
    assert "source_name" not in side.feed()
    with pytest.raises(FeedError, match="run r1 is being fed by another process"):
        append(first, 0, b"a")
    append(second, 0, b"a")
    with pytest.raises(FeedError, match="run r1 has rows already"):
        begun(side)
    assert side.rows() == [b"a"]


def test_a_feeder_that_was_taken_over_can_do_no_harm(side: Any) -> None:
    """Its rows and its end are refused; the new one goes on."""
    old = begun(side)
    append(old, 0, b"a")
    new = RunStream(side.client(), side.run)
    standing = new.standing()
    assert standing is not None
    new.take_over(standing, {"speed": "2"})
    with pytest.raises(FeedError, match="fed by another process, which has taken over after row 1"):
        append(old, 1, b"x")
    with pytest.raises(FeedError, match="another process"):
        old.end(1)
    append(new, 1, b"b")
    with pytest.raises(FeedError, match="run r1 is being fed by another process just now"):
        RunStream(side.client(), side.run).take_over(standing, {})
    assert side.rows() == [b"a", b"b"]
    assert (side.feed()["speed"], side.ended()) == ("2", False)


def test_a_run_that_is_gone_or_older_is_not_gone_on_with_blindly(side: Any) -> None:
    """Rows that Redis has lost would be missing for good."""
    stream = begun(side)
    append(stream, 0, b"a", b"b")
    with pytest.raises(FeedError, match="come back with 2 of 5 rows, from an older state"):
        append(stream, 5, b"f")
    side.client().flushall()
    with pytest.raises(FeedError, match="run r1 is gone from Redis, with its 2 rows"):
        append(stream, 2, b"c")
    assert side.entries() == []


@pytest.mark.parametrize(
    ("progress", "released"),
    [
        ({}, Released(0, None)),
        ({"epoch": "3"}, Released(0, None)),
        ({"released:1": "7", "rebuild_id:1": "9-1"}, Released(7, (9, 1))),
        ({"seen:2": "7"}, Released(0, None)),
        ({"released:1": "7", "rebuild_id:1": "9-1", "seen:2": "8"}, Released(0, None)),
        (
            {"released:1": "7", "rebuild_id:1": "9-1", "released:2": "5", "rebuild_id:2": "10-0"},
            Released(5, (9, 1)),
        ),
        ({"released:1": "7", "rebuild_id:1": "0"}, Released(7, None)),
    ],
)
def test_the_slowest_served_query_counts(progress: dict[str, str], released: Released) -> None:
    """A query is served when it has shown up."""
    assert Released.read(progress) == released


def test_trimming_keeps_what_a_query_may_need_again(side: Any) -> None:
    """And the last entry always, as it says where to go on."""
    stream = begun(side)
    for number in range(20):
        append(stream, number, b"x" * 5_000)
    ids = [each.decode() for each, _ in side.client().xrange(side.run.rows)]

    def kept(*rebuild_ids: str) -> int:
        for query, rebuild_id in enumerate(rebuild_ids, start=1):
            side.release(0, str(query), rebuild_id)
        stream.trim(stream.released())
        return int(side.client().xlen(side.run.rows))

    assert kept() == 20
    assert kept(ids[6], ids[4]) == 16
    assert side.client().xrange(side.run.rows)[0][0].decode() == ids[4]
    assert kept("99999999999999-0", "99999999999999-0") == 1
    standing = stream.standing()
    assert standing is not None
    assert standing.fed == 20


def test_a_checksum_does_not_depend_on_how_lines_are_grouped() -> None:
    """Only on the lines and where they end."""
    lines = [b"ab", b"", b"c"]
    assert add_to_crc(lines[1:], add_to_crc(lines[:1], 0)) == add_to_crc(lines, 0)
    assert add_to_crc([b"a", b"b", b"", b"c"], 0) != add_to_crc(lines, 0)
    assert add_to_crc([], 5) == 5
