"""Scenario P: thirteen cycles, a node that joins after twenty minutes, worked out by brute force."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from experiments.replacement.cycles import run_cycles
from experiments.replacement.placeholders import placeholders
from experiments.replacement.scenario import SCENARIO_P, Scenario, read_scenario

EQUAL = {"response_time": 0.25, "availability": 0.25, "cost": 0.25, "migration": 0.25}
RESPONSE = {"response_time": 1.0}
JOIN_S = 1200.0


@dataclass(frozen=True)
class Expected:
    """One row of the worked scenario.

    Attributes:
        static: Cost of the nodes per second and in all.
        after: Placement once the node has joined.
        values: Response time (s), availability, cost per second from then on.
        paid: Price of the moves.
        means: Response time (s), availability, cost per second, cost in all, over the whole run.
    """

    static: tuple[float, float]
    after: tuple[str, ...]
    values: tuple[float, float, float]
    paid: float
    means: tuple[float, float, float, float]


ALL_BUT_FIRST = ("cloud-1", "fog-2", "fog-2", "fog-2")
ALL_IN_FOG = ("fog-1", "fog-2", "fog-2", "fog-2")
ROWS = {
    ("equal", "per-node"): Expected(
        (36.0, 36.24), ALL_BUT_FIRST, (1.6667, 0.5743, 18.0), 187.5, (1.7400, 0.6012, 25.20, 28.2625)
    ),
    ("equal", "per-operator"): Expected(
        (72.0, 72.24), ALL_BUT_FIRST, (1.6667, 0.5743, 23.0), 187.5, (1.7400, 0.6012, 42.60, 45.6625)
    ),
    ("response", "per-node"): Expected(
        (36.0, 36.24), ALL_IN_FOG, (1.2767, 0.6064, 33.0), 950.0, (1.5060, 0.6205, 34.20, 37.5167)
    ),
    ("response", "per-operator"): Expected(
        (72.0, 72.24), ALL_IN_FOG, (1.2767, 0.6064, 38.0), 950.0, (1.5060, 0.6205, 51.60, 54.9167)
    ),
}


def scenario(weights: str, cost_model: str) -> Scenario:
    plain = read_scenario(SCENARIO_P)
    objective = {"weights": EQUAL if weights == "equal" else RESPONSE, "cost_model": cost_model}
    return replace(plain, instance={**plain.instance, "objective": objective})


def close(*values: float) -> Any:
    """The table has four decimals, the last of its costs two."""
    return pytest.approx(values, abs=5.1e-5)


@pytest.mark.parametrize("row", ROWS)
def test_static_stays_where_it_is(row):
    run = run_cycles(scenario(*row), frozen=True)
    assert len(run.cycles) == 13
    assert {tuple(each.placement.values()) for each in run.cycles} == {
        ("cloud-1", "cloud-1", "cloud-2", "cloud-2")
    }
    assert run.cycles_with_moves == 0
    means = run.mean("response_time") / 1000, run.mean("availability")
    assert means == close(1.85, 0.6416)
    assert (run.mean("cost"), run.cost_per_s) == close(*ROWS[row].static)


@pytest.mark.parametrize("row", ROWS)
def test_the_plan_moves_once_when_the_node_joins(row):
    expected, run = ROWS[row], run_cycles(scenario(*row))
    (moved,) = (each for each in run.cycles if each.moves)
    assert moved.at_s == JOIN_S
    assert tuple(moved.placement.values()) == expected.after
    assert moved.paid == pytest.approx(expected.paid, abs=1e-6)
    values = moved.values["response_time"] / 1000, moved.values["availability"], moved.values["cost"]
    assert values == close(*expected.values)
    means = run.mean("response_time") / 1000, run.mean("availability"), run.mean("cost"), run.cost_per_s
    assert means == close(*expected.means)


def test_the_values_of_a_run_are_the_true_ones():
    def ten_times_as_fast(document: dict[str, Any], _cycle: int) -> None:
        for node in document["network"]["nodes"]:
            node["speedup"] *= 10

    one = replace(scenario("equal", "per-node"), duration_s=240.0)
    (cycle,) = run_cycles(one, read=ten_times_as_fast).cycles
    assert cycle.values["response_time"] == pytest.approx(1850.0)


def test_placeholders_move_what_nothing_real_moves():
    """On readings drawn anew the paper's rule moves something in about half of the cycles."""
    calm = replace(scenario("equal", "per-node"), joins_s={"fog-2": 1e9}, duration_s=40 * 240.0)
    run = run_cycles(calm, read=placeholders(np.random.default_rng(0)))
    assert 10 < run.cycles_with_moves < 30
