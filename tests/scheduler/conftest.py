"""Seeded problems, and an independent way to evaluate placements: by enumerating paths."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from typing import TYPE_CHECKING, Protocol

import networkx as nx
import numpy as np
import pytest

from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.bandwidth import PairBandwidth, UplinkBandwidth
from scheduler.model.constraints.budget import Budget
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.problem import (
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)
from tests.scheduler.large_problems import make_large, wide_network  # noqa: F401  # fixtures
from tests.scheduler.small_problems import any_problem, optimum, responses  # noqa: F401  # fixtures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.model.constraints.constraint import Constraint

WEIGHTS = (
    {"response_time": 1.0},
    {"availability": 1.0},
    {"network_usage": 1.0},
    {"response_time": 0.5, "availability": 0.25, "network_usage": 0.25},
)


class MakeProblem(Protocol):
    """Makes a seeded random problem."""

    def __call__(
        self, seed: int, n_ops: int, n_nodes: int, *, slots: int = 2, pins: bool = True
    ) -> Problem: ...


def make(seed: int, n_ops: int, n_nodes: int, *, slots: int = 2, pins: bool = True) -> Problem:
    """A random layered graph on nodes with asymmetric delays, speed-ups and imperfect links.

    One problem of five has two graphs: its operators belong to them in turn.
    """
    random = np.random.default_rng(seed)
    layer = np.sort(random.integers(0, max(2, n_ops // 3), n_ops))
    pinned = f"n{random.integers(n_nodes)}" if pins else None
    operators = tuple(
        Operator(
            f"o{i}",
            float(random.uniform(0.5, 5.0)),
            allowed=(pinned,) if pinned is not None and i in (0, n_ops - 1)[:slots] else None,
        )
        for i in range(n_ops)
    )
    streams = []
    for i in range(n_ops):
        for j in range(n_ops):
            near = 1 <= layer[j] - layer[i] <= 2
            if near and random.uniform() < 2.5 / n_ops * 2:
                streams.append(_stream(random, i, j, critical=True))
    streams += [
        _stream(random, int(random.integers(n_ops)), int(random.integers(n_ops)), critical=False)
        for _ in range(n_ops // 4)
    ]
    if seed % 5 == 4:
        operators = tuple(replace(each, graph=f"g{i % 2}") for i, each in enumerate(operators))
        graph = {each.name: each.graph for each in operators}
        streams = [each for each in streams if graph[each.source] == graph[each.target]]
    nodes = tuple(
        Node(
            f"n{u}",
            {"slots": float(slots)},
            speedup=float(random.choice([0.5, 1.0, 2.0])),
            availability=float(random.uniform(0.9, 1.0)),
        )
        for u in range(n_nodes)
    )
    delay = random.uniform(0.5, 60.0, (n_nodes, n_nodes))
    links = random.uniform(0.95, 1.0, (n_nodes, n_nodes))
    np.fill_diagonal(delay, 0.0)
    np.fill_diagonal(links, 1.0)
    objective = Objective(WEIGHTS[seed % len(WEIGHTS)])
    return Problem(Application(operators, tuple(streams)), Network(nodes, delay, links), objective)


class RichProblem(Protocol):
    """Makes a seeded problem with everything that a problem may have."""

    def __call__(self, seed: int, n_ops: int, n_nodes: int) -> Problem: ...


@cache
def rich(seed: int, n_ops: int, n_nodes: int) -> Problem:
    """Memory beside slots, prices of nodes and links, limits on co-location, and all metrics weighed."""
    problem = make(seed, n_ops, n_nodes)
    random = np.random.default_rng(seed)
    operators = tuple(
        replace(each, demand={"slots": 1.0, "memory": float(random.choice([0.5, 1.0, 2.0]))})
        for each in problem.application.operators
    )
    nodes = tuple(
        replace(
            each,
            capacity={"slots": each.capacity["slots"] + 1, "memory": float(random.choice([3.0, 4.0, 8.0]))},
            cost=float(random.uniform(0, 5)),
        )
        for each in problem.network.nodes
    )
    price = random.uniform(0, 3, (len(nodes), len(nodes)))
    np.fill_diagonal(price, 0.0)
    free = [each.name for each in operators if each.allowed is None]
    limits = [CoLocationLimit(tuple(free), most=2)] if free else []
    if len(free) > 1:
        limits.append(CoLocationLimit((free[0], free[-1])))
    weights = {
        "response_time": 0.3,
        "availability": 0.2,
        "network_usage": 0.2,
        "inter_node_traffic": 0.1,
        "cost": 0.2,
    }
    network = Network(nodes, problem.network.delay_ms, problem.network.link_availability, price)
    application = Application(operators, problem.application.streams)
    return Problem(application, network, Objective(weights), constraints=tuple(limits))


@cache
def ruled(seed: int, n_ops: int, n_nodes: int) -> Problem:
    """Bandwidth of links and of a site's uplink, a budget and operators that share a node, all tight."""
    problem = make(seed, n_ops, n_nodes, pins=seed % 2 == 0)
    random = np.random.default_rng(seed)
    nodes = tuple(
        replace(node, site="edge" if u % 2 else "cloud") for u, node in enumerate(problem.network.nodes)
    )
    network = replace(problem.network, nodes=nodes, delays=problem.network.delays)
    whole = float((problem.application.rate * problem.application.tuple_bytes).sum())
    operators = [each.name for each in problem.application.operators]
    spent = {operator: {node.name: float(random.integers(0, 4)) for node in nodes} for operator in operators}
    free = [each.name for each in problem.application.operators if each.allowed is None]
    constraints: list[Constraint] = [
        PairBandwidth("n0", "n1", 0.1 * whole),
        PairBandwidth("n1", "n2", 0.2 * whole),
        UplinkBandwidth("edge", 0.6 * whole),
        Budget("moves", 1.5 * n_ops, spent),
    ]
    if len(free) > 1:
        constraints.append(CoLocation((free[0], free[-1])))
    return Problem(problem.application, network, problem.objective, constraints=tuple(constraints))


