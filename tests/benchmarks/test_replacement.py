"""The benchmark of re-placement on few problems."""

from __future__ import annotations

import pytest

from benchmarks.replacement import on_placeholders, searched, second_plans


@pytest.mark.parametrize("cost_model", ["per-operator", "per-node"])
def test_second_plans_move_nothing(cost_model):
    first, second = second_plans(range(6), "dag", cost_model, 0.0)
    assert first > 0
    assert second == 0


def test_a_row_compares_the_search_with_the_proof():
    row = searched(4, 5, 10.0, 2)
    assert row.startswith("| 4 | 5 | 10 | 2 | 2 | 0.00% | 0.00% | ")


def test_cycles_with_moves_are_counted_from_the_second_on():
    moved, cycles = on_placeholders(1)
    assert cycles == 12
    assert 0 < moved < 12
