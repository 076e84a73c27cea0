"""Rules of simulated re-placement: nothing that only seems to change moves, what is real is followed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from experiments.replacement.clairvoyant import Hindsight
from experiments.replacement.cycles import run_cycles
from experiments.replacement.read_history import ReadHistory
from experiments.replacement.rules import PaperRule
from experiments.replacement.simulation import Setting, scenario_of, simulate
from experiments.replacement.steadiness import WITHIN, calm, followed


def test_nothing_moves_while_nothing_real_changes() -> None:
    """On the readings on which the paper's rule moves in a third of the cycles."""
    assert calm("ours", 3).moved == 0
    theirs = calm("paper", 3)
    assert theirs.moved * 3 >= theirs.cycles


def test_a_real_change_is_followed() -> None:
    found = followed(1)
    assert found is not None
    assert found.after is not None
    assert found.after <= WITHIN


def test_with_exact_readings_our_rule_is_as_good_as_hindsight() -> None:
    """When the node joins it goes where who knows all would have gone; the paper's rule stays."""
    ours, theirs = (simulate(Setting(rule, noisy=False)) for rule in ("ours", "paper"))
    assert ours.regret == pytest.approx(0.0, abs=1e-9)
    assert ours.moved == (0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0)
    assert theirs.regret > 0.1


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


def test_a_history_knows_how_far_its_means_are_off() -> None:
    """The error falls with the number of readings; what never varies is exact."""
    random, history, errors = np.random.default_rng(0), ReadHistory(50), []
    for _ in range(50):
        seen = document(random.normal([0.5, 0.7, 0.9], 0.05).tolist(), 0.99)
        errors.append(history.smooth(seen))
    last = errors[-1]
    assert last.availability is not None
    assert last.link_availability is not None
    assert last.availability == pytest.approx(0.05 / math.sqrt(50), rel=0.3)
    assert (last.link_availability == 0).all()
    means = [node["availability"] for node in seen["network"]["nodes"]]
    assert means == pytest.approx([0.5, 0.7, 0.9], abs=0.03)


def test_means_that_differ_by_noise_alone_are_drawn_together() -> None:
    """Truths that are alike come out nearer to each other than their means."""
    random, history, plain = np.random.default_rng(4), ReadHistory(6), []
    for _ in range(6):
        read = random.normal(0.9, 0.05, 6)
        plain.append(read)
        seen = document(read.tolist(), 1.0)
        history.smooth(seen)
    smoothed = [node["availability"] for node in seen["network"]["nodes"]]
    assert np.std(smoothed) < 0.5 * np.std(np.mean(plain, axis=0))


def test_another_truth_replaces_the_old_readings() -> None:
    """Two readings far from all before count alone."""
    history, random = ReadHistory(20), np.random.default_rng(1)
    for up in (*[0.9] * 8, 0.3, 0.3):
        seen = document([float(up + random.normal(0, 0.01)), 0.8, 0.7], 1.0)
        history.smooth(seen)
    assert seen["network"]["nodes"][0]["availability"] == pytest.approx(0.3, abs=0.05)
