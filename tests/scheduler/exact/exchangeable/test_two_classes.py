"""The branch and bound over two classes against brute force."""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.base.work import Work
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, ignore
from scheduler.evaluation.evaluate import OBJECTIVE_STEP, evaluate
from scheduler.exact.exchangeable import leader_search, two_classes
from scheduler.exact.exchangeable.leader_multipliers import Multipliers
from scheduler.exact.exchangeable.leader_search import LeaderSearch
from scheduler.exact.exchangeable.leader_tables import leader_tables
from scheduler.exact.exchangeable.two_classes import search_two_classes
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solver.ask import SOLVER_TOLERANCE
from scheduler.exact.solver.by_solver import search_by_solver
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

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem

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
    return Problem(Application(operators, streams), Network(nodes, delay), objective, constraints=limits)


@cache
def layered_on_four(
    seed: int, feasible_placements: FeasiblePlacements
) -> tuple[Problem, list[IntArray], float]:
    """A problem of five free operators, its placements, and F of the best of them."""
    problem = layered(seed, 3, 2, 4)
    placements = list(feasible_placements(problem))
    return problem, placements, min(evaluate(problem, each).objective for each in placements)


@given(
    seed=st.integers(0, 10_000),
    followers=st.integers(1, 3),
    leaders=st.integers(0, 2),
    limit=st.booleans(),
)
@settings(max_examples=60)
def test_it_finds_the_optimum_and_says_so(
    feasible_placements: FeasiblePlacements, seed: int, followers: int, leaders: int, limit: bool
) -> None:
    """Against every placement of small layered applications, with and without a start."""
    problem = layered(seed, followers, leaders, 4, limit=limit)
    feasible = list(feasible_placements(problem))
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


@pytest.mark.parametrize("seed", range(16))
def test_any_multipliers_leave_the_optimum_in_reach(
    feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """Multipliers move costs about: whatever they are, the search is complete and its bounds are true."""
    problem = layered(seed, 2 + seed % 2, 2, 4, limit=seed % 3 == 0)
    random = np.random.default_rng(seed)
    placements = list(feasible_placements(problem))
    if not placements:
        return
    worth = np.array([evaluate(problem, each).objective for each in placements])
    best = float(worth.min())
    incumbent = Incumbent(problem, ignore)
    # a start that is hardly worse: a bound that is too high by a little already hides the optimum
    incumbent.offer(placements[int(np.where(worth > best + 1e-6, worth, np.inf).argmin())], "start")
    form = class_form(problem)
    free = sorted(
        (c for c in range(form.n_classes) if (form.slots[c] > 0).sum() > 1), key=lambda c: -form.size[c]
    )
    if len(free) != 2:
        return
    fixed = [c for c in range(form.n_classes) if c not in free]
    tables = leader_tables(form, fixed, free[1], free[0])
    per_node = random.exponential(0.1, tables.left.shape) * (random.uniform(size=tables.left.shape) < 0.5)
    multipliers = Multipliers(
        rebate=float((per_node * tables.left).sum()),
        follower=per_node @ tables.follower_demand,
        leader=per_node @ tables.leader_demand,
        shifted=random.normal((-0.2, 0.2)[seed // 4 % 2], 0.02, tables.pair.shape),
    )

    assert LeaderSearch(tables, form, incumbent, multipliers).run(Work(Deadline.none(), math.inf))
    assert incumbent.objective == pytest.approx(best, abs=2 * OBJECTIVE_STEP)
    assert incumbent.bound <= best


@pytest.mark.parametrize("seed", [0, 1, 2, 6])
@pytest.mark.parametrize("few", [0, 4])
def test_the_search_with_multipliers_proves_the_optimum(
    feasible_placements: FeasiblePlacements, seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Multipliers are computed when the search without them needs more than its trial, here at once."""
    monkeypatch.setattr(two_classes, "TRIAL", -1)
    monkeypatch.setattr(leader_search, "FEW", few)
    problem, placements, best = layered_on_four(seed, feasible_placements)
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(placements[-1], "start")

    assert search_two_classes(class_form(problem), incumbent, Work(Deadline.none(), math.inf))
    assert incumbent.objective == pytest.approx(best, abs=2 * OBJECTIVE_STEP)
    assert incumbent.bound <= best


@pytest.mark.parametrize("looks", range(0, 40, 3))
def test_whenever_the_search_with_multipliers_ends_its_bound_is_true(
    feasible_placements: FeasiblePlacements, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deadline is looked at in every iteration over multipliers, too."""
    monkeypatch.setattr(two_classes, "TRIAL", -1)
    problem, placements, best = layered_on_four(6, feasible_placements)
    ticks = itertools.count()
    incumbent = Incumbent(problem, ignore)
    incumbent.offer(placements[-1], "start")
    work = Work(Deadline(lambda: float(next(ticks)), float(looks)), math.inf)
    search_two_classes(class_form(problem), incumbent, work)

    assert incumbent.bound <= best
    assert next(ticks) <= looks + 4


@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 6, 7, 8, 10, 14])
def test_the_solver_alone_finds_the_same_optimum(feasible_placements: FeasiblePlacements, seed: int) -> None:
    """Its program splits links between two classes by counts, and has potentials per place."""
    problem = layered(seed, 3, 2, 3)
    best = min((evaluate(problem, each).objective for each in feasible_placements(problem)), default=None)
    form, incumbent = class_form(problem), Incumbent(problem, ignore)
    context = Context(np.random.default_rng(0), Deadline.none())

    assert search_by_solver(form, form.slots > 0, incumbent, context, Deadline.none())
    if best is None:
        assert incumbent.placement is None
    else:
        assert incumbent.objective == pytest.approx(best, abs=2 * SOLVER_TOLERANCE)
        assert incumbent.bound <= best


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
