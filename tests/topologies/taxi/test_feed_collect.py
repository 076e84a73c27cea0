"""Collecting tells what is missing."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main
from topologies.taxi.collect import CollectError, Collector
from topologies.taxi.keys import Run
from topologies.taxi.trail import STAMPS

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run("r1")


TRAIL = " ".join(str(10 * stamp) for stamp in range(1, len(STAMPS) + 1))


def put_run(client: Any, results: list[int], final: dict[str, Any] | None) -> None:
    client.hset(RUN.feed, mapping={"fast_rows": 2, "paced_rows": 1, "rate_per_s": 10.0})
    for n in (1, 2, 3):
        client.xadd(RUN.rows, {"n": n, "line": f"a,b,c,2013-01-01 00:0{n}:00,e"}, id=f"{n * 1000}-0")
    for n in results:
        fields = {"n": n, "emit_us": 1, "trail": TRAIL, "done_us": 2}
        client.xadd(RUN.results, fields | {"state": f'[["r",{n}]]', "top": f"T{n}"})
    if final is not None:
        client.xadd(RUN.results, {"end": 1, "reasons": "{}", "lost": "{}"} | final)


def test_collected_files_hold_the_run(tmp_path: Path, redis_server: Any) -> None:
    """One line per result, with the row's availability and whether it was paced."""
    client = redis_server.client()
    put_run(client, [1, 3], {"rows": 3, "passed": 2, "rejected": 1})
    summary = Collector(client, RUN, 5.0, lambda _: None).collect(tmp_path / "out")
    assert summary.faults == ()
    rows = [line.split(",") for line in (tmp_path / "out" / "results.csv").read_text().splitlines()]
    assert rows[0] == ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    assert [(row[0], row[1], row[5]) for row in rows[1:]] == [("1", "1000", "0"), ("3", "3000", "1")]
    assert (tmp_path / "out" / "tops.csv").read_text() == "T1\nT3\n"
    states = [json.loads(line) for line in (tmp_path / "out" / "states.jsonl").read_text().splitlines()]
    assert states[1] == {"n": 3, "dropoff": "2013-01-01 00:03:00", "state": [["r", 3]]}
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["passed"] == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "results.csv",
        "states.jsonl",
        "summary.json",
        "tops.csv",
        "trails.csv",
    ]
    trails = (tmp_path / "out" / "trails.csv").read_text().splitlines()
    assert trails[0].split(",")[:3] == ["n", "parser_in_us", "parser_out_us"]
    assert trails[1:] == [",".join((str(n), *TRAIL.split())) for n in (1, 3)]


@pytest.mark.parametrize(
    ("results", "final", "fault"),
    [
        ([1], {"rows": 3, "passed": 2, "rejected": 1}, "2 rows passed the filter, but 1 have a result"),
        ([1, 2], {"rows": 3, "passed": 2, "rejected": 0}, "of 3 rows 2 passed and 0 were rejected"),
        (
            [1, 2, 3],
            {"rows": 3, "passed": 3, "rejected": 0, "lost": '{"parser": {"count": 1, "ranges": [[2, 2]]}}'},
            r"parser missed 1 tuples: \[\[2, 2\]\]",
        ),
    ],
)
def test_what_is_missing_is_told(
    tmp_path: Path, redis_server: Any, results: list[int], final: dict[str, Any], fault: str
) -> None:
    """A run with a gap has faults; its files are written all the same."""
    put_run(redis_server.client(), results, final)
    summary = Collector(redis_server.client(), RUN, 5.0, lambda _: None).collect(tmp_path)
    with pytest.raises(AssertionError, match=fault):
        assert summary.faults == (), summary.faults
    assert (tmp_path / "results.csv").exists()


def test_results_written_twice_count_once(tmp_path: Path, redis_server: Any) -> None:
    """A repeated result is counted, not collected."""
    put_run(redis_server.client(), [1, 1, 2], {"rows": 2, "passed": 2, "rejected": 0})
    summary = Collector(redis_server.client(), RUN, 5.0, lambda _: None).collect(tmp_path)
    assert (summary.results, summary.repeated, summary.faults) == (2, 1, ())


def test_late_results_are_collected_and_counted_once(tmp_path: Path, redis_server: Any) -> None:
    """Rows in the order of their first results, whatever their numbers; emits again are told."""
    client = redis_server.client()
    client.hset(RUN.source, mapping={"began": 2, "replayed": 7})
    put_run(client, [2, 1, 2, 3, 1], {"rows": 3, "passed": 3, "rejected": 0})
    summary = Collector(client, RUN, 5.0, lambda _: None).collect(tmp_path)
    assert (summary.results, summary.repeated, summary.replayed, summary.faults) == (3, 2, 7, ())
    rows = [line.split(",")[:2] for line in (tmp_path / "results.csv").read_text().splitlines()[1:]]
    assert rows == [["2", "2000"], ["1", "1000"], ["3", "3000"]]
    document = json.loads((tmp_path / "summary.json").read_text())
    assert (document["replayed"], document["repeated"], document["began"]) == (7, 2, {})


def test_a_component_that_began_late_is_a_fault(tmp_path: Path, redis_server: Any) -> None:
    """It is named with its row; counts of a filter that began late are told as such."""
    client = redis_server.client()
    began = '{"countByWindow": 2, "filterByCoordinates": 3}'
    put_run(client, [1, 2, 3], {"rows": 3, "passed": 1, "rejected": 0, "began": began})
    summary = Collector(client, RUN, 5.0, lambda _: None).collect(tmp_path)
    assert summary.began == {"countByWindow": 2, "filterByCoordinates": 3}
    assert summary.faults == (
        "countByWindow began at row 2 and knows nothing of the rows before",
        "filterByCoordinates began at row 3 and knows nothing of the rows before",
        "1 passed and 0 rejected rows are counted from its begin",
    )


def test_collecting_a_run_without_results_is_an_error_that_changes_nothing(
    tmp_path: Path, redis_server: Any
) -> None:
    """One sentence, and no half-written files."""
    put_run(redis_server.client(), [], None)
    with pytest.raises(CollectError, match=r"no result for 0\.01 s and no final entry"):
        Collector(redis_server.client(), RUN, 0.01, lambda _: None).collect(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_run_that_does_not_end_is_collected_as_far_as_it_goes(tmp_path: Path, redis_server: Any) -> None:
    """Rows are counted in Redis, as the final entry that tells them is missing."""
    put_run(redis_server.client(), [1, 3], None)
    summary = Collector(redis_server.client(), RUN, 0.01, lambda _: None).collect(tmp_path)
    assert (summary.rows, summary.passed, summary.rejected, summary.results) == (3, None, None, 2)
    assert [fault.partition(":")[0] for fault in summary.faults] == ["no final entry"]
    assert len((tmp_path / "results.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize(("passed", "status"), [(2, 0), (3, 1)])
def test_the_command_ends_with_status_1_when_something_is_missing(
    tmp_path: Path, redis_server: Any, monkeypatch: pytest.MonkeyPatch, passed: int, status: int
) -> None:
    """`taxi collect` of a complete run is silent success; a gap is an exit status that scripts see."""
    put_run(redis_server.client(), [1, 2], {"rows": passed, "passed": passed, "rejected": 0})
    arguments = ["--redis", str(redis_server.address), "--run", RUN.id, "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["stormplace", "taxi", "collect", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert (end.value.code or 0) == status
    assert (tmp_path / "out" / "summary.json").exists()
