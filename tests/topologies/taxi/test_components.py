"""Components: what is lost is told in the totals, and Redis' absence is no silence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from topologies.taxi.keys import REDIS_KEY, RUN_KEY, TaxiSettings
from topologies.taxi.progress import LostNumbers, StaleSequenceError
from topologies.taxi.totals import Totals

if TYPE_CHECKING:
    from collections.abc import Callable

POINTS = "-73.956528 40.716976 -73.96244 40.715008"


def row(n: int, *, reason: str = "", dropoff_s: int = 60, points: str = POINTS) -> list[Any]:
    return [n, "1", reason, "2013-01-01 00:00:00", "2013-01-01 00:01:00", dropoff_s, points, ""]


def end(n: int) -> list[Any]:
    return [n, "1", "", "", "", 0, "", Totals(rows=n - 1).encode()]


def test_the_filter_counts_rejects_by_reason_and_names_lost_rows(stage: Callable[..., Any]) -> None:
    """Only rows that pass get a number; the marker carries counts and gaps on both ways."""
    each = stage("filterByCoordinates")
    zero, far = "0.0 0.0 -73.96 40.71", "-73.95 40.71 -70.0 40.71"
    for values in (
        row(1, reason="columns"),
        row(2),
        row(4, points=zero),
        row(5, points=far),
        row(6, dropoff_s=59),
    ):
        each.process("parser", values)
    (name, passed), (other, progress) = each.process("parser", row(7))
    assert (name, passed[:2], other, progress) == ("default", [2, 7], "progress", [2, 7, 60, ""])
    (_, marker), (_, progress_marker) = each.process("parser", end(8))
    assert marker[0] == progress_marker[0] == 3
    totals = Totals.decode(marker[-1])
    assert totals == Totals(
        rows=7,
        passed=2,
        rejected={"columns": 1, "zero_coordinates": 1, "outside_grid": 1, "time_goes_back": 1},
        lost={"filterByCoordinates": LostNumbers(1, ((3, 3),))},
    )


def counted(p: int, marker: str = "") -> list[Any]:
    return [p, p, "1", "a", "b", "" if marker else "1.1-2.2", marker]


def test_counting_gives_up_a_lost_row_after_two_ticks_and_says_so(stage: Callable[..., Any]) -> None:
    """The run goes on without the row, Storm sees an error, and the marker names it."""
    each = stage("countByWindow")
    marker = Totals(rows=3, passed=3).encode()
    for p in (1, 3):
        each.process("computeRouteID", counted(p))
    each.process("computeRouteID", counted(4, marker))
    emitted = [entry for p in (1, 2, 3) for entry in each.process("metronome", [p, p, 60, ""])]
    emitted += each.process("metronome", [4, 4, 60, marker])
    assert [values[0] for _, values in emitted] == [1]
    assert each.tick() == []
    after = [values for _, values in each.tick()]
    assert [values[0] for values in after] == [3, 4]
    assert Totals.decode(after[-1][-1]).lost == {"countByWindow": LostNumbers(1, ((2, 2),))}
    assert "((2, 2),)" in each.errors[0]


def test_counting_never_lets_its_clock_go_back(stage: Callable[..., Any]) -> None:
    """A metronome that was restarted may send an older time: rows are counted at the latest one."""
    each = stage("countByWindow")
    for p in (1, 2, 3):
        each.process("computeRouteID", counted(p))
    for p, now_s in ((1, 2_000), (2, 60), (3, 3_799)):
        ((_, values),) = each.process("metronome", [p, p, now_s, ""])
    assert values[6] == "1.1-2.2 3 3"


def test_counting_ends_a_run_also_after_a_restart_upstream(stage: Callable[..., Any]) -> None:
    """Numbers that come again are errors, but the marker passes and tells of them."""
    each = stage("countByWindow")
    for p in (1, 2, 3):
        each.process("computeRouteID", counted(p))
        each.process("metronome", [p, p, 60, ""])
    with pytest.raises(StaleSequenceError):
        each.process("computeRouteID", counted(1))
    ((_, values),) = each.process("computeRouteID", counted(2, Totals(rows=4, passed=1).encode()))
    assert Totals.decode(values[-1]).lost == {"countByWindow (repeated)": LostNumbers(2, ((1, 2),))}


def test_partial_rank_names_rows_that_never_came(stage: Callable[..., Any]) -> None:
    """A gap before it is told in the marker."""
    each = stage("partialRank")
    each.process("countByWindow", [1, 1, "1", "a", "b", 0, "1.1-2.2 1 1", ""])
    each.process("countByWindow", [3, 3, "1", "a", "b", 0, "", ""])
    ((_, values),) = each.process("countByWindow", [4, 4, "1", "", "", 0, "", Totals(rows=3).encode()])
    assert Totals.decode(values[-1]).lost == {"partialRank": LostNumbers(1, ((2, 2),))}


def conf(redis_server: Any) -> dict[str, Any]:
    return {REDIS_KEY: str(redis_server.address), RUN_KEY: "r1"}


def test_global_rank_writes_each_row_and_the_totals(stage: Callable[..., Any], redis_server: Any) -> None:
    """`top` only when the answer changed, `state` always, one final entry with what was lost."""
    each = stage("globalRank", conf(redis_server))
    tops = ["1.1-2.2 1 1", "1.1-2.2 2 2", "3.3-4.4 3 4;1.1-2.2 2 2"]
    for p, top in zip((1, 2, 4), tops, strict=True):
        each.process("partialRank", [p, p * 10, "5", "A", "B", 0, top, ""])
    totals = Totals(rows=41, passed=4, rejected={"columns": 37}).encode()
    each.process("partialRank", [5, 41, "1", "", "", 0, "", totals])
    each.component._writer.flush(20.0)
    entries = [fields for _, fields in redis_server.client().xrange("taxi:r1:results")]
    assert [(e.get("n"), e.get("emit_us"), "top" in e) for e in entries[:-1]] == [
        ("10", "5", True),
        ("20", "5", False),
        ("40", "5", True),
    ]
    assert json.loads(entries[2]["state"]) == [["3.3-4.4", 3], ["1.1-2.2", 2]]
    assert entries[2]["top"].startswith("A,B,3.3,4.4,1.1,2.2,NULL,")
    assert entries[-1] == {
        "end": "1",
        "rows": "41",
        "passed": "4",
        "rejected": "37",
        "reasons": '{"columns": 37}',
        "lost": '{"globalRank": {"count": 1, "ranges": [[3, 3]]}}',
        "began": "{}",
    }


def test_global_rank_tells_of_an_outage_once_and_names_results_in_doubt(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """Redis gone is an error of the component; the totals are written when it is back, with the gap."""
    each = stage("globalRank", conf(redis_server))
    redis_server.stop()
    for p in (1, 2, 3):
        each.process("partialRank", [p, p, "5", "A", "B", 0, "1.1-2.2 1 1", ""])
    each.process("partialRank", [4, 4, "1", "", "", 0, "", Totals(rows=3, passed=3).encode()])
    assert len(each.errors) == 1
    assert "results of rows p=1 and on may be lost" in each.errors[0]
    redis_server.start()
    client = redis_server.client()
    while not client.xlen("taxi:r1:results"):
        each.tick()
    ((_, final),) = client.xrange("taxi:r1:results")
    assert json.loads(final["lost"]) == {"results": {"count": 3, "ranges": [[1, 3]]}}


def test_the_source_emits_rows_and_the_end_and_tells_of_bad_entries(
    stage: Callable[..., Any], redis_server: Any
) -> None:
    """Each row keeps its number; the end becomes totals; an entry without number or line is an error."""
    client = redis_server.client()
    for fields in ({"n": 1, "line": "a"}, {"n": "x", "line": "b"}, {"n": 2}, {"n": 3, "end": 1}):
        client.xadd("taxi:r1:rows", fields)
    each = stage("dataSource", conf(redis_server))
    emitted: list[Any] = []
    while not emitted:
        emitted = each.next_tuple()
    (_, first), (_, last) = emitted
    assert (first[0], first[2:]) == (1, ["a", ""])
    assert (last[0], Totals.decode(last[3])) == (3, Totals(rows=2))
    assert len(each.errors) == 2


def test_the_source_never_waits(stage: Callable[..., Any], redis_server: Any) -> None:
    """With nothing to read, next_tuple returns at once and emits nothing."""
    each = stage("dataSource", conf(redis_server))
    assert each.next_tuple() == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({RUN_KEY: "r"}, "taxi.redis is None"),
        ({REDIS_KEY: "h:1"}, "taxi.run is None"),
        ({REDIS_KEY: "h", RUN_KEY: "r"}, "'h' is not HOST:PORT"),
        ({REDIS_KEY: "h:1", RUN_KEY: "a b"}, "run 'a b' must be"),
    ],
)
def test_bad_settings_name_the_key(settings: dict[str, str], message: str) -> None:
    """A component does not start with a wrong configuration."""
    with pytest.raises(ValueError, match=message):
        TaxiSettings.from_conf(settings)
