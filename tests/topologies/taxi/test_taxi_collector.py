"""Collecting writes what a run says, and reports what is missing."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from cli.main import main
from topologies.collecting import CollectError
from topologies.taxi.keys import Run
from topologies.taxi.taxi_collector import TaxiCollector
from topologies.taxi.trail import STAMPS

if TYPE_CHECKING:
    from pathlib import Path

RUN = Run("r1")
TRAIL = {query: " ".join(str(10 * moment) for moment in range(1, len(STAMPS[query]) + 1)) for query in "12"}


def batch(first: int, following: int, **more: str) -> dict[str, str]:
    """A batch of rows of two entries, all of which pass; its instant is over."""
    fields = {
        "first": str(first),
        "next": str(following),
        "passed": f"{first}-{following - 1}",
        "rejected": "",
        "available": f"{first} {first}000;{first + 1} {first}500",
        "emit_us": "1",
        "trail": TRAIL["1"],
        "done_us": "1500001",
        "tops": f"{first} T{first}",
        "states": f'{following - 1} {60 * first} [["r",{first}]]',
    }
    return fields | more


CHOICES = '{"nulls": "per-route"}'


def end(row: int) -> dict[str, str]:
    return batch(row, row + 1, passed="", tops="", states="", available=f"{row} 1", end="1")


def put_run(client: Any, *entries: dict[str, str], query: str = "1") -> None:
    client.hset(RUN.feed, mapping={"fast_rows": 2, "paced_rows": 1, "rate_per_s": 10.0, "fed": 9})
    client.hset(RUN.progress, mapping={f"seen:{query}": 1, "epochs": 3, "replayed": 7, "semantics": CHOICES})
    for fields in entries:
        client.xadd(RUN.results_of(query), fields)


def collected(client: Any, out: Path, timeout_s: float = 0.01) -> Any:
    return TaxiCollector(client, RUN, timeout_s, lambda *_: None).collect(out)


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_collected_files_hold_the_run(tmp_path: Path, redis_server: Any) -> None:
    """One line per row that counts, with its entry's availability and whether it was paced."""
    client = redis_server.client()
    put_run(
        client,
        batch(1, 3),
        batch(3, 6, passed="3,5", rejected="4 columns", tops="3 A,B\n5 C,D"),
        end(6),
    )
    (summary,) = collected(client, tmp_path / "out")
    rows = [line.split(",") for line in lines(tmp_path / "out" / "results.csv")]
    assert rows[0] == ["n", "row_ms", "emit_us", "done_us", "result_ms", "paced"]
    assert [(row[0], row[1], row[5]) for row in rows[1:]] == [
        *[("1", "1000", "0"), ("2", "1500", "0"), ("3", "3000", "1"), ("5", "3500", "1")]
    ]
    assert lines(tmp_path / "out" / "tops.csv") == ["T1", "A,B", "C,D"]
    assert lines(tmp_path / "out" / "output.csv") == [f"{row},1.500000" for row in ("T1", "A,B", "C,D")]
    states = [json.loads(line) for line in lines(tmp_path / "out" / "states.jsonl")]
    assert states == [
        {"n": 2, "dropoff": "1970-01-01 00:01:00", "state": [["r", 1]]},
        {"n": 5, "dropoff": "1970-01-01 00:03:00", "state": [["r", 3]]},
    ]
    trails = lines(tmp_path / "out" / "trails.csv")
    assert trails[0].split(",")[:3] == ["n", "parser_in_us", "parser_out_us"]
    assert trails[1:] == [",".join((str(n), *TRAIL["1"].split())) for n in (1, 2, 3, 5)]
    document = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert document == {
        "run": "r1",
        "query": "1",
        "rows": 5,
        "passed": 4,
        "rejected": 1,
        "reasons": {"columns": 1},
        "results": 4,
        "tops": 3,
        "instants": 2,
        "epochs": 3,
        "replayed": 7,
        "fast_rows": 2,
        "rate_per_s": 10.0,
        "semantics": {"nulls": "per-route"},
        "faults": [],
    }
    assert summary.faults == ()


