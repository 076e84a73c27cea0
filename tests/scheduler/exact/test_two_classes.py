"""The branch and bound over two classes against brute force."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.deadline import Deadline
from scheduler.evaluation import OBJECTIVE_STEP, check, evaluate
from scheduler.exact.form import class_form
from scheduler.exact.incumbent import Incumbent
from scheduler.exact.two_classes import search_two_classes
from scheduler.exact.work import Work
from scheduler.problem import (
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)
from scheduler.strategy import ignore

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem

WEIGHTS = (
    {"response_time": 1.0},
    {"network_usage": 1.0},
    {"response_time": 0.3, "availability": 0.3, "network_usage": 0.3, "cost": 0.1},
    {"availability": 0.5, "inter_node_traffic": 0.5},
)
UNLIMITED = Work(Deadline.none(), math.inf)
EXPIRED = Deadline(clock=lambda: 1.0, at=0.0)


def layered(seed: int, followers: int, leaders: int, n_nodes: int, *, limit: bool = False) -> Problem:
    """source -> followers -> leaders -> sink, the ends pinned together, on uneven nodes."""
    random = np.random.default_rng(seed)
    first = [f"f{k}" for k in range(followers)]
    second = [f"l{k}" for k in range(leaders)]
    demand = float(random.choice([1.0, 2.0]))
    operators = (
        Operator("source", 1.0, allowed=("n0",)),
        *(Operator(name, 2.0) for name in first),
        *(Operator(name, 3.0, {"slots": demand}) for name in second),
        Operator("sink", 1.0, allowed=("n0",)),
    )
    streams = (
        *(Stream("source", name, 5.0, 10.0) for name in first),
        *(Stream(a, b, 2.0, 10.0) for a in first for b in second),
        *(Stream(name, "sink", 3.0, 10.0) for name in second or first),
    )
    nodes = tuple(
        Node(
            f"n{u}",
            {"slots": float(random.integers(2, 5))},
            speedup=float(random.choice([0.5, 1.0, 2.0])),
            availability=float(random.uniform(0.9, 1.0)),
            cost=float(random.uniform(0, 2)),
        )
        for u in range(n_nodes)
    )
    delay = random.uniform(1, 50, (n_nodes, n_nodes))
    np.fill_diagonal(delay, 0.0)
    limits = (CoLocationLimit((*first, *second), most=2),) if limit else ()
    objective = Objective(WEIGHTS[seed % len(WEIGHTS)])
    return Problem(Application(operators, streams), Network(nodes, delay), objective, limits=limits)


@given(
    seed=st.integers(0, 10_000),
    followers=st.integers(1, 3),
    leaders=st.integers(0, 2),
    limit=st.booleans(),
)
@settings(max_examples=60)
def test_it_finds_the_optimum_and_says_so(seed: int, followers: int, leaders: int, limit: bool) -> None:
    """Against every placement of small layered applications, with and without a start."""
    problem = layered(seed, followers, leaders, 4, limit=limit)
    free = itertools.product(range(4), repeat=followers + leaders)
    placements = (np.array([0, *nodes, 0]) for nodes in free)
    feasible = [each for each in placements if not check(problem, each)]
    incumbent = Incumbent(problem, ignore)
    if seed % 2 and feasible:
        incumbent.offer(feasible[seed % len(feasible)], "start")

    proved = search_two_classes(class_form(problem), incumbent, UNLIMITED)

    assert proved == bool(feasible)
    if feasible:
        best = min(evaluate(problem, each).objective for each in feasible)
        assert incumbent.objective == pytest.approx(best, abs=2 * OBJECTIVE_STEP)
        assert incumbent.bound <= best
        assert incumbent.bound >= best - 2 * OBJECTIVE_STEP


def test_three_free_classes_are_left_to_others(make_problem: MakeProblem) -> None:
    """No proof, and nothing touched."""
    problem = make_problem(3, 8, 6)
    incumbent = Incumbent(problem, ignore)
    assert not search_two_classes(class_form(problem), incumbent, UNLIMITED)
    assert incumbent.placement is None


def test_an_expired_deadline_proves_nothing() -> None:
    """The incumbent stays, its bound holds."""
    problem = layered(2, 3, 2, 6)
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(np.array([0, 1, 1, 2, 3, 4, 0]), "start")
    before = incumbent.objective
    assert not search_two_classes(class_form(problem), incumbent, Work(EXPIRED, math.inf))
    assert incumbent.objective == before
    assert incumbent.bound <= before
