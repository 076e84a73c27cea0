"""Rules of simulated re-placement: nothing that only seems to change moves, what is real is followed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from experiments.replacement.clairvoyant import Hindsight
from experiments.replacement.cycles import document_of, run_cycles
from experiments.replacement.placeholders import placeholders
from experiments.replacement.read_history import ReadHistory
from experiments.replacement.rules import PaperRule, exact_ranges
from experiments.replacement.simulation import Setting, made_rule, scenario_of, simulate
from experiments.replacement.steadiness import LEAST_CHANGE, WITHIN, calm, followed
from scheduler.base.deadline import NO_DEADLINE
from scheduler.contract.strategy import Context
from scheduler.instances.document import parse_instance
from scheduler.optimal_ranges import optimal_ranges


def test_nothing_moves_while_nothing_real_changes() -> None:
    """On the readings on which the paper's rule moves in a third of the cycles."""
    assert calm("ours", 3).moved == 0
    theirs = calm("paper", 3)
    assert theirs.moved * 3 >= theirs.cycles


def test_a_real_change_is_followed() -> None:
    """At once where it is read exactly, if it is just worth it; else when it shows."""
    least = followed("exact", 3)
    assert (round(least.gain, 2), least.after) == (LEAST_CHANGE, 0)
    after = followed("noisy", 2).after
    assert after is not None
    assert after <= WITHIN


def test_with_exact_readings_our_rule_is_as_good_as_hindsight() -> None:
    """When the node joins it goes where who knows all would have gone; the paper's rule stays."""
    ours, theirs = (simulate(Setting(rule, noisy=False)) for rule in ("ours", "paper"))
    assert ours.regret == pytest.approx(0.0, abs=1e-9)
    assert ours.moved == (0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0)
    assert theirs.regret > 0.1


def test_exact_ranges_are_those_that_are_proved() -> None:
    """Of all weighted metrics that differ, with an operator to move."""
    seen = document_of(scenario_of("p", "equal"), 5, dict.fromkeys(("o1", "o2", "o3", "o4"), "fog-1"))
    proved = optimal_ranges(parse_instance(seen), Context(np.random.default_rng(0), NO_DEADLINE))
    found = exact_ranges(seen)
    assert sorted(found) == ["availability", "cost", "migration", "response_time"]
    for name, ends in found.items():
        assert ends == pytest.approx(proved[name].range)


def test_nothing_is_better_than_hindsight() -> None:
    """No rule's placements add up to less, on readings of several seeds."""
    scenario = scenario_of("p", "equal")
    hindsight = Hindsight(scenario)
    best = hindsight.total(hindsight.best())
    for price in ("source", "destination"):
        run = run_cycles(scenario, PaperRule(price))  # type: ignore[arg-type]  # one of the two
        assert hindsight.total([each.placement for each in run.cycles]) >= best - 1e-12


def document(up: list[float], between: float) -> dict[str, Any]:
    nodes = [{"name": f"n{u}", "availability": value} for u, value in enumerate(up)]
    links = np.full((len(up), len(up)), between)
    np.fill_diagonal(links, 1.0)
    delay = np.where(np.eye(len(up), dtype=np.bool_), 0.0, 10.0)
    return {"network": {"nodes": nodes, "delay_ms": delay.tolist(), "link_availability": links.tolist()}}


def test_a_history_gives_plain_means_and_what_is_no_noise() -> None:
    """Nodes that differ by noise come out alike, and what never varies stays as it is."""
    random, history = np.random.default_rng(4), ReadHistory(6)
    read = random.normal(0.9, 0.05, (8, 6))
    for row in read:
        means, likely = history.take(document(row.tolist(), 0.99))
    plain, same = ([node["availability"] for node in each["network"]["nodes"]] for each in (means, likely))
    assert plain == pytest.approx(read[2:].mean(axis=0))
    assert len(set(same)) == 1
    for each in (means, likely):
        assert each["network"]["link_availability"][0][1:] == pytest.approx([0.99] * 5)


def test_a_node_that_joins_is_not_trusted_against_its_readings() -> None:
    """One that is read as hardly available takes nothing, although it would count as alike."""
    scenario = scenario_of("p", "equal")

    def read(seen: dict[str, Any], cycle: int) -> None:
        placeholders(np.random.default_rng([7, cycle]))(seen, cycle)
        for node in seen["network"]["nodes"][3:]:
            node["availability"] -= 0.09

    run = run_cycles(scenario, made_rule("ours", scenario), read=read)
    assert run.moved == 0