def test_each_query_has_its_files(tmp_path: Path, redis_server: Any) -> None:
    """Those of query 2 lie in a folder of their own, with its own stamps."""
    client = redis_server.client()
    put_run(client, batch(1, 3), end(3))
    put_run(client, batch(1, 3, trail=TRAIL["2"]), end(3) | {"trail": TRAIL["2"]}, query="2")
    first, second = collected(client, tmp_path)
    assert (first.query, second.query, first.faults, second.faults) == ("1", "2", (), ())
    assert "emptyTaxis_in_us" in lines(tmp_path / "query2" / "trails.csv")[0]
    assert lines(tmp_path / "query2" / "tops.csv") == ["T1"]
    assert len(list((tmp_path / "query2").iterdir())) == 6


@pytest.mark.parametrize(
    ("entries", "fault"),
    [
        ([batch(1, 3), batch(5, 7), end(7)], "results of rows 3 to 4 are missing"),
        ([batch(1, 3), batch(1, 3), end(3)], "results of rows 1 to 2 came again"),
        ([batch(1, 3, passed="1"), end(3)], "of rows 1 to 2 1 passed and 0 were rejected"),
        ([batch(1, 3, trail="1"), batch(1, 3), end(3)], "is malformed: ValueError its trail has 1 moments"),
        ([batch(1, 3, next="x"), batch(1, 3), end(3)], "is malformed: ValueError"),
    ],
)
def test_what_is_missing_is_a_fault(
    tmp_path: Path, redis_server: Any, entries: list[dict[str, str]], fault: str
) -> None:
    """Such a run has a fault; its files are written all the same."""
    put_run(redis_server.client(), *entries)
    (summary,) = collected(redis_server.client(), tmp_path)
    (found,) = summary.faults
    assert fault in found
    assert (tmp_path / "results.csv").exists()


@pytest.mark.parametrize("begun", [False, True])
def test_collecting_a_run_without_results_is_an_error_that_changes_nothing(
    tmp_path: Path, redis_server: Any, *, begun: bool
) -> None:
    """One sentence, and no half-written files, whether a topology has begun or not."""
    if begun:
        put_run(redis_server.client())
    with pytest.raises(CollectError, match=r"no result for 0\.01 s and no final entry"):
        collected(redis_server.client(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("entries", [[], [batch(1, 3)]])
def test_the_reason_that_the_topology_gave_is_quoted(
    tmp_path: Path, redis_server: Any, entries: list[dict[str, str]]
) -> None:
    """When it makes no progress any more, with results or without."""
    client = redis_server.client()
    put_run(client, *entries)
    client.hset(RUN.progress, "fault", "rows 3 to 9 are not in Redis any more")
    reason = "; dataSource says: rows 3 to 9 are not in Redis any more"
    if entries:
        (summary,) = collected(client, tmp_path)
        (fault,) = summary.faults
        assert fault.endswith(f"after row 2{reason}")
    else:
        with pytest.raises(CollectError, match=f"no result for 0.01 s and no final entry{reason}"):
            collected(client, tmp_path)


def test_a_run_that_does_not_end_is_collected_as_far_as_it_goes(tmp_path: Path, redis_server: Any) -> None:
    """Rows are those that were fed, as the end that states them is missing."""
    put_run(redis_server.client(), batch(1, 3), batch(3, 5))
    reports: list[tuple[int, int]] = []
    (summary,) = TaxiCollector(redis_server.client(), RUN, 0.01, lambda *rows: reports.append(rows)).collect(
        tmp_path
    )
    assert (summary.rows, summary.passed, summary.rejected, summary.results) == (9, None, None, 4)
    (fault,) = summary.faults
    assert fault.startswith("no final entry: nothing new for 0.01 s after row 4")
    assert len(lines(tmp_path / "results.csv")) == 5
    assert reports[-1] == (4, 3)


@pytest.mark.parametrize(("whole", "status"), [(True, 0), (False, 1)])
def test_the_command_ends_with_status_1_when_something_is_missing(
    tmp_path: Path,
    redis_server: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    whole: bool,
    status: int,
) -> None:
    """A complete run is one line; a gap is an exit status that scripts see."""
    put_run(redis_server.client(), batch(1, 3), *([] if whole else [batch(4, 5)]), end(3 if whole else 5))
    arguments = ["--redis", str(redis_server.address), "--run", RUN.id, "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["stormplace", "taxi", "collect", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0) == status
    shown = capsys.readouterr()
    if whole:
        assert "run r1, query 1: 2 rows, 2 passed, 0 rejected, 1 changes of the top ten" in shown.out
    else:
        assert "run r1 is not complete: query 1: results of rows 3 to 3 are missing" in shown.err
    assert (tmp_path / "out" / "summary.json").exists()
