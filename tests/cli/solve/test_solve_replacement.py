"""What `solve` says of a re-placement: moves, prices, limits that are exceeded, budgets that fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks" / "instances" / "replacement"


def test_a_re_placement_names_its_moves_and_what_staying_is_worth(run: Any) -> None:
    """Two operators go from the cloud to a fog node; to stay is cheaper in moves, and breaks a budget."""
    answers = [
        json.loads(run(FOLDER / f"odr-{case}.json", "--strategy", "odr", "--json")[1])
        for case in ("2a", "2h", "2j")
    ]

    assert [each["migration_cost"] for each in answers] == pytest.approx([210, 0, 100])
    assert answers[0]["moves"] == [
        {"operator": "o2", "from": "cloud", "to": "fog2", "pull_s": 24, "cost": 60},
        {"operator": "o4", "from": "cloud", "to": "fog2", "pull_s": 60, "cost": 150},
    ]
    assert [each["loading_s"] for each in answers] == [{"fog2": 84}, {"fog2": 84}, {"fog2": 40}]
    stay = answers[0]["stay"]
    assert (stay["response_time_ms"], stay["cost"], stay["violations"]) == (pytest.approx(1800), 92, [])
    assert stay["objective"] == pytest.approx(1 - 0.590566, abs=1e-6)
    assert answers[1]["stay"] is None
    assert [(each["from"], each["cost"]) for each in answers[1]["moves"]] == [("cloud", 0), ("cloud", 0)]
    assert answers[2]["stay"]["violations"] == [
        "the budget of cost has 70 units, operators o1, o2, o3, o4 take 92"
    ]


def test_what_takes_longer_than_a_soft_limit_is_stated(run: Any, tmp_path: Path) -> None:
    """With its time and its limit; the excess stands beside that of staying."""
    given = json.loads((FOLDER / "odr-2a.json").read_text())
    given["application"]["operators"][3] |= {"actual_ms": 3000, "actual_speedup": 1, "duration_max_ms": 1200}
    given["objective"] = {"weights": {"response_time": 0.5, "duration_excess": 0.5}}
    soft = tmp_path / "soft.json"
    soft.write_text(json.dumps(given))
    answer = json.loads(run(soft, "--strategy", "odr", "--json")[1])

    assert answer["exceeded"] == [
        {"operator": "o4", "node": "fog2", "duration_ms": 1500, "duration_max_ms": 1200}
    ]
    assert (answer["duration_excess_ms"], answer["stay"]["duration_excess_ms"]) == (300, 1800)
    assert (
        "o4 takes 1500 ms per tuple on fog2, and its limit is 1200 ms\n" in run(soft, "--strategy", "odr")[1]
    )
    given["objective"]["duration_limit"] = "hard"
    soft.write_text(json.dumps(given))
    status, _, err = run(soft, "--strategy", "odr-search")
    assert (status, err) == (
        3,
        f"stormplace: {soft}: infeasible: operator o4 keeps to 1200 ms per tuple from a speed-up of 2.5 on, "
        "and the fastest node has 2\n",
    )


CONFLICTS = {
    # capacities of fog nodes and the cloud leave nothing below 51; without them it were 38
    "cost 45": ({"budget": {"cost": 45}}, "cost has 45 units, {every} takes 51 or more"),
    "no cost": ({"budget": {"cost": 0}}, "cost has 0 units, and every placement takes 38 or more"),
    # the cloud can hold one small operator only, so that o4 at least has to go
    "migration 10": (
        {"budget": {"migration": 10}, "vcpu": 1},
        "migration has 10 units, {every} takes 150 or more",
    ),
    "both": (
        {"budget": {"cost": 60, "migration": 62}},
        "cost has 60 units, and every placement within allowed nodes, capacities and the budget of migration "
        "takes 77 or more",
    ),
}


@pytest.mark.parametrize("strategy", ["odr", "odr-search", "greedy"])
@pytest.mark.parametrize("conflict", CONFLICTS)
def test_a_budget_that_contradicts_the_rest_is_named_with_what_is_needed(
    run: Any, tmp_path: Path, conflict: str, strategy: str
) -> None:
    """Capacities, another budget, or nothing else."""
    given = json.loads((FOLDER / "odr-2a.json").read_text())
    changes, why = CONFLICTS[conflict]
    given["budget"] = changes["budget"]
    given["network"]["nodes"][0]["capacity"]["vcpu"] = changes.get("vcpu", 6)
    file = tmp_path / "poor.json"
    file.write_text(json.dumps(given))
    status, _, err = run(file, "--strategy", strategy)
    every = "and every placement within allowed nodes and capacities"
    assert status == 3
    assert err == f"stormplace: {file}: infeasible: the budget of {why.format(every=every)}\n"


def test_a_budget_of_nothing_moves_nothing(run: Any, tmp_path: Path) -> None:
    """It is a budget, and staying meets it."""
    given = json.loads((FOLDER / "odr-2a.json").read_text())
    given["budget"] = {"migration": 0}
    file = tmp_path / "still.json"
    file.write_text(json.dumps(given))
    for strategy in ("odr", "odr-search"):
        assert json.loads(run(file, "--strategy", strategy, "--json")[1])["moves"] == []


def test_what_is_weighed_without_data_is_noted(run: Any, tmp_path: Path) -> None:
    """Moves of operators without a size, and a metric in which nothing differs."""
    given = json.loads((FOLDER / "odr-2a.json").read_text())
    file = tmp_path / "bare.json"
    plain = json.loads(run(FOLDER / "odr-2a.json", "--strategy", "odr", "--json")[1])
    assert plain["notes"] == []
    for operator in given["application"]["operators"][1:3]:
        del operator["image_mb"]
    given["objective"] = {"weights": {"migration": 0.5, "duration_excess": 0.5}}
    file.write_text(json.dumps(given))
    notes = json.loads(run(file, "--strategy", "odr", "--json")[1])["notes"]
    assert notes == [
        "duration_excess is weighed, and all placements are alike in it",
        "moves are weighed, and those of o2, o3 cost nothing: image_mb and state_mb are 0 or missing",
    ]
    printed = run(file, "--strategy", "odr")[1].replace("\n", " ")
    assert f"Note: {notes[1]}" in printed


def test_tables_of_a_re_placement_show_what_moves_and_what_staying_is_worth(run: Any) -> None:
    """What moves has where from, how long it loads and its price; what stays has a row without them."""
    out = run(FOLDER / "odr-2a.json", "--strategy", "odr")[1]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line]

    assert ["o4", "fog2", "-", "cloud", "60", "150"] in rows
    assert ["o1", "fog1", "-", "", "", ""] in rows
    assert "Nodes load: fog2 for 84 s.\n" in out
    (response,) = (row for row in rows if row[0] == "response_time")
    assert (response[1], response[-1]) == ("910 ms", "1800 ms")


def test_a_capacity_that_may_be_misspelt_is_noted(run: Any, tmp_path: Path) -> None:
    """Its node would silently be unlimited."""
    given = json.loads((FOLDER / "odr-2a.json").read_text())
    capacity = given["network"]["nodes"][0]["capacity"]
    name = next(iter(given["application"]["operators"][0]["demand"]))
    capacity[name.upper()] = capacity.pop(name)
    (tmp_path / "misspelt.json").write_text(json.dumps(given))
    answer = json.loads(run(tmp_path / "misspelt.json", "--strategy", "odr", "--json")[1])
    node = given["network"]["nodes"][0]["name"]
    assert answer["notes"] == [
        f'node {node} names no capacity "{name}", so that it is unlimited there; "{name.upper()}", which it '
        "names, is demanded by no operator"
    ]