class KeepsRules(Protocol):
    """Says whether a placement meets what `ruled` constrains, from the definitions."""

    def __call__(self, problem: Problem, placement: IntArray) -> bool: ...


def _keeps_rules(problem: Problem, placement: IntArray) -> bool:
    """One node name, site and stream at a time."""
    nodes = problem.network.nodes
    at = {o.name: nodes[u] for o, u in zip(problem.application.operators, placement, strict=True)}
    for each in problem.constraints:
        total = 0.0
        for stream in problem.application.streams:
            ends = at[stream.source], at[stream.target]
            if isinstance(each, PairBandwidth) and {end.name for end in ends} == {each.first, each.second}:
                total += stream.rate * stream.tuple_bytes
            if isinstance(each, UplinkBandwidth) and sum(end.site == each.site for end in ends) == 1:
                total += stream.rate * stream.tuple_bytes
        if isinstance(each, PairBandwidth | UplinkBandwidth) and total > each.bytes_per_s * (1 + 1e-9):
            return False
        if isinstance(each, Budget) and (
            sum(each.values[operator][node.name] for operator, node in at.items()) > each.most
        ):
            return False
        if isinstance(each, CoLocation) and len({at[operator].name for operator in each.operators}) > 1:
            return False
    return True


def _stream(random: np.random.Generator, i: int, j: int, *, critical: bool) -> Stream:
    return Stream(f"o{i}", f"o{j}", float(random.uniform(1, 200)), float(random.uniform(10, 500)), critical)


