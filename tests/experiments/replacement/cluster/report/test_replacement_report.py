"""The report from made turns: targets, table, pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from experiments.replacement.cluster.report.finished_turn import read_turn
from experiments.replacement.cluster.report.pauses import pauses
from experiments.replacement.cluster.report.replacement_goals import targets
from experiments.replacement.cluster.report.replacement_report import build
from replay.errors import DataError
from tests.experiments.replacement.cluster.made import (
    AFTER,
    BEFORE,
    IN_CLOUD,
    event,
    planned,
    write_turn,
)

if TYPE_CHECKING:
    from pathlib import Path

JOINED_S, MOVED_S, PAUSE_S = 80.0, 100.0, 20.0


def until(moved_s: float, before_s: float, after_s: float, pause_s: float = PAUSE_S) -> Any:
    """Response times around a move: what is emitted in the pause comes at its end."""

    def response_s(at_s: float) -> float:
        if at_s < moved_s - before_s:
            return before_s
        return max(moved_s + pause_s - at_s, after_s)

    return response_s


def dynamic(folder: Path, **other: Any) -> Path:
    usual: dict[str, Any] = {
        "response_s": until(MOVED_S, 2.66, 1.30),
        "work_s": lambda at_s: 1.85 if at_s < MOVED_S else 1.267,
        "rounds": [
            planned(-30.0, BEFORE),
            planned(MOVED_S, AFTER, pause_s=18.0, pause_source="first starts at fog"),
        ],
        "last": AFTER,
        "events": [event("join", JOINED_S)],
        "measured_s": {MOVED_S: (12.0, 16.0)},
    }
    return write_turn(folder, "dynamic", **usual | other)


def static(folder: Path, **other: Any) -> Path:
    usual: dict[str, Any] = {"response_s": lambda _: 2.66, "rounds": [planned(-30.0, BEFORE)]}
    return write_turn(folder, "static", **usual | other)


def drain(folder: Path, **other: Any) -> Path:
    home = ("cloud-1", "cloud-1", "fog-2", "fog-2", "fog-2", "cloud-1", "cloud-1")
    usual: dict[str, Any] = {
        "response_s": lambda _: 1.9,
        "rounds": [
            planned(-30.0, home),
            planned(25.0, IN_CLOUD, pause_s=2.0),
            planned(130.0, home, pause_s=2.0),
        ],
        "first": home,
        "last": home,
        "events": [event("drain", 20.0, 31.0), event("undrain", 110.0)],
    }
    return write_turn(folder, "drain", **usual | other)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "experiment.json").write_text('{"experiment": "replacement"}', encoding="utf-8")
    return tmp_path


def reached(folder: Path) -> list[bool | None]:
    read = [read_turn(turn) for turn in (folder / "turns").iterdir()]
    return [each.reached for each in targets({turn.done.variant: [turn] for turn in read})]


def test_a_run_in_which_all_is_as_it_should_be_reaches_all_targets(folder: Path) -> None:
    for write in (dynamic, static, drain):
        write(folder)
    build(folder)
    found = json.loads((folder / "report" / "report.json").read_text(encoding="utf-8"))
    assert [each["reached"] for each in found["targets"]] == [True] * 7
    text = (folder / "report" / "report.md").read_text(encoding="utf-8")
    assert "| response time at the end, s | 2.66 | 1.30 |" in text
    assert "1.30 s, Static 2.66 s: 51.1% below" in text
    assert "31 s" in text
    assert "1 of 1 within; errors -16% (of what the daemon measured -25%)" in text
    assert "| 18 | first starts at fog | 12 | 16 | 21 |" in text
    for picture in ("timelines.png", "timeline-drain.png"):
        assert (folder / "report" / picture).stat().st_size > 10_000


DROP, MOVES, LOST, SILENT, EMPTY, PLANNED, BACK = range(7)


@pytest.mark.parametrize(
    ("write", "other", "missed"),
    [
        (dynamic, {"response_s": until(MOVED_S, 2.66, 1.9)}, DROP),
        (dynamic, {"events": [event("join", MOVED_S + 1.0)]}, MOVES),
        (dynamic, {"rounds": [planned(-30.0, BEFORE)], "last": BEFORE}, MOVES),
        (static, {"rounds": [planned(-30.0, BEFORE), planned(50.0, AFTER)], "last": AFTER}, MOVES),
        (static, {"response_s": lambda at_s: None if at_s == 50.0 else 2.66}, LOST),
        (dynamic, {"rounds": [planned(-30.0, BEFORE), planned(MOVED_S, AFTER, pause_s=10.0)]}, SILENT),
        (drain, {"events": [event("drain", 20.0, 181.0), event("undrain", 110.0)]}, EMPTY),
        (drain, {"events": [event("drain", 20.0, 9.0, "it is not known"), event("undrain", 110.0)]}, EMPTY),
        (drain, {"response_s": lambda _: 2.3}, PLANNED),
        (drain, {"rounds": [planned(-30.0, IN_CLOUD)], "last": IN_CLOUD}, BACK),
    ],
)
def test_each_target_is_missed_where_its_own_figure_is_not_right(
    folder: Path, write: Any, other: dict[str, Any], missed: int
) -> None:
    for each in (dynamic, static, drain):
        each(folder, **(other if each is write else {}))
    assert reached(folder)[missed] is False


def test_what_no_finished_turn_shows_is_not_measured(folder: Path) -> None:
    static(folder)
    assert reached(folder) == [None, None, True, None, None, None, None]


def test_a_tuple_counts_from_its_first_time_to_its_first_arrival(folder: Path) -> None:
    """What came again is counted beside it."""
    turn = read_turn(static(folder, again={7: 2, 8: 1}))
    assert turn.response_mean_s == pytest.approx(2.66)
    assert (turn.tuples.lost, turn.tuples.repeated, turn.tuples.replayed) == (0, 3, 3)


def test_the_pause_of_a_move_is_the_longest_time_without_a_result_after_it(folder: Path) -> None:
    """Here from the last result before the move to the end of the pause."""
    (pause,) = pauses(read_turn(dynamic(folder)))
    assert pause.silent_s == pytest.approx(PAUSE_S + 1.34, abs=2.0)
    assert (pause.predicted_s, pause.ran_s, pause.worked_s, pause.at_s) == (18.0, 12.0, 16.0, MOVED_S)


def test_the_pause_of_the_next_move_is_not_that_of_the_one_before(folder: Path) -> None:
    later_s = MOVED_S + 60.0

    def response_s(at_s: float) -> float:
        first, second = until(MOVED_S, 2.66, 1.30, 10.0), until(later_s, 1.30, 1.30, 30.0)
        return first(at_s) if at_s < later_s - 2.0 else second(at_s)

    rounds = [planned(-30.0, BEFORE), planned(MOVED_S, AFTER), planned(later_s, BEFORE)]
    one, other = pauses(read_turn(dynamic(folder, response_s=response_s, rounds=rounds, last=BEFORE)))
    assert (one.silent_s, other.silent_s) == (pytest.approx(11.34, abs=2.0), pytest.approx(30.7, abs=2.0))


def test_a_prediction_is_judged_by_results_whatever_the_daemon_measured(folder: Path) -> None:
    """Or whether it did; in logs of before that is until workers ran."""
    for measured_s, ran_s in (({}, None), ({MOVED_S: (90.0, 95.0)}, 90.0), ({MOVED_S: (12.0, None)}, 12.0)):
        turn = read_turn(dynamic(folder / str(ran_s), measured_s=measured_s))
        (pause,) = pauses(turn)
        assert pause.ran_s == ran_s
        assert (pause.worked_s is None) == (ran_s != 90.0)
        assert targets({"dynamic": [turn]})[SILENT].reached is True


def test_a_move_of_which_no_pause_was_predicted_is_no_prediction_that_holds(folder: Path) -> None:
    """Nor one that fails if there is no other."""
    rounds = [planned(-30.0, BEFORE), planned(MOVED_S, AFTER)]
    dynamic(folder, rounds=rounds)
    assert reached(folder)[SILENT] is None


def test_costs_are_those_of_hosts_in_use_and_weighed_by_time(folder: Path) -> None:
    """66.5 CU/s for half of the time, then 33; every executor pays its host in the other reading."""
    turn = read_turn(dynamic(folder))
    share = MOVED_S / (turn.end_s - turn.start_s)
    assert turn.mean_cost(per_host=True) == pytest.approx(66.5 * share + 33.0 * (1.0 - share))
    assert turn.cost_of(turn.stays[-1].hosts, per_host=False) == pytest.approx(3 * 30.5 + 4 * 2.5)


def test_the_model_knows_delays_and_speed_ups(folder: Path) -> None:
    """1.85 s and twice 400 ms before the move; 100 ms, 1.75 s at one and a half speeds, 20 ms after it."""
    turn = read_turn(dynamic(folder))
    assert [turn.model_s(each.hosts) for each in turn.stays] == pytest.approx([2.65, 0.1 + 1.75 / 1.5 + 0.02])


def test_executors_that_ran_elsewhere_than_planned_are_named(folder: Path) -> None:
    turn = read_turn(dynamic(folder, last=BEFORE))
    assert "o2 ran on cloud-1 at the end, by the planner on fog-2" in turn.doubts


def test_a_file_that_is_missing_is_named(folder: Path) -> None:
    turn = static(folder)
    (turn / "tuples.csv").unlink()
    with pytest.raises(DataError, match=r"no files of `synthetic collect`.*tuples\.csv"):
        read_turn(turn)
