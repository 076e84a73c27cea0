"""Where a proof starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import NO_DEADLINE
from scheduler.contract.strategy import Context, Progress
from scheduler.evaluation.evaluate import evaluate
from scheduler.plan import plan
from scheduler.search.searched_start import first_placement, searched_start

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


def test_the_longer_search_is_ils_with_the_same_seed_whatever_the_first_one_draws(
    make_problem: MakeProblem,
) -> None:
    """So a proof that fails is never worse than `ils`."""
    problem = make_problem(2, 12, 20)
    reported: list[Progress] = []
    context = Context(np.random.default_rng(5), NO_DEADLINE, report=reported.append)
    first, longer = searched_start(problem, context)
    reported.clear()
    longer(context)
    alone: list[Progress] = []
    plan(problem, "ils", seed=5, report=alone.append)

    assert first.placement is not None
    assert reported == alone


@pytest.mark.parametrize(("n_nodes", "better"), [(12, False), (60, True)])
def test_only_a_small_problem_starts_from_local_search_alone(
    make_problem: MakeProblem, n_nodes: int, better: bool
) -> None:
    """A larger one is worth a short `ils`."""
    problem = make_problem(6, 12, n_nodes)
    found = first_placement(problem, Context(np.random.default_rng(0), NO_DEADLINE)).placement
    local = plan(problem).evaluation

    assert found is not None
    assert local is not None
    assert (evaluate(problem, found).rank < local.rank) == better
