"""The adaptation experiment's report: scenarios of a known course come out as phases, moves and targets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import matplotlib.image
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from replay.adaptation.goals import targets
from replay.adaptation.kept import ROUNDS, read_rounds, write_rounds
from replay.adaptation.minutes import find_minutes
from replay.adaptation.phases import find_phases
from replay.adaptation.report import build
from replay.adaptation.scenario import ScenarioData, read_scenario
from replay.errors import DataError
from replay.sites import read_sites
from tests.replay.adaptation_runs import (
    CALM_MS,
    HOME,
    NEAR,
    NEXT,
    SITE_FILE,
    START_S,
    THIRD,
    Course,
    event,
    put,
    write_scenario,
)

if TYPE_CHECKING:
    from pathlib import Path

    from replay.adaptation.phases import Phase

SITES = read_sites(SITE_FILE)
EVENTS = (
    event("delay", 60.0, HOME, NEAR, delay_ms=66.0),
    event("isolate", 160.0, NEXT),
    event("rejoin", 260.0, NEXT),
)


def response_ms(at_s: float) -> float | None:
    """Triples at 60 s until a move at 100 s, which takes 8 s; a lost site at 160 s costs 45 s of silence."""
    if 60 <= at_s < 100:
        return 144.0
    if 100 <= at_s < 108:
        return 60.0 + (108 - at_s) * 1000
    if 160 <= at_s < 162:
        return None
    if 162 <= at_s < 205:
        return 70.0 + (205 - at_s) * 1000
    return 68.0 if at_s >= 108 else CALM_MS


def seen(pair: frozenset[str], at_s: float) -> float | None:
    """A third of the change is known at 70 s, all of it at 80 s; the lost site is gone from 180 s on."""
    if pair == {HOME, NEAR} and at_s >= 70:
        return 22.0 + (44.0 if at_s >= 80 else 14.0)
    return -1.0 if NEXT in pair and 180 <= at_s < 290 else None


CHANGES = Course(
    duration_s=340.0,
    response_ms=response_ms,
    events=EVENTS,
    remotes={-100.0: NEAR, 100.0: NEXT, 190.0: THIRD},
    gains={100.0: 0.34},
    seen=seen,
)


def scenario(out: Path, name: str) -> ScenarioData:
    return read_scenario(out / "turns" / name, SITES, out / "expected")


def phases(out: Path) -> tuple[Phase, ...]:
    return find_phases(scenario(out, "changes"), SITES)


def reached(out: Path, *names: Any) -> dict[str, bool | None]:
    scenarios = {name: scenario(out, name) for name in names}
    found = targets(scenarios, phases(out) if "changes" in names else ())
    return {target.text: target.reached for target in found}


def test_phases_tell_what_was_put_in(tmp_path: Path) -> None:
    write_scenario(tmp_path, "changes", CHANGES)
    delay, isolate, rejoin = phases(tmp_path)
    assert [each.before_ms for each in (delay, isolate, rejoin)] == [CALM_MS, 68.0, 68.0]
    assert (delay.settled_ms, delay.seen_s, delay.moved_s) == (68.0, 20.0, 40.0)
    assert delay.recovered_s == pytest.approx(50.5, abs=0.3)
    assert delay.during_ms == 144.0
    assert delay.longest_ms == pytest.approx(8_060.0)
    assert [(m.reason, m.executors, m.plan_ms) for m in delay.moves] == [("gain", 3, 150.0)]
    assert (isolate.seen_s, isolate.moved_s, isolate.settled_ms) == (20.0, 30.0, 68.0)
    assert isolate.recovered_s == pytest.approx(47.5, abs=0.3)
    assert [m.reason for m in isolate.moves] == ["lost executors"]
    assert isolate.silence_s == pytest.approx(45.0, abs=0.2)
    assert (delay.lost, isolate.lost, rejoin.lost) == (0, 20, 0)
    assert (rejoin.recovered_s, rejoin.seen_s, rejoin.during_ms, rejoin.moves) == (0.0, 30.0, None, ())


def test_targets_are_judged_by_what_was_measured(tmp_path: Path) -> None:
    """20 rows were lost; noise and the stable hour have not been run."""
    write_scenario(tmp_path, "changes", CHANGES)
    assert list(reached(tmp_path, "changes").values()) == [*[True] * 6, False, None, None]
    assert set(reached(tmp_path).values()) == {None}


def test_a_late_recovery_and_a_slow_plan_miss_the_target(tmp_path: Path) -> None:
    def late(at_s: float) -> float:
        return 400.0 if 60 <= at_s < 148 else CALM_MS

    write_scenario(tmp_path, "changes", replace(CHANGES, events=EVENTS[:1], response_ms=late, plan_ms=1001.0))
    (delay,) = phases(tmp_path)
    assert delay.recovered_s == pytest.approx(90.5, abs=0.3)
    found = reached(tmp_path, "changes")
    assert found["a delay in use changes: response time back within 90 s"] is False
    assert found["planning of each move under 1 s"] is False


def test_a_query_that_gets_slower_and_stays_is_not_back(tmp_path: Path) -> None:
    """It settles at once, at the response time that the change has brought."""

    def stays(at_s: float) -> float:
        return 144.0 if at_s >= 60 else CALM_MS

    course = replace(CHANGES, events=EVENTS[:1], response_ms=stays, remotes={-100.0: NEAR})
    write_scenario(tmp_path, "changes", course)
    (delay,) = phases(tmp_path)
    assert (delay.recovered_s, delay.settled_ms, delay.moves) == (None, 144.0, ())
    assert reached(tmp_path, "changes")["a delay in use changes: response time back within 90 s"] is False
    assert reached(tmp_path, "changes")["a delay in use changes: the query moves once"] is False


def test_two_moves_are_not_one(tmp_path: Path) -> None:
    twice = {-100.0: NEAR, 100.0: NEXT, 130.0: THIRD}
    write_scenario(tmp_path, "changes", replace(CHANGES, remotes=twice))
    assert reached(tmp_path, "changes")["a delay in use changes: the query moves once"] is False


def test_half_of_a_change_must_be_seen(tmp_path: Path) -> None:
    """A third of it is too little; other pairs do not count."""

    def third(pair: frozenset[str], _: float) -> float | None:
        return 22.0 + 15.0 if pair == {HOME, NEAR} else 300.0

    write_scenario(tmp_path, "changes", replace(CHANGES, seen=third))
    assert phases(tmp_path)[0].seen_s is None


def test_rows_without_result_are_counted_by_the_expected_answers(tmp_path: Path) -> None:
    """Without these by the query's own count, unless the component that counts was restarted."""
    folder = write_scenario(tmp_path / "with", "changes", CHANGES)
    rows = scenario(tmp_path / "with", "changes").rows
    assert (rows.lost, rows.wanted, rows.by_expected_answers) == (20, len(rows.numbers) + 49, True)
    assert rows.available_s[rows.response_ms == float("inf")] == pytest.approx(
        [START_S + 160 + n / 10 for n in range(20)], abs=0.011
    )
    folder = write_scenario(tmp_path / "without", "changes", CHANGES, expected=False)
    rows = scenario(tmp_path / "without", "changes").rows
    assert (rows.lost, rows.by_expected_answers) == (20, False)
    summary = json.loads((folder / "summary.json").read_text())
    put(folder / "summary.json", summary | {"began": {"filterByCoordinates": 1700}})
    rows = scenario(tmp_path / "without", "changes").rows
    assert (rows.lost, rows.wanted) == (None, None)
    assert reached(tmp_path / "without", "changes")["no row without result"] is None


