"""What holds for every metric; a new one is covered by being listed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.construct.penalty import link_penalty
from scheduler.evaluation.batch import BatchEvaluator
from scheduler.evaluation.critical_path import potentials
from scheduler.evaluation.evaluate import evaluate, metric_sums
from scheduler.evaluation.incident import IncidentStreams
from scheduler.evaluation.linear_form import linear_form, sum_form
from scheduler.evaluation.moves import MoveEvaluator
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.model.metrics.catalogue import ADDITIVE_METRICS, METRICS, RANGED
from scheduler.model.network import LINK_QUANTITIES, NODE_QUANTITIES, Network
from scheduler.model.problem import Objective, Problem
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from tests.scheduler.conftest import MakeProblem

SUMS = [metric.name for metric in ADDITIVE_METRICS]
every_sum = pytest.mark.parametrize("metric", SUMS)
every_metric = pytest.mark.parametrize("metric", METRICS)


class Priced(Protocol):
    """Eight operators on six nodes, with a random value of all that nodes and links may have."""

    def __call__(self, seed: int, metric: str | None = None) -> Problem:
        """One metric alone is weighed, or all alike."""


@pytest.fixture(params=["per-operator", "per-node"])
def priced(request: pytest.FixtureRequest, make_problem: MakeProblem) -> Priced:
    """With prices of operators, and with such that nodes pay once."""

    def made(seed: int, metric: str | None = None) -> Problem:
        problem = make_problem(seed, 8, 6, pins=False, slots=4)
        random = np.random.default_rng(seed)

        def drawn(most: float, shape: tuple[int, ...] = ()) -> FloatArray:
            return np.asarray(random.uniform(0.5, min(most, 3.0), shape))

        def of_node() -> dict[str, Any]:
            return {name: float(drawn(bounds.most)) for name, bounds in NODE_QUANTITIES.items()}

        nodes = tuple(
            replace(node, **of_node(), holds=tuple(f"o{i}" for i in range(8) if (i + u) % 3 == 0))
            for u, node in enumerate(problem.network.nodes)
        )
        links = {}
        for link in LINK_QUANTITIES:
            links[link.name] = drawn(link.most, (6, 6))
            np.fill_diagonal(links[link.name], link.diagonal)
        operators = tuple(
            replace(
                operator,
                image_mb=float(drawn(3.0)),
                state_mb=float(drawn(3.0)),
                duration_max_ms=float(drawn(1.0)),
                actual_ms=float(drawn(3.0)),
                actual_speedup=1.0,
                placement_cost={node.name: float(drawn(3.0)) for node in nodes},
            )
            for operator in problem.application.operators
        )
        weights = dict.fromkeys(METRICS, 1.0 / len(METRICS)) if metric is None else {metric: 1.0}
        return Problem(
            replace(problem.application, operators=operators),
            Network(nodes, problem.network.delay_ms, **links),
            Objective(weights, cost_model=request.param, duration_limit="soft"),
            random.integers(0, 6, 8),
        )

    return made


@pytest.fixture
def placement() -> IntArray:
    return np.array([2, 5, 2, 0, 1, 5, 3, 3])


@pytest.mark.parametrize("seed", range(4))
def test_the_form_and_a_batch_have_the_worth_of_the_evaluation(
    priced: Priced, placement: IntArray, seed: int
) -> None:
    problem = priced(seed)
    worth, form = evaluate(problem, placement), linear_form(problem)
    total = form.value(problem, placement) + form.response_factor * worth.response_time_ms
    objective, mean = BatchEvaluator(problem)(placement[:, None])

    assert total == pytest.approx(worth.objective, abs=1e-12)
    assert objective == pytest.approx([worth.objective], abs=1e-12)
    assert mean == pytest.approx([worth.mean_delay_ms])


@every_sum
@pytest.mark.parametrize("seed", range(2))
def test_raw_sums_follow_moves(priced: Priced, placement: IntArray, metric: str, seed: int) -> None:
    """Of a placement, of many at once and of moves, whether or not the metric has a weight."""
    problem = priced(seed, "response_time")
    moves = MoveEvaluator(problem, sums=[metric])
    changes = moves.sum_changes(moves.look(placement), metric, 0, problem.n_ops)
    i, u = (each.ravel() for each in np.indices(changes.shape))
    moved = np.repeat(placement[:, None], changes.size, axis=1)
    moved[i, np.arange(changes.size)] = u
    before, after = metric_sums(problem, placement).raw[metric], metric_sums(problem, moved).raw[metric]

    assert sum_form(problem, metric).value(problem, placement) == pytest.approx(float(before))
    assert after.shape == (changes.size,)
    assert changes.ravel() == pytest.approx(after - before, abs=1e-9)


@every_sum
def test_moves_in_tables_and_in_lists_are_worth_the_same(
    priced: Priced, placement: IntArray, metric: str
) -> None:
    problem = priced(1, metric)
    dense = MoveEvaluator(problem).single_moves(placement, Deadline.none()).objective
    operators, nodes = (each.ravel() for each in np.indices(dense.shape))
    streams, paths = IncidentStreams(problem), potentials(problem, placement)
    there, _ = streams.costs(placement, paths, operators, nodes)
    here, _ = streams.costs(placement, paths, np.arange(8), placement)
    sparse = evaluate(problem, placement).objective + there - here[operators]
    feasible = np.isfinite(dense.ravel())

    assert feasible.any()
    assert sparse[feasible] == pytest.approx(dense.ravel()[feasible], abs=1e-9)


@pytest.mark.parametrize("metric", RANGED)
@pytest.mark.parametrize("pinned", [False, True])
def test_no_placement_leaves_the_range(priced: Priced, metric: str, *, pinned: bool) -> None:
    problem = priced(2, metric)
    first, *rest = problem.application.operators
    if pinned:
        operators = (replace(first, allowed=("n1", "n4")), *rest)
        problem = replace(problem, application=replace(problem.application, operators=operators))
    random = np.random.default_rng(0)
    low, high = problem.ranges[metric]
    for _ in range(40):
        placement = random.integers(0, 6, 8)
        placement[0] = random.choice([1, 4])
        worth = evaluate(problem, placement)
        assert low * (1 - 1e-9) <= worth.values[metric] <= high * (1 + 1e-9)
        assert -1e-9 <= worth.objective <= 1 + 1e-9


@every_metric
def test_the_link_penalty_goes_from_0_to_1(priced: Priced, metric: str) -> None:
    penalty = link_penalty(priced(3, metric))

    assert (penalty.min(), penalty.max()) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(2))
def test_documents_and_subproblems_keep_every_value(priced: Priced, placement: IntArray, seed: int) -> None:
    problem = priced(seed)
    nodes = np.unique(placement)

    assert evaluate(parse_instance(to_document(problem)), placement) == evaluate(problem, placement)
    part = evaluate(restrict(problem, nodes), np.searchsorted(nodes, placement))
    assert part.values == pytest.approx(evaluate(problem, placement).values)


def test_a_problem_in_another_process_has_the_same_worth(priced: Priced, placement: IntArray) -> None:
    """What metrics are made of is not sent along, so looking at moves makes no message larger."""
    problem = priced(5)
    before = evaluate(problem, placement)
    fresh = len(pickle.dumps(problem))
    MoveEvaluator(problem).look(placement)
    sent = pickle.dumps(problem)
    received = pickle.loads(sent)  # noqa: S301  # made just now

    assert len(sent) == fresh
    assert "terms" not in vars(received)
    assert evaluate(received, placement) == before


@every_metric
def test_the_exact_solver_is_not_beaten(priced: Priced, metric: str) -> None:
    problem = priced(4, metric)
    exact, greedy = plan(problem, "odp"), plan(problem, "greedy")

    assert exact.status == "optimal"
    assert exact.evaluation is not None
    assert greedy.evaluation is not None
    assert exact.evaluation.objective <= greedy.evaluation.objective + 2e-9
