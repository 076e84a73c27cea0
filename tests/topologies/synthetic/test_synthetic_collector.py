"""What the sinks wrote becomes files, all of them or none; what is missing is reported."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from topologies.collecting import CollectError
from topologies.synthetic.arrivals import ArrivalWriter
from topologies.synthetic.configuration import SyntheticRun
from topologies.synthetic.synthetic_collector import collect_run
from topologies.synthetic.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RUN = SyntheticRun("r")


class Stored:
    """As much of a Redis client as collecting needs: entries that are there already."""

    def __init__(self, entries: list[dict[str, str]]) -> None:
        self._entries = [(f"{number}-0", fields) for number, fields in enumerate(entries, start=1)]

    def xread(self, streams: dict[str, str], count: int, block: int) -> list[Any]:
        assert block > 0
        ((key, after),) = streams.items()
        assert key == "synthetic:r:arrivals"
        begin = int(after.partition("-")[0])
        page = self._entries[begin : begin + min(count, 7)]
        return [(key, page)] if page else []


def collected(entries: list[dict[str, str]], out: Path) -> Any:
    stored: Any = Stored(entries)
    return collect_run(stored, RUN, out, timeout_s=0.0, report=lambda _count: None)


@pytest.fixture
def diamond(cluster: Any, make_workload: Callable[..., Workload]) -> Any:
    """A diamond that has run, its second branch 100 ms away."""
    storm = cluster(make_workload(((0, 1), (0, 2), (1, 3), (2, 3)), tuples=40))
    storm.delay_ms[1] = 100.0
    storm.run()
    return storm


def table(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_run_becomes_four_files(diamond: Any, tmp_path: Path) -> None:
    """Every tuple, every path with the longest first, every stream with asked and measured values."""
    summary = collected(diamond.entries, tmp_path / "out")
    assert summary.faults == ()
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == [
        *("paths.csv", "streams.csv", "summary.json", "tuples.csv")
    ]
    tuples = table(tmp_path / "out" / "tuples.csv")
    assert len(tuples) == summary.tuples == 40
    paths = table(tmp_path / "out" / "paths.csv")
    assert [each["operators"] for each in paths] == [
        "operator 0 > operator 2 > operator 3",
        "operator 0 > operator 1 > operator 3",
    ]
    longest = [int(each["delay_us"]) for each in tuples if each["path"] == paths[0]["path"]]
    assert min(longest) >= 106_000
    streams = table(tmp_path / "out" / "streams.csv")
    assert [float(each["hop_p50_ms"]) for each in streams] == pytest.approx([0.0, 100.0, 0.0, 0.0])
    document = json.loads((tmp_path / "out" / "summary.json").read_text(encoding="utf-8"))
    assert document["response_time"]["delays"]["p50_ms"] == pytest.approx(106.0)
    assert Workload.from_conf(document["workload"]) == diamond.workload


def test_a_run_that_breaks_off_has_its_files_and_its_faults(diamond: Any, tmp_path: Path) -> None:
    """Without the end there is what came before, and the sink that has not ended is named."""
    entries = [entry for entry in diamond.entries if "end" not in entry][:-3]
    summary = collected(entries, tmp_path)
    assert summary.tuples == 37
    assert summary.faults == ("sink operator_3 has not ended",)
    assert (tmp_path / "summary.json").is_file()


def test_a_path_of_few_tuples_is_no_response_time(
    cluster: Any, make_workload: Callable[..., Workload], tmp_path: Path
) -> None:
    """Nine tuples say too little, ten are enough."""
    for tuples, known in ((9, False), (10, True)):
        storm = cluster(make_workload(((0, 1),), tuples=tuples))
        storm.run()
        summary = collected(storm.entries, tmp_path)
        assert (summary.longest is not None) == known
        assert summary.unjudged == int(not known)


def test_a_run_without_a_tuple_is_an_error_and_leaves_no_file(diamond: Any, tmp_path: Path) -> None:
    """Neither nothing at all nor the plan alone is a result."""
    for entries in ([], diamond.entries[:1]):
        with pytest.raises(CollectError, match="run r: no measured tuple for 0 s"):
            collected(entries, tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_a_run_of_two_submissions_is_refused(
    diamond: Any, cluster: Any, make_workload: Callable[..., Workload], tmp_path: Path
) -> None:
    """Their tuples look alike."""
    other = cluster(make_workload(((0, 1),), tuples=10))
    other.run()
    entries = [diamond.entries[0], *other.entries]
    with pytest.raises(CollectError, match="used for two different submissions"):
        collected(entries, tmp_path)


def test_an_entry_that_is_broken_is_named(diamond: Any, tmp_path: Path) -> None:
    """Nothing is left out in silence."""
    entries = [*diamond.entries[:2], {"sink": "operator_3", "n": "3", "trail": "17"}]
    with pytest.raises(CollectError, match=r"run r: entry 3-0: '17' is no trail"):
        collected(entries, tmp_path)


def test_entries_reach_a_real_redis_and_are_lost_loudly(redis_server: Any) -> None:
    """What Redis took is there; what it cannot have taken is counted and reported."""
    reports: list[str] = []
    writer = ArrivalWriter(redis_server.address, RUN.arrivals, reports.append)
    assert writer.write({"plan": "p"})
    writer.write({"sink": "s", "n": 1, "trail": "t"}, tuples=1)
    assert writer.flush(10.0)
    with redis_server.client() as client:
        assert [fields for _, fields in client.xrange(RUN.arrivals)] == [
            {"plan": "p"},
            {"sink": "s", "n": "1", "trail": "t"},
        ]
        client.delete(RUN.arrivals)
        client.set(RUN.arrivals, "no stream")
    writer.write({"sink": "s", "n": 2, "trail": "t"}, tuples=1)
    assert not writer.flush(10.0)
    assert writer.lost == 1
    assert "Redis refused 1 entries, 1 of tuples" in reports[-1]
    redis_server.stop()
    while writer.lost == 1:
        writer.write({"sink": "s", "n": 3, "trail": "t"}, tuples=1)
        writer.check()
    assert "may be missing there" in reports[-1]