def test_the_first_of_several_results_of_a_row_counts(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=120.0, rate=2.0))
    table = pd.read_csv(folder / "results.csv")
    again = table.tail(7).assign(result_ms=lambda each: each["result_ms"] + 15_000)
    pd.concat([again, table]).to_csv(folder / "results.csv", index=False)
    put(folder / "summary.json", json.loads((folder / "summary.json").read_text()) | {"repeated": 3})
    rows = scenario(tmp_path, "stable").rows
    assert rows.repeated == 10
    assert rows.response_ms.max() == CALM_MS


def test_noise_and_the_stable_hour_are_judged_by_moves_while_paced_rows_come(tmp_path: Path) -> None:
    """A move in the fast rows' time is told, but is none of them."""
    early = {-100.0: NEAR, -20.0: NEXT}
    write_scenario(tmp_path, "noise", Course(duration_s=900.0, rate=0.5, remotes=early))
    write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1, remotes=early))
    assert list(reached(tmp_path, "noise", "stable").values())[-2:] == [True, True]
    assert len(scenario(tmp_path, "noise").moves) == 1


@pytest.mark.parametrize(("since_s", "judged"), [(300.0, False), (None, None)])
def test_a_move_spoils_the_hour_and_a_short_one_tells_nothing(
    tmp_path: Path, since_s: float | None, judged: bool | None
) -> None:
    remotes = {-100.0: NEAR} if since_s is None else {-100.0: NEAR, since_s: NEXT}
    write_scenario(tmp_path, "stable", Course(duration_s=1800.0, rate=0.1, remotes=remotes))
    assert list(reached(tmp_path, "stable").values())[-1] is judged


