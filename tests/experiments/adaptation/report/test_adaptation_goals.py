"""Which targets of the adaptation experiment are met, and which ones are not known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from experiments.adaptation.report.adaptation_goals import targets
from experiments.adaptation.report.kept import ROUNDS, read_rounds, write_rounds
from tests.experiments.adaptation.report.adaptation_courses import CHANGES, EVENTS, phases, reached, scenario
from tests.experiments.adaptation.report.adaptation_runs import (
    CALM_MS,
    HOME,
    NEAR,
    NEXT,
    THIRD,
    Course,
    event,
    put,
    write_scenario,
)

if TYPE_CHECKING:
    from pathlib import Path

QUARTER = "no move in a quarter of an hour of delays within 20 %"
HOUR = "no move in an hour without change"
RIGHT = {
    "noise": "all answers as expected under these delays",
    "stable": "all answers as expected in that hour",
}


def test_targets_are_judged_by_what_was_measured(tmp_path: Path) -> None:
    """20 rows were lost; noise and the stable hour have not been run."""
    write_scenario(tmp_path, "changes", CHANGES)
    assert list(reached(tmp_path, "changes").values()) == [*[True] * 7, False, *[None] * 4]
    assert set(reached(tmp_path).values()) == {None}


def test_a_query_that_is_disturbed_again_is_back_after_that(tmp_path: Path) -> None:
    """Well for half a minute after 12 s, and away again until the 95th second: the target is missed."""

    def course(at_s: float) -> float:
        return 400.0 if 60 <= at_s < 70 or 140 <= at_s < 152 else CALM_MS

    once = replace(CHANGES, events=EVENTS[:1], remotes={-100.0: NEAR, 100.0: NEXT}, response_ms=course)
    write_scenario(tmp_path, "changes", once)
    found = targets({"changes": scenario(tmp_path, "changes")}, phases(tmp_path))
    (target,) = [one for one in found if one.text.startswith("a delay in use changes: response")]
    assert target.reached is False
    assert "for half a minute already after" in target.measured


@pytest.mark.parametrize("late", [1, 2])
def test_one_late_recovery_of_several_misses_the_target(tmp_path: Path, late: int) -> None:
    """A delay changes twice; the query is away for 10 s after one change and for 95 s after the other."""
    away_s = {1: 10.0, 2: 10.0, late: 95.0}

    def course(at_s: float) -> float:
        return 400.0 if 60 <= at_s < 60 + away_s[1] or 260 <= at_s < 260 + away_s[2] else CALM_MS

    delays = (EVENTS[0], event("delay", 260.0, HOME, NEAR, delay_ms=22.0))
    twice = replace(CHANGES, duration_s=460.0, events=delays, remotes={-100.0: NEAR}, response_ms=course)
    write_scenario(tmp_path, "changes", twice)
    assert [(each.recovered_s or 0.0) > 90.0 for each in phases(tmp_path)] == [late == 1, late == 2]
    assert reached(tmp_path, "changes")["a delay in use changes: response time back within 90 s"] is False


def test_one_recovery_of_several_that_is_not_known_leaves_the_target_open(tmp_path: Path) -> None:
    write_scenario(tmp_path, "changes", CHANGES)
    changes, (delay, *_) = scenario(tmp_path, "changes"), phases(tmp_path)
    doubtful = replace(delay, recovered_s=None, first_back_s=None, known=False)
    for found in ((delay, doubtful), (doubtful, delay)):
        assert targets({"changes": changes}, found)[0].reached is None


@pytest.mark.parametrize("still", [1, 2])
def test_one_change_without_a_move_of_several_misses_the_target(tmp_path: Path, still: int) -> None:
    """A delay changes twice, and the query moves after one of the changes only."""
    delays = (EVENTS[0], event("delay", 160.0, HOME, NEXT, delay_ms=66.0))
    moves = {-100.0: NEAR, (200.0 if still == 1 else 100.0): NEXT}
    write_scenario(tmp_path, "changes", replace(CHANGES, events=delays, remotes=moves))
    assert [len(each.moves) for each in phases(tmp_path)] == [still == 2, still == 1]
    assert reached(tmp_path, "changes")["a delay in use changes: the query moves once"] is False


def test_two_moves_are_not_one(tmp_path: Path) -> None:
    twice = {-100.0: NEAR, 100.0: NEXT, 130.0: THIRD}
    write_scenario(tmp_path, "changes", replace(CHANGES, remotes=twice))
    assert reached(tmp_path, "changes")["a delay in use changes: the query moves once"] is False


@pytest.mark.parametrize(
    ("remotes", "reaches"),
    [
        ({-100.0: NEAR, 100.0: NEXT, 190.0: THIRD}, True),
        ({-100.0: NEAR, 100.0: NEXT, 190.0: THIRD, 290.0: NEXT}, True),
        ({-100.0: NEAR, 100.0: NEXT, 190.0: THIRD, 280.0: NEXT, 310.0: THIRD}, False),
    ],
)
def test_after_a_sites_return_the_query_may_move_once(tmp_path: Path, remotes: Any, reaches: bool) -> None:
    write_scenario(tmp_path, "changes", replace(CHANGES, remotes=remotes))
    assert reached(tmp_path, "changes")["the site is back: the query moves at most once"] is reaches


def test_noise_and_the_stable_hour_are_judged_by_moves_while_paced_rows_come(tmp_path: Path) -> None:
    """A move in the fast rows' time is listed, but is none of them."""
    early = {-100.0: NEAR, -20.0: NEXT}
    write_scenario(tmp_path, "noise", Course(duration_s=900.0, rate=0.5, remotes=early))
    write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1, remotes=early))
    found = reached(tmp_path, "noise", "stable")
    assert (found[QUARTER], found[HOUR]) == (True, True)
    assert len(scenario(tmp_path, "noise").moves) == 1


