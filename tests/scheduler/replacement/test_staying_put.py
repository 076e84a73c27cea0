"""What was moved once is not moved again while nothing changes."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.instances.generators.replacement import replacement, running
from scheduler.plan import plan


@pytest.mark.parametrize("cost_model", ["per-operator", "per-node"])
@pytest.mark.parametrize("shape", ["chain", "tree", "dag"])
@pytest.mark.parametrize("strategy", ["odr", "odr-search"])
def test_a_second_plan_moves_nothing(strategy, shape, cost_model):
    for seed in range(12):
        random = np.random.default_rng(seed)
        problem = replacement(shape, 4, 4, random, cost_model)
        problem = running(problem, random.permutation(4))
        first = plan(problem, strategy)
        if first.placement is None:
            continue
        again = plan(running(problem, first.placement), strategy)
        assert again.placement is not None
        assert again.placement.tolist() == first.placement.tolist(), seed


@pytest.mark.parametrize("shape", ["chain", "tree", "dag"])
def test_the_search_finds_the_optimum_of_small_problems(shape):
    for seed in range(6):
        random = np.random.default_rng(seed)
        problem = running(replacement(shape, 5, 4, random), random.integers(0, 4, 5))
        exact, found = plan(problem, "odr"), plan(problem, "odr-search")
        if exact.evaluation is None:
            assert found.evaluation is None
            continue
        assert found.evaluation is not None
        assert found.evaluation.objective == pytest.approx(exact.evaluation.objective, abs=1e-9)
