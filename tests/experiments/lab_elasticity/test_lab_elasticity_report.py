"""The report of the experiment, from kept files."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from cli.commands import app
from experiments.folder_content import finished_turns
from experiments.lab_elasticity.report.lab_elasticity_goals import targets
from experiments.lab_elasticity.report.turns import read_turns, verify
from tests.experiments.lab_elasticity.made import Made, lease, write_turn

if TYPE_CHECKING:
    from pathlib import Path


def test_the_report_is_written_anew(tmp_path: Path) -> None:
    write_turn(tmp_path, "sized", Made(leases=(lease(1, 60.0, 180.0),), changed_s=(50.0,)))
    write_turn(tmp_path, "static", Made(done={"fixed_hosts": 5}))
    result = CliRunner().invoke(app, ["experiment", "report", str(tmp_path)])
    assert result.exit_code == 0, result.output
    report = tmp_path / "report"
    text = (report / "report.md").read_text(encoding="utf-8")
    assert "| static-1 | 240 | 0.00 % |" in text
    assert "| sized-1 | 50 | 0.0 | 1.2 |" in text
    assert "Kills" not in text
    assert (report / "sized-1.png").stat().st_size > 0
    content = json.loads((report / "report.json").read_text(encoding="utf-8"))
    assert [each["done"]["policy"] for each in content["turns"]] == ["static", "sized"]
    assert content["turns"][1]["outcome"]["reconfigurations"] == 1


def test_what_the_advice_would_have_saved_is_said(tmp_path: Path) -> None:
    advice = {
        "since_s": 1_794_999_990.0,
        "real_host_s": 1250.0 * 3.6,
        "host_s": 800.0 * 3.6,
        "real_cost": 15.0,
        "cost": 9.0,
        "changes": 3,
        "late_share": 0.0125,
    }
    write_turn(tmp_path, "static", Made(advice=advice, done={"fixed_hosts": 5}))
    write_turn(tmp_path, "sized", Made())
    assert CliRunner().invoke(app, ["experiment", "report", str(tmp_path)]).exit_code == 0
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "| static-1 | `sized` | 0.80 | 1.25 | 9 | 15 | 3 | 1.25 % |" in text
    assert "| sized-1 | `sized`" not in text
    content = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert [each["advice"] and each["advice"]["changes"] for each in content["turns"]] == [3, None]


def test_every_goal_is_judged(tmp_path: Path) -> None:
    write_turn(tmp_path, "sized", Made(leases=(lease(1, 0.0),)))
    assert [each.reached for each in targets(read_turns(tmp_path))] == [
        True,
        None,
        True,
        True,
        None,
        True,
        None,
    ]


def test_what_is_not_reached_says_where(tmp_path: Path) -> None:
    made = Made(
        response_s={10: None} | {20 + k: 11.0 for k in range(20)},
        leases=(lease(1, 0.0), lease(2, 0.0)),
        changed_s=(200.0,),
        expected_s=1.4,
        done={"kills_s": [1_795_000_100.0], "leaked": ["near-4"], "missing_tasks": {"parse": 2}},
    )
    write_turn(tmp_path, "sized", made)
    found = targets(read_turns(tmp_path))
    assert [each.reached for each in found] == [False, None, *[False] * 5]
    assert found[0].measured == "1 in sized-1"
    assert found[4].measured == "0 of 1"
    assert found[5].measured == "sized-1: near-4, parse"


def test_goals_of_what_was_not_run_are_not_judged(tmp_path: Path) -> None:
    write_turn(tmp_path, "btu", Made())
    assert [each.reached for each in targets(read_turns(tmp_path))][1:4] == [None] * 3


def test_lost_items_are_a_difference_and_the_turn_is_kept_over_time(tmp_path: Path) -> None:
    turn = write_turn(tmp_path, "sized", Made(response_s={50: None}, twice=(60,)))
    said: list[str] = []
    assert not verify(tmp_path, finished_turns(tmp_path), said.append)
    assert said == ["sized-1: 1 items lost, 1 came twice"]
    verdict = json.loads((turn / "verdict.json").read_text(encoding="utf-8"))
    assert verdict == {"lost": 1, "twice": 1, "answers": False, "wrong": None}
    with (turn / "timeline.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24
    assert (rows[1]["from_s"], rows[1]["parse"], rows[1]["report"]) == ("10", "3", "4")
    assert json.loads((turn / "outcome.json").read_text(encoding="utf-8"))["outcome"]["lost"] == 1


def test_wrong_answers_are_a_goal_that_is_missed(tmp_path: Path) -> None:
    right = write_turn(tmp_path, "sized", Made())
    wrong = write_turn(tmp_path, "btu", Made())
    content = {"lost": 0, "twice": 0, "answers": True, "wrong": None}
    (right / "verdict.json").write_text(json.dumps(content), encoding="utf-8")
    found = targets(read_turns(tmp_path))[1]
    assert (found.reached, found.measured) == (True, "in 1 turn")
    (wrong / "verdict.json").write_text(json.dumps(content | {"wrong": "row 7 differs"}), encoding="utf-8")
    found = targets(read_turns(tmp_path))[1]
    assert (found.reached, found.measured) == (False, "btu-1: row 7 differs")
