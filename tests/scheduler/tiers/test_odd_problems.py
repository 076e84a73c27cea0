from __future__ import annotations

from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.latency_limit import LatencyLimit
from scheduler.model.constraints.link_bandwidth import LinkBandwidth, overfull_links
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.network import Node, linked_network
from scheduler.model.problem import Application, Objective, Operator, Problem, Stream
from scheduler.model.underlay import UnderlayLink
from scheduler.plan import plan
from scheduler.strategies.inop_sequential import SequentialParameters
from tests.scheduler.tiers.worked_example import networked, parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.contract.strategy import Progress
    from scheduler.model.constraints.constraint import Constraint

OURS = ("inop-exact", "inop-search", "inop-sequential")
COSTS = Objective({"placement_cost": 0.5, "link_cost": 0.5})


def row(
    operators: Sequence[Operator],
    nodes: Sequence[Node],
    streams: Sequence[Stream] = (),
    constraints: Sequence[Constraint] = (),
) -> Problem:
    """Operators on nodes in a row, each a link of cost 1 from the next."""
    links = [UnderlayLink((a.name, b.name), cost=1.0, delay_ms=1.0) for a, b in pairwise(nodes)]
    network = linked_network(tuple(nodes), links)
    return Problem(Application(tuple(operators), tuple(streams)), network, COSTS, constraints=constraints)


@pytest.mark.parametrize("seed", range(12))
def test_what_a_solver_takes_for_full_enough_is_not_believed(seed: int) -> None:
    """Demands exceed what would fit by less than a solver sees; each operator is a graph by itself."""
    random = np.random.default_rng(seed)
    operators = [
        Operator(
            f"o{i}",
            demand={"load": float(random.choice([1 / 3, 1 / 2, 1 / 6])) + 1e-8},
            graph=f"g{i}",
            placement_cost={f"n{u}": float(random.integers(1, 9)) for u in range(3)},
        )
        for i in range(5)
    ]
    problem = row(operators, [Node(f"n{u}", {"load": 1.0}) for u in range(3)])
    every = (np.array(each) for each in product(range(3), repeat=5))
    costs = [evaluate(problem, each).objective for each in every if not check(problem, each)]

    for strategy in OURS:
        result = plan(problem, strategy)
        if not costs:
            assert result.placement is None
            continue
        assert result.evaluation is not None
        assert result.evaluation.objective >= min(costs) - 1e-9
        if result.status == "optimal":
            assert result.evaluation.objective == pytest.approx(min(costs))


@pytest.mark.parametrize("strategy", OURS)
def test_a_single_node(strategy: str) -> None:
    problem = row([Operator("a", demand={})], [Node("n", {}, unit_cost=1.0)])

    assert to_document(parse_instance(to_document(problem))) == to_document(problem)
    assert plan(problem, strategy).placement is not None


def test_operators_of_two_graphs_that_share_a_node_and_a_graph_that_goes_first() -> None:
    operators = [Operator("a", demand={}, graph="x"), Operator("b", demand={}, graph="y")]
    problem = row(operators, [Node("n", {}), Node("m", {})], constraints=(CoLocation(("a", "b")),))

    assert plan(problem, "inop-sequential", SequentialParameters(order="y")).placement is not None


def test_cloud_greedy_keeps_to_what_it_does_not_ignore() -> None:
    problem = parsed(networked())
    limited = (*problem.constraints, MetricBudget("cost", 300.0))
    problem = Problem(problem.application, problem.network, problem.objective, constraints=limited)
    result = plan(problem, "cloud-greedy")

    assert result.status == "infeasible"
    assert "the budget of cost has 300 units" in result.reason


def test_heuristics_report_no_bound_of_what_they_add() -> None:
    seen: list[Progress] = []
    plan(parsed(), "inop-comb-2", report=seen.append)

    assert seen
    assert all(each.bound is None for each in seen)


def test_links_without_a_cost_cost_their_delay() -> None:
    nodes = tuple(Node(each, {}) for each in "nmk")
    links = [UnderlayLink(("n", "m"), delay_ms=100.0), UnderlayLink(("n", "k"), delay_ms=1.0)]
    network = linked_network(nodes, [*links, UnderlayLink(("k", "m"), delay_ms=1.0)])

    assert network.delay_ms[0, 1] == 2.0
    assert network.stream_costs.matrix()[0, 1] == 2.0


def test_links_that_limit_nothing_are_never_overfull() -> None:
    problem = parsed(networked(bandwidth_sum="none"))
    result = plan(problem, "inop-exact")

    assert result.placement is not None
    assert overfull_links(problem, result.placement) == []
    within = Problem(
        problem.application, problem.network, problem.objective, constraints=(LinkBandwidth("link"),)
    )
    assert [title for title, *_ in overfull_links(within, result.placement)] == ["e1-e2"]


def test_the_tightest_limit_of_latency_is_written() -> None:
    problem = parsed()
    limits = (LatencyLimit("a.snk", 20.0), LatencyLimit("a.snk", 50.0), LinkBandwidth())
    problem = Problem(problem.application, problem.network, problem.objective, constraints=limits)

    assert to_document(problem)["application"]["latency_limit_ms"] == {"a.snk": 20.0}
