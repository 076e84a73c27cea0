"""Optimum and anti-optimum of every metric, against brute force."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Context, Suggestion
from scheduler.evaluation.evaluate import evaluate, metric_sums
from scheduler.exact.solver.ask import SOLVER_TOLERANCE
from scheduler.instances.generators.paper import paper_problem
from scheduler.model.metrics.catalogue import METRICS, RANGED
from scheduler.model.problem import (
    Application,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
)
from scheduler.optimal_ranges import MetricRange, NoPlacementError, optimal_ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.base.arrays import FloatArray
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem, RichProblem
    from tests.scheduler.small_problems import AnyProblem, Responses

    Extremes = dict[str, tuple[float, float]]
    Measure = Callable[[Problem], Extremes | None]


def context(deadline: Deadline | None = None) -> Context:
    return Context(np.random.default_rng(0), deadline or Deadline.none())


@pytest.fixture(scope="session")
def extremes(feasible_placements: FeasiblePlacements, responses: Responses) -> Measure:
    """Measures the smallest and largest value of each metric over all feasible placements."""

    def measure(problem: Problem) -> Extremes | None:
        placements = np.array(list(feasible_placements(problem)), dtype=np.int64)
        if not placements.size:
            return None
        sums = metric_sums(problem, placements.T).raw
        values = {**sums, "response_time": responses(problem, placements.T)}
        values["availability"] = np.exp(-sums["availability"])
        return {metric: (float(values[metric].min()), float(values[metric].max())) for metric in RANGED}

    return measure


def assert_equal(found: Mapping[str, MetricRange], wanted: Extremes, problem: Problem) -> None:
    for metric, (low, high) in wanted.items():
        width = problem.ranges[metric][1] - problem.ranges[metric][0]
        near = 3 * SOLVER_TOLERANCE * width + 1e-12 * high
        assert found[metric].low == pytest.approx(low, rel=0.0, abs=near), metric
        assert found[metric].high == pytest.approx(high, rel=0.0, abs=near), metric
        assert found[metric].low_proved, metric
        assert found[metric].high_proved, metric


def assert_within(found: Mapping[str, MetricRange], wanted: Extremes) -> None:
    for metric, (low, high) in wanted.items():
        slack = 1e-9 * max(1.0, high)
        assert found[metric].low <= low + slack, metric
        assert found[metric].high >= high - slack, metric


@given(seed=st.integers(0, 10_000), n_ops=st.integers(1, 5), n_nodes=st.integers(1, 4))
@example(seed=2928, n_ops=5, n_nodes=2)  # HiGHS gives up on one of its programs unless its presolve is off
@settings(max_examples=30)
def test_the_ends_are_those_of_brute_force(
    any_problem: AnyProblem, extremes: Measure, seed: int, n_ops: int, n_nodes: int
) -> None:
    """For every metric, graph and constraint; and where there is no placement, that is said."""
    problem = any_problem(seed, n_ops, n_nodes)
    wanted = extremes(problem)
    if wanted is None:
        with pytest.raises(NoPlacementError):
            optimal_ranges(problem, context())
    else:
        assert_equal(optimal_ranges(problem, context()), wanted, problem)


@pytest.mark.parametrize("seed", range(6))
def test_prices_memory_limits_and_uneven_links_are_seen(
    rich_problem: RichProblem, extremes: Measure, seed: int
) -> None:
    """Several paths of different lengths, pins, and every metric with operators and streams in it."""
    problem = rich_problem(seed, 5, 4)
    wanted = extremes(problem)
    assert wanted is not None
    assert_equal(optimal_ranges(problem, context()), wanted, problem)


@pytest.mark.parametrize("seed", range(4))
def test_the_ends_do_not_lean_on_the_start(
    rich_problem: RichProblem,
    feasible_placements: FeasiblePlacements,
    extremes: Measure,
    seed: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each search begins at the end that it is not looking for."""
    problem = rich_problem(seed, 4, 3)
    wanted = extremes(problem)
    assert wanted is not None

    def farthest(alone: Problem, _context: Context) -> Suggestion:
        placements = feasible_placements(alone)
        return Suggestion(max(placements, key=lambda each: evaluate(alone, each).objective), "the farthest")

    monkeypatch.setattr("scheduler.optimal_ranges.first_placement", farthest)
    assert_equal(optimal_ranges(problem, context()), wanted, problem)


@given(seed=st.integers(0, 10_000), ticks=st.integers(0, 400))
@settings(max_examples=25)
def test_whenever_time_ends_no_placement_leaves_the_ranges(
    any_problem: AnyProblem, extremes: Measure, seed: int, ticks: int
) -> None:
    """What is not proved by then is a bound, and never wider than the one computed without solving."""
    problem = any_problem(seed, 4, 4)
    wanted = extremes(problem)
    if wanted is None:
        return
    clock = count()
    found = optimal_ranges(problem, context(Deadline(lambda: float(next(clock)), float(ticks))))
    assert_within(found, wanted)
    for metric in RANGED:
        low, high = problem.ranges[metric]
        assert low <= found[metric].low <= found[metric].high <= high


def test_without_time_the_ends_are_bounds_and_say_so(rich_problem: RichProblem) -> None:
    """Unless a first placement reaches the bound by itself; that of the longest path costs nothing."""
    problem = rich_problem(1, 8, 8)
    found = optimal_ranges(problem, context(Deadline(lambda: 1.0, 0.0)))

    response = found["response_time"]
    assert response.low == problem.ranges["response_time"][0]
    assert response.high <= problem.ranges["response_time"][1]
    assert not response.low_proved
    assert not response.high_proved