def test_where_rounds_are_missing_moves_are_not_known(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    rounds = read_rounds(folder / ROUNDS)
    write_rounds(folder / ROUNDS, rounds[:100] + rounds[107:])
    assert list(reached(tmp_path, "stable").values())[-1] is None
    (doubt,) = scenario(tmp_path, "stable").doubts
    assert doubt.startswith("80 s without a round")


def test_where_executors_ran_elsewhere_moves_are_not_known(tmp_path: Path) -> None:
    """A move that no round knows: Storm's fallback placed the query, say."""
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    placement = json.loads((folder / "placement.json").read_text())
    placement["executors"][3]["host"] = f"{THIRD}-4"
    put(folder / "placement.json", placement)
    assert list(reached(tmp_path, "stable").values())[-1] is None
    assert f"filterByCoordinates on {THIRD}-4" in scenario(tmp_path, "stable").doubts[0]


def test_where_executors_have_hosts_that_no_plan_gave_them_moves_are_not_known(tmp_path: Path) -> None:
    folder = write_scenario(tmp_path, "stable", Course(duration_s=3600.0, rate=0.1))
    rounds = list(read_rounds(folder / ROUNDS))
    rounds[50] = rounds[50].model_copy(update={"executors_moved": 2})
    write_rounds(folder / ROUNDS, rounds)
    assert list(reached(tmp_path, "stable").values())[-1] is None
    assert (
        scenario(tmp_path, "stable").doubts[0].startswith("rounds in which executors had hosts that no plan")
    )


def test_minutes_count_rows_and_moves(tmp_path: Path) -> None:
    course = Course(
        duration_s=150.0,
        response_ms=lambda at_s: None if 70 <= at_s < 71 else 90.0 if at_s >= 60 else CALM_MS,
        remotes={-100.0: NEAR, 120.0: NEXT},
    )
    write_scenario(tmp_path, "noise", course)
    first, second, third = find_minutes(scenario(tmp_path, "noise"))
    assert (first.median_ms, second.p95_ms, third.moves) == (CALM_MS, 90.0, 1)
    assert (first.rows, second.lost, third.rows) == (588, 10, 294)


@pytest.mark.parametrize(
    ("row", "words"), [(1040, "as expected up to the first move"), (600, "results.csv, row 600")]
)
def test_answers_are_compared_up_to_the_first_move(tmp_path: Path, row: int, words: str) -> None:
    """The query's window begins anew with a move, at 100 s here: row 1,050 or so."""
    folder = write_scenario(tmp_path, "changes", replace(CHANGES, response_ms=lambda _: CALM_MS))
    assert scenario(tmp_path, "changes").answers == "not compared with the expected ones"
    row += 20 if row > 1000 else 0
    difference = {"row": row, "sentence": f"results.csv, row {row}: it differs"}
    put(folder / "verdict.json", {"equal": False, "differences": [difference]})
    assert scenario(tmp_path, "changes").answers.startswith(words)


def test_the_report_holds_all_finished_scenarios(tmp_path: Path) -> None:
    """From the kept files alone, and again with the same result; infinities are no JSON."""
    write_scenario(tmp_path, "changes", CHANGES)
    noise = [event("noise", 10.0 * n, HOME, NEAR, delay_ms=20.0 + n) for n in range(10)]
    write_scenario(tmp_path, "noise", Course(duration_s=100.0, rate=2.0, events=noise))
    (tmp_path / "turns" / "stable").mkdir()
    text = build(tmp_path).read_text(encoding="utf-8")
    out = tmp_path / "report"
    assert sorted(path.name for path in out.iterdir()) == [
        *("report.json", "report.md", "timeline-changes.png", "timeline-noise.png"),
    ]
    assert "| no move in an hour without change | the scenario has not been run | not measured |" in text
    assert "3 (lost executors)" in text
    assert "20 of 3,381 by the expected answers" in text

    def refuse(name: str) -> None:
        raise AssertionError(name)

    document = json.loads((out / "report.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert [len(each["phases"]) for each in document["scenarios"]] == [3, 0]
    picture = matplotlib.image.imread(out / "timeline-changes.png")
    assert picture.shape[0] > 900
    assert build(tmp_path).read_text(encoding="utf-8") == text


def test_the_command_knows_the_experiment_by_its_folder(tmp_path: Path) -> None:
    write_scenario(tmp_path, "stable", Course(duration_s=60.0, rate=2.0))
    done = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "report" / "timeline-stable.png").is_file()
    put(tmp_path / "experiment.json", {"experiment": "tea"})
    refused = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert isinstance(refused.exception, UserError)
    assert "experiment.json: experiment: 'tea' is not one of" in str(refused.exception)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda turn: (turn / "done.json").write_text("{}"), r"done\.json: scenario: Field required"),
        (lambda turn: change(turn / "done.json", ended_s=1.0), r"done\.json: ended_s: not after started_s"),
        (lambda turn: (turn / "results.csv").unlink(), r"results\.csv: no such file"),
        (lambda turn: (turn / "results.csv").write_text("n\n1\n"), r"results\.csv: line 1: column row_ms"),
        (lambda turn: cut(turn / "results.csv", 30), r"results\.csv: none of the paced rows 51 to 650"),
        (
            lambda turn: turned(turn / "results.csv"),
            r"results\.csv: line 4: the result is older than its row",
        ),
        (lambda turn: (turn / "summary.json").unlink(), r"summary\.json: no such file"),
        (lambda turn: change(turn / "summary.json", passed=-1), r"summary\.json: passed"),
        (lambda turn: (turn / "events.json").unlink(), r"events\.json: no such file"),
        (lambda turn: edit_event(turn, sites=["atlantis"]), r"events\.json: 0: atlantis is no site"),
        (
            lambda turn: edit_event(turn, time_s=9e9),
            r"events\.json: 1\.time_s: earlier than the event before",
        ),
        (
            lambda turn: (turn / "rounds.jsonl").write_text(""),
            r"rounds\.jsonl: no round gave the query slots",
        ),
        (lambda turn: (turn / "rounds.jsonl").write_text("{}\n"), r"rounds\.jsonl, line 1: time_s"),
        (lambda turn: backwards(turn / "rounds.jsonl"), r"rounds\.jsonl: rounds are out of order"),
        (lambda turn: (turn / "placement.json").unlink(), r"placement\.json: no such file"),
        (lambda turn: put(turn / "verdict.json", {}), r"verdict\.json: equal: Field required"),
        (
            lambda turn: (expected(turn) / "passed.parquet").write_text("x"),
            r"passed\.parquet: cannot be read",
        ),
        (lambda turn: (expected(turn) / "passed.parquet").unlink(), r"passed\.parquet: cannot be read"),
    ],
)
def test_kept_files_that_are_missing_or_malformed_are_named(tmp_path: Path, spoil: Any, message: str) -> None:
    turn = write_scenario(tmp_path, "changes", Course(duration_s=60.0, events=EVENTS[:2]))
    spoil(turn)
    with pytest.raises(DataError, match=message):
        build(tmp_path)


def expected(turn: Path) -> Path:
    return turn.parents[1] / "expected"


def change(path: Path, **values: Any) -> None:
    put(path, json.loads(path.read_text()) | values)


def edit_event(turn: Path, **values: Any) -> None:
    events = json.loads((turn / "events.json").read_text())
    events[0] |= values
    (turn / "events.json").write_text(json.dumps(events))


def cut(path: Path, lines: int) -> None:
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:lines]))


def turned(path: Path) -> None:
    table = pd.read_csv(path)
    table.loc[2, "result_ms"] = table.loc[2, "row_ms"] - 1
    table.to_csv(path, index=False)


def backwards(path: Path) -> None:
    write_rounds(path, read_rounds(path)[::-1])
