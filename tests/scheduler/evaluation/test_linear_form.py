"""F as a linear form plus response time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.linear_form import linear_form
from scheduler.model.metrics.terms import DELAY, WeighedTable
from scheduler.model.problem import Network, Node, Objective, Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem

WEIGHTS = {
    "response_time": 0.2,
    "availability": 0.2,
    "network_usage": 0.2,
    "inter_node_traffic": 0.1,
    "cost": 0.3,
}


def priced(problem: Problem, seed: int) -> Problem:
    """The same problem with prices of nodes and links, and every metric weighed."""
    random = np.random.default_rng(seed)
    nodes = tuple(
        Node(each.name, each.capacity, each.speedup, each.availability, cost=float(random.uniform(0, 5)))
        for each in problem.network.nodes
    )
    cost = random.uniform(0, 3, problem.network.delay_ms.shape)
    np.fill_diagonal(cost, 0.0)
    network = Network(nodes, problem.network.delay_ms, problem.network.link_availability, cost)
    return Problem(problem.application, network, Objective(WEIGHTS))


@given(seed=st.integers(0, 10_000), n_ops=st.integers(1, 12))
@settings(max_examples=50)
def test_the_form_and_response_time_add_up_to_f(make_problem: MakeProblem, seed: int, n_ops: int) -> None:
    """For any placement, feasible or not, and all metrics at once."""
    problem = priced(make_problem(seed, n_ops, 6), seed)
    placement = np.random.default_rng(seed).integers(0, problem.n_nodes, n_ops)
    form, worth = linear_form(problem), evaluate(problem, placement)

    total = form.value(problem, placement) + form.response_factor * worth.response_time_ms
    assert total == pytest.approx(worth.objective, abs=1e-12)


def test_metrics_on_one_table_are_one_pair_term(make_problem: MakeProblem) -> None:
    """Their weights add up, delays come first, and operators may differ in the value of their place."""
    problem = priced(make_problem(2, 7, 5), 2)
    terms = problem.terms
    per_operator = np.random.default_rng(2).uniform(0.0, 9.0, (7, 5))
    links = {**terms.links, "cost": (WeighedTable(1, None), *terms.links["cost"], WeighedTable(DELAY, None))}
    changed = replace(terms, places={**terms.places, "cost": per_operator}, links=links)
    vars(problem)["terms"] = changed
    placement = np.array([0, 4, 2, 2, 1, 3, 0])
    form, worth = linear_form(problem), evaluate(problem, placement)

    assert [term.slot for term in form.pairs] == [0, 1, 2, 3]
    total = form.value(problem, placement) + form.response_factor * worth.response_time_ms
    assert total == pytest.approx(worth.objective, abs=1e-12)


def test_metrics_without_weight_are_left_out(make_problem: MakeProblem) -> None:
    """Response time alone needs no pair term and no value per place."""
    problem = make_problem(1, 6, 5)
    form = linear_form(Problem(problem.application, problem.network, Objective({"response_time": 1.0})))

    assert form.pairs == ()
    assert not form.unary.any()
    assert form.response_factor > 0