@dataclass(frozen=True)
class Independent:
    """Metrics computed from the model's definition, sharing nothing with the code under test."""

    response_time_ms: float
    availability: float
    network_usage_bytes: float
    inter_node_traffic_bytes_s: float
    cost: float
    mean_delay_ms: float

    @staticmethod
    def of(problem: Problem, placement: IntArray) -> Independent:
        application, network = problem.application, problem.network
        at = {
            operator.name: network.nodes[u]
            for operator, u in zip(application.operators, placement, strict=True)
        }
        place = {node.name: u for u, node in enumerate(network.nodes)}

        def delay(source: str, target: str) -> float:
            return float(network.delay_ms[place[at[source].name], place[at[target].name]])

        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(at)
        graph.add_edges_from((s.source, s.target) for s in application.streams if s.critical)
        time = {o.name: o.execution_time_ms / at[o.name].speedup for o in application.operators}
        sources = [name for name in graph if graph.in_degree(name) == 0]
        sinks = [name for name in graph if graph.out_degree(name) == 0]
        topology = {operator.name: operator.graph for operator in application.operators}
        longest = dict.fromkeys(topology.values(), 0.0)
        for source, sink in product(sources, sinks):
            paths = [[source]] if source == sink else nx.all_simple_paths(graph, source, sink)
            for path in paths:
                hops = sum(delay(a, b) for a, b in pairwise(path))
                taken = sum(time[name] for name in path) + hops
                longest[topology[source]] = max(longest[topology[source]], taken)
        response = sum(longest.values()) / len(longest)
        available = math.prod(node.availability for node in at.values())
        for stream in application.streams:
            if network.link_availability is not None:
                u, v = place[at[stream.source].name], place[at[stream.target].name]
                available *= network.link_availability[u, v]
        usage = sum(s.rate * s.tuple_bytes * delay(s.source, s.target) / 1000 for s in application.streams)
        rate = sum(s.rate for s in application.streams)
        weighted = sum(s.rate * delay(s.source, s.target) for s in application.streams)
        traffic, cost = 0.0, sum(node.cost for node in at.values())
        for stream in application.streams:
            u, v = place[at[stream.source].name], place[at[stream.target].name]
            traffic += stream.rate * stream.tuple_bytes if u != v else 0.0
            cost += 0.0 if network.link_cost is None else network.link_cost[u, v]
        return Independent(response, available, usage, traffic, cost, weighted / rate if rate else 0.0)


@pytest.fixture(scope="session")
def make_problem() -> MakeProblem:
    return make


@pytest.fixture(scope="session")
def rich_problem() -> RichProblem:
    return rich


@pytest.fixture(scope="session")
def ruled_problem() -> RichProblem:
    return ruled


@pytest.fixture(scope="session")
def keeps_rules() -> KeepsRules:
    return _keeps_rules


@pytest.fixture(scope="session")
def independent() -> type[Independent]:
    return Independent


@pytest.fixture(scope="session")
def hundred_nodes() -> Problem:
    """Twenty operators on a hundred nodes, all weights in play."""
    return make(3, 20, 100)


@pytest.fixture(scope="session")
def feasible_placements() -> FeasiblePlacements:
    return _feasible_placements


class FeasiblePlacements(Protocol):
    """Enumerates every feasible placement of a small problem."""

    def __call__(self, problem: Problem) -> Iterator[IntArray]: ...


def _feasible_placements(problem: Problem) -> Iterator[IntArray]:
    """In lexical order, by a check of all at once: one by one they cost more than what is tested."""
    choices = [np.flatnonzero(row) for row in problem.allowed]
    placements = np.stack(np.meshgrid(*choices, indexing="ij"), axis=-1).reshape(-1, problem.n_ops)
    hosted = (placements[:, None, :] == np.arange(problem.n_nodes)[:, None]).astype(np.float64)
    fitting = (hosted @ problem.demand <= problem.capacity + TOLERANCE).all(axis=(1, 2))
    yield from (each for each in placements[fitting] if not problem.rules or _keeps_rules(problem, each))


@pytest.fixture(scope="session")
def chain() -> Problem:
    """a -> b -> c on nodes x, y, z with two slots each; a is pinned to x; worked out by hand in the tests."""
    operators = (Operator("a", 2.0, allowed=("x",)), Operator("b", 4.0), Operator("c", 6.0))
    streams = (Stream("a", "b", 10.0, 100.0), Stream("b", "c", 5.0, 200.0))
    nodes = (
        Node("x", {"slots": 2}, availability=0.9),
        Node("y", {"slots": 2}, speedup=2.0, availability=0.8),
        Node("z", {"slots": 2}),
    )
    delay = np.array([[0.0, 10.0, 20.0], [11.0, 0.0, 30.0], [21.0, 31.0, 0.0]])
    links = np.array([[1.0, 0.5, 1.0], [1.0, 1.0, 0.25], [1.0, 1.0, 1.0]])
    return Problem(Application(operators, streams), Network(nodes, delay, links))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden plans anew")
