"""Collecting a run whose end never comes, from a double of Redis that answers at once."""

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

    from topologies.taxi.collect import CollectProgress

RUN = Run("r1")
TRAIL = " ".join("1" for _ in STAMPS)


class Redis:
    """Rows 1 to 4, of which some have results; the results are told one a call, repeated ones for ever."""

    def __init__(self, *results: int, repeated: int | None = None, ended: bool = True) -> None:
        lines = [{"n": str(n), "line": f"a,b,c,2013-01-01 00:0{n}:00,e"} for n in range(1, 5)]
        self.rows = [(f"{n}000-0", fields) for n, fields in enumerate([*lines, {"n": "5", "end": "1"}], 1)]
        if not ended:
            self.rows.pop()
        self.results = list(results)
        self.repeated = repeated
        self.told = 0

    def xread(self, _streams: Any, **_: Any) -> Any:
        n = self.results[self.told] if self.told < len(self.results) else self.repeated
        if n is None:
            return []
        self.told += 1
        fields = {"n": str(n), "emit_us": "1", "trail": TRAIL, "done_us": "2", "state": "[]"}
        return [(RUN.results, [(f"{9000 + self.told}-0", fields)])]

    def xrange(self, _stream: str, min: str, **_: Any) -> Any:  # noqa: A002 - the client's name
        return self.rows if min == "-" else []

    def xrevrange(self, _stream: str, **_: Any) -> Any:
        return self.rows[-1:]

    def hget(self, name: str, key: str) -> str | None:
        return {RUN.feed: {"fast_rows": "2", "paced_rows": "2", "rate_per_s": "10"}}.get(name, {}).get(key)


def collect(redis: Redis, out: Path, report: Any = lambda _: None) -> Any:
    return Collector(redis, RUN, 0.01, report).collect(out)  # type: ignore[arg-type]  # a double


@pytest.mark.parametrize("ended", [True, False])
def test_a_run_without_its_end_leaves_all_files_and_a_fault(tmp_path: Path, *, ended: bool) -> None:
    """What the filter counted is not known; rows are those in Redis, whether their end is there or not."""
    summary = collect(Redis(1, 2, 4, ended=ended), tmp_path)
    assert (summary.rows, summary.passed, summary.rejected) == (4, None, None)
    assert (summary.results, summary.fast_rows, summary.rate_per_s) == (3, 2, 10.0)
    (fault,) = summary.faults
    assert fault.startswith("no final entry: nothing new for 0.01 s after 3 results")
    document = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (document["passed"], document["faults"]) == (None, [fault])
    numbers = [line.split(",")[0] for line in (tmp_path / "results.csv").read_text().splitlines()[1:]]
    assert numbers == ["1", "2", "4"]
    assert len((tmp_path / "states.jsonl").read_text().splitlines()) == 3
    assert (tmp_path / "trails.csv").exists()
    assert (tmp_path / "tops.csv").exists()


def test_a_row_that_comes_again_for_ever_is_no_progress(tmp_path: Path) -> None:
    """A row that Storm never acknowledges has a result each time that it is sent again."""
    told: list[CollectProgress] = []
    summary = collect(Redis(1, 2, repeated=2), tmp_path, told.append)
    assert summary.results == 2
    assert summary.repeated >= 1
    assert [progress.results for progress in told] == [1, 2]


def test_a_run_without_any_result_has_nothing_to_collect(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match=r"run r1: no result for 0\.01 s and no final entry"):
        collect(Redis(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_command_tells_of_the_missing_end_with_status_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("redis.Redis", lambda **_: Redis(1, 2))
    arguments = ["--redis", "redis:6379", "--run", RUN.id, "--out", str(tmp_path), "--timeout", "1"]
    monkeypatch.setattr(sys, "argv", ["stormplace", "taxi", "collect", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert "run r1 is not complete: no final entry: nothing new for 1 s" in capsys.readouterr().err
    assert (tmp_path / "results.csv").exists()