@pytest.mark.parametrize(("since_s", "judged"), [(300.0, False), (None, None)])
def test_a_move_spoils_the_hour_and_a_short_one_shows_nothing(
    tmp_path: Path, since_s: float | None, judged: bool | None
) -> None:
    remotes = {-100.0: NEAR} if since_s is None else {-100.0: NEAR, since_s: NEXT}
    write_scenario(tmp_path, "stable", Course(duration_s=1800.0, rate=0.1, remotes=remotes))
    assert reached(tmp_path, "stable")[HOUR] is judged


def test_where_rounds_are_missing_moves_are_not_known(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    rounds = read_rounds(folder / ROUNDS)
    write_rounds(folder / ROUNDS, rounds[:100] + rounds[107:])
    assert reached(tmp_path, "stable")[HOUR] is None
    (doubt,) = scenario(tmp_path, "stable").doubts
    assert doubt.startswith("80 s without a round")


def test_where_executors_ran_elsewhere_moves_are_not_known(tmp_path: Path) -> None:
    """A move that no round knows: Storm's fallback placed the query, say."""
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    placement = json.loads((folder / "placement.json").read_text())
    placement["executors"][3]["host"] = f"{THIRD}-4"
    put(folder / "placement.json", placement)
    assert reached(tmp_path, "stable")[HOUR] is None
    assert f"filterByCoordinates on {THIRD}-4" in scenario(tmp_path, "stable").doubts[0]


def test_where_executors_have_hosts_that_no_plan_gave_them_moves_are_not_known(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    rounds = list(read_rounds(folder / ROUNDS))
    rounds[50] = rounds[50].model_copy(update={"executors_moved": 2})
    write_rounds(folder / ROUNDS, rounds)
    assert reached(tmp_path, "stable")[HOUR] is None
    assert (
        scenario(tmp_path, "stable").doubts[0].startswith("rounds in which executors had hosts that no plan")
    )


@pytest.mark.parametrize(
    ("row", "words"), [(1040, "as expected up to the first move"), (600, "results.csv, row 600")]
)
def test_answers_are_compared_up_to_the_first_move(tmp_path: Path, row: int, words: str) -> None:
    """The query's window begins anew with a move, at 100 s here: row 1,050 or so."""
    folder = write_scenario(tmp_path, "changes", replace(CHANGES, response_ms=lambda _: CALM_MS))
    assert scenario(tmp_path, "changes").answers.sentence == "not compared with the expected ones"
    row += 20 if row > 1000 else 0
    difference = {"row": row, "sentence": f"results.csv, row {row}: it differs"}
    put(folder / "verdict.json", {"equal": False, "differences": [difference]})
    assert scenario(tmp_path, "changes").answers.sentence.startswith(words)


@pytest.mark.parametrize("name", ["noise", "stable"])
def test_where_nothing_moves_all_answers_must_be_as_expected(tmp_path: Path, name: str) -> None:
    """Not compared is not right; the target of a scenario is its own."""
    other = next(each for each in ("noise", "stable") if each != name)
    courses = {"noise": Course(duration_s=900.0, rate=0.5), "stable": Course(duration_s=3600.0, rate=0.1)}
    folders = [write_scenario(tmp_path, each, courses[each]) for each in (name, other)]

    def judged() -> list[bool | None]:
        found = reached(tmp_path, "noise", "stable")
        return [found[RIGHT[each]] for each in (name, other)]

    assert judged() == [None, None]
    put(folders[0] / "verdict.json", {"equal": True, "differences": []})
    assert judged() == [True, None]
    difference = {"row": 60, "sentence": "states.jsonl:7, row 60: another one"}
    put(folders[0] / "verdict.json", {"equal": False, "differences": [difference]})
    put(folders[1] / "verdict.json", {"equal": True, "differences": []})
    assert judged() == [False, True]


@pytest.mark.parametrize("name", ["noise", "stable"])
def test_right_answers_of_a_short_scenario_show_nothing_and_wrong_ones_do(tmp_path: Path, name: Any) -> None:
    folder = write_scenario(tmp_path, name, Course(duration_s=180.0, rate=1.0))
    put(folder / "verdict.json", {"equal": True, "differences": []})
    (found,) = (each for each in targets({name: scenario(tmp_path, name)}, ()) if each.text == RIGHT[name])
    assert (found.reached, found.measured) == (None, "as expected in 3.0 min")
    difference = {"row": 60, "sentence": "states.jsonl:7, row 60: another one"}
    put(folder / "verdict.json", {"equal": False, "differences": [difference]})
    assert reached(tmp_path, name)[RIGHT[name]] is False