def test_a_problem_too_large_to_solve_keeps_its_bounds(
    rich_problem: RichProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is even begun on a network of which strategies get a part only; what is constant needs none."""
    problem = rich_problem(2, 5, 4)
    monkeypatch.setattr("scheduler.reduce.reduction.LARGEST_NETWORK", 3)
    for metric, each in optimal_ranges(problem, context()).items():
        low, high = problem.ranges[metric]
        assert (each.low, each.high) == (low, high)
        assert each.low_proved == each.high_proved == (low == high)


def test_every_end_gets_an_equal_share_of_the_time_left(
    rich_problem: RichProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one leaves goes to those that follow; here no time passes at all."""
    shares: list[float] = []

    def first(_alone: Problem, given: Context) -> Suggestion:
        shares.append(given.deadline.remaining())
        return Suggestion(None, "none was looked for")

    monkeypatch.setattr("scheduler.optimal_ranges.first_placement", first)
    optimal_ranges(rich_problem(0, 3, 3), context(Deadline(lambda: 0.0, 60.0)))

    assert shares == [pytest.approx(60.0 / left) for left in range(len(shares), 0, -1)]


def test_given_ranges_and_weights_change_nothing(rich_problem: RichProblem) -> None:
    """The ends belong to operators, network and constraints alone."""
    problem = rich_problem(3, 4, 4)
    other = Problem(
        problem.application,
        problem.network,
        Objective({"cost": 1.0}, {"response_time": (0.0, 1.0)}),
        current=np.zeros(4, dtype=np.int64),
        constraints=problem.constraints,
    )
    assert optimal_ranges(other, context()) == optimal_ranges(problem, context())


def test_a_metric_in_which_all_placements_are_alike_has_no_range() -> None:
    """In the diamond no two neighbours can share a node: source and sink fill theirs."""
    problem = paper_problem("diamond", 4, {"response_time": 1.0}, 0)
    nodes = tuple(Node(each.name, {"slots": 18.0}) for each in problem.network.nodes[1:])
    home = Node(problem.network.nodes[0].name, {"slots": 2.0})
    operators = tuple(
        Operator(each.name, each.execution_time_ms, allowed=None if each.allowed is None else (home.name,))
        for each in problem.application.operators
    )
    application = Application(operators, problem.application.streams)
    small = Problem(application, Network((home, *nodes), problem.network.delay_ms))
    found = optimal_ranges(small, context())

    assert small.ranges["inter_node_traffic"][0] < small.ranges["inter_node_traffic"][1]
    assert found["inter_node_traffic"].range is None
    assert found["inter_node_traffic"].low == small.ranges["inter_node_traffic"][1]
    assert found["cost"] == MetricRange(0.0, 0.0, low_proved=True, high_proved=True)
    assert found["response_time"].range is not None


def test_hopeless_availability_ends_where_floats_do() -> None:
    """The product of all would be 1e-600, which is no float."""
    operators = tuple(Operator(name) for name in "abc")
    nodes = (Node("x", {"slots": 3.0}, availability=1e-200), Node("y", {"slots": 3.0}, availability=0.5))
    network = Network(nodes, np.array([[0.0, 1.0], [1.0, 0.0]]))
    found = optimal_ranges(Problem(Application(operators), network), context())["availability"]

    assert found.low == pytest.approx(np.exp(-700.0))
    assert found.high == pytest.approx(0.125)


def test_each_end_is_announced_before_it_is_looked_for(rich_problem: RichProblem) -> None:
    """Both ends of every metric that is not constant, once."""
    stated: list[tuple[str, str]] = []
    problem = rich_problem(0, 3, 3)
    optimal_ranges(problem, context(), lambda metric, end: stated.append((metric, end)))

    open_metrics = [metric for metric in RANGED if problem.ranges[metric][0] < problem.ranges[metric][1]]
    assert 0 < len(open_metrics) < len(RANGED)
    assert sorted(stated) == sorted((metric, end) for metric in open_metrics for end in ("best", "worst"))


def test_a_metric_may_look_at_where_operators_run(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it costs to leave the current node is 0 at best, and one per operator at worst."""

    def leaving(problem: Problem) -> FloatArray:
        current = np.full(problem.n_ops, -1) if problem.current is None else problem.current
        return ((np.arange(problem.n_nodes) != current[:, None]) & (current[:, None] >= 0)).astype(np.float64)

    monkeypatch.setitem(vars(METRICS["cost"]), "places", leaving)
    problem = replace(make_problem(1, 3, 4, slots=3, pins=False), current=np.array([0, 1, 2]))
    found = optimal_ranges(problem, context())

    assert found["cost"].range == (0.0, 3.0)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_rules_are_seen(
    ruled_problem: RichProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """Bandwidth, budget and shared nodes narrow what metrics can be, the longest response time too."""
    problem = ruled_problem(seed, 3 + seed % 3, 4)
    worth = [evaluate(problem, each) for each in feasible_placements(problem)]
    found = optimal_ranges(problem, context())
    response = [each.response_time_ms for each in worth]
    usage = [each.values["network_usage"] for each in worth]

    for metric, values in (("response_time", response), ("network_usage", usage)):
        assert found[metric].low_proved
        assert found[metric].high_proved
        assert found[metric].low == pytest.approx(min(values), rel=1e-6)
        assert found[metric].high == pytest.approx(max(values), rel=1e-6)
