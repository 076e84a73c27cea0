"""Paid units, late items, and the objective of the paper."""

from __future__ import annotations

import pytest

from scheduler.elasticity.leasing.costs import billed_units, snapshot_cost, total_cost
from tests.scheduler.elasticity.leasing.example import COMPONENTS, OFFER, host


def test_paper_003_worked_example_step_5() -> None:
    """After step 4 one host is left, and 4,200 items were late."""
    left = host("h0", 1200, {"A": 2, "F": 2, "R": 1})
    cost = snapshot_cost([left], COMPONENTS, 4200, unit_cost=1, penalty=0.0001)
    assert left.free_cpu(COMPONENTS) / left.cpu == pytest.approx(0.20459, abs=1e-5)
    assert left.free_memory_mb(COMPONENTS) / left.memory_mb == pytest.approx(0.06094, abs=1e-5)
    assert cost == pytest.approx(1.68553, abs=1e-5)
    assert total_cost(3, 4200, OFFER, 0.0001) == pytest.approx(3.42, abs=1e-5)


@pytest.mark.parametrize(("minutes", "unit_cost", "bill"), [(10, 1, 5), (30, 3, 9), (60, 6, 18)])
def test_paper_003_worked_example_step_6(minutes: int, unit_cost: int, bill: int) -> None:
    lives = [(0, 1500), (130, 700), (800, 860)]
    assert unit_cost * billed_units(lives, 60.0 * minutes) == bill


def test_a_whole_number_of_units_is_not_billed_one_more() -> None:
    assert billed_units([(0.1, 600.1), (0.0, 3 * 0.1)], 0.1) == 6000 + 3
    assert billed_units([(0.0, 600.001)], 600) == 2


def test_each_host_is_paid() -> None:
    hosts = [host("h0", 600, {}), host("h1", 600, {})]
    assert snapshot_cost(hosts, COMPONENTS, 0, unit_cost=3, penalty=1) == pytest.approx(6 + 2)
