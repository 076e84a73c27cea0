from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.construct.near_nodes import candidate_lists
from scheduler.evaluation.evaluate import check, evaluate
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
from scheduler.plan import plan
from scheduler.search import rebuild as module
from scheduler.search.rebuild import Rebuild, runs_of

NEVER = Deadline.none()


def fork_and_run(seed: int) -> Problem:
    """a, pinned, feeds x and the run b..g, which both end in z; unequal demands; b and c never together."""
    random = np.random.default_rng(seed)
    operators = tuple(
        Operator(name, 1.0, {"slots": 2.0 if name == "e" else 1.0}, allowed=("n0",) if name == "a" else None)
        for name in "abcdefgxz"
    )
    pairs = ("ab", "bc", "cd", "de", "ef", "fg", "gz", "ax", "xz")
    streams = tuple(Stream(pair[0], pair[1]) for pair in pairs)
    nodes = tuple(Node(f"n{u}", {"slots": 2.0}) for u in range(12))
    delay = random.uniform(1.0, 30.0, (12, 12)) * (1.0 - np.eye(12))
    limits = (CoLocationLimit(("b", "c"), 1),)
    return Problem(Application(operators, streams), Network(nodes, delay), constraints=limits)


def test_runs_lie_between_junctions_and_pins() -> None:
    """Only operators that can move, with one predecessor and one successor; short runs do not count."""
    runs = runs_of(fork_and_run(0))

    assert [(run.operators.tolist(), run.before, run.after) for run in runs] == [([1, 2, 3, 4, 5, 6], 0, 8)]


def test_forks_joins_and_pins_part_runs_and_streams_to_oneself_do_not() -> None:
    """f forks, k joins, m is pinned; x and l are too short."""
    operators = tuple(
        Operator(name, allowed=("u",) if name in "am" else None) for name in "abcdefghijklmnopqx"
    )
    pairs = ("ab", "bc", "cc", "cd", "de", "ef", "fg", "fx", "gh", "hi", "ij", "jk", "xk", "kl", "lm", "mn")
    streams = tuple(Stream(pair[0], pair[1], critical=pair != "cc") for pair in (*pairs, "no", "op", "pq"))
    nodes = tuple(Node(name, {"slots": 20.0}) for name in "uv")
    problem = Problem(Application(operators, streams), Network(nodes, 1.0 - np.eye(2)))
    names = [each.name for each in operators]
    stated = [
        (
            "".join(names[i] for i in run.operators),
            None if run.before is None else names[run.before],
            None if run.after is None else names[run.after],
        )
        for run in runs_of(problem)
    ]

    assert stated == [("bcde", "a", "f"), ("ghij", "f", "k"), ("nopq", "m", None)]


def run_between_pins(seed: int, *, beside_ms: float) -> Problem:
    """a and f, pinned, with the run b..e between, and a path beside it that takes so long at least."""
    random = np.random.default_rng(seed)
    names = [f"n{u}" for u in range(4)]
    pins = {"a": ("n0",), "f": ("n1",), "g": ("n0",)}
    operators = tuple(
        Operator(
            name,
            beside_ms if name == "g" else float(random.uniform(1.0, 20.0)),
            allowed=pins.get(name, tuple(random.choice(names, 3, replace=False).tolist())),
        )
        for name in "abcdefg"
    )
    streams = tuple(
        Stream(pair[0], pair[1], float(random.uniform(1, 50)), float(random.uniform(1, 50)))
        for pair in ("ab", "bc", "cd", "de", "ef", "ag")
    )
    nodes = tuple(
        Node(name, {"slots": 3.0 if u == 0 else 2.0}, 1.0 + u % 2, float(random.uniform(0.9, 1.0)))
        for u, name in enumerate(names)
    )
    delay = random.uniform(1.0, 30.0, (4, 4)) * (1.0 - np.eye(4))
    weights = {"response_time": 0.4, "network_usage": 0.4, "availability": 0.2}
    return Problem(
        Application(operators, streams),
        Network(nodes, delay),
        Objective(weights, {"response_time": (0.0, 90.0)}),
    )


@pytest.mark.parametrize("beside_ms", [0.0, 1000.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_short_run_is_placed_at_best(seed: int, beside_ms: float) -> None:
    """With everything else where it is, whether the run is on the critical path or never; and stays so."""
    problem = run_between_pins(seed, beside_ms=beside_ms)
    choices = [np.flatnonzero(row).tolist() for row in problem.allowed]
    placements = [each for each in map(np.array, product(*choices)) if not check(problem, each)]
    placements.sort(key=lambda each: evaluate(problem, each).objective)
    least = evaluate(problem, placements[0]).objective
    for start in (placements[-1], placements[0]):
        rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(seed))
        before = start.copy()
        rebuilt = rebuild.rebuilt(start, NEVER, narrowed=False)

        assert check(problem, rebuilt) == ()
        assert evaluate(problem, rebuilt).objective == pytest.approx(least, abs=1e-9)
        assert (start == before).all()


@pytest.mark.parametrize("bound", ["LONGEST_PART", "MOST_NODES"])
@pytest.mark.parametrize("seed", range(3))
def test_parts_of_a_run_and_of_the_network_lower_f_too(
    monkeypatch: pytest.MonkeyPatch, seed: int, bound: str
) -> None:
    """A part begins and ends at operators of the same run, and what is used now is a candidate always."""
    monkeypatch.setattr(module, bound, 2)
    problem = run_between_pins(seed, beside_ms=0.0)
    choices = [np.flatnonzero(row).tolist() for row in problem.allowed]
    placements = (each for each in map(np.array, product(*choices)) if not check(problem, each))
    placement = max(placements, key=lambda each: evaluate(problem, each).objective)
    rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(seed))
    values = [evaluate(problem, placement).objective]
    for _ in range(8):
        placement = rebuild.rebuilt(placement, NEVER, narrowed=False)
        assert check(problem, placement) == ()
        values.append(evaluate(problem, placement).objective)

    assert values == sorted(values, reverse=True)
    assert values[-1] < values[0] or bound == "MOST_NODES"


def test_a_rebuilt_part_keeps_constraints_and_often_lowers_f() -> None:
    """Whatever part is free, operators outside of the run stay."""
    gained = 0
    for seed in range(6):
        problem = fork_and_run(seed)
        placement = plan(problem, "greedy").placement
        assert placement is not None
        rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(seed))
        assert rebuild.runs
        for narrowed in (True, True, False):
            rebuilt = rebuild.rebuilt(placement, NEVER, narrowed=narrowed)
            assert check(problem, rebuilt) == ()
            assert (rebuilt[[0, 7, 8]] == placement[[0, 7, 8]]).all()
            gain = evaluate(problem, placement).objective - evaluate(problem, rebuilt).objective
            gained += gain > 0
            placement = rebuilt if gain > 0 else placement

    assert gained >= 4


def test_without_time_nothing_changes() -> None:
    """A deadline that has come leaves the placement as it is."""
    problem = fork_and_run(0)
    placement = plan(problem, "greedy").placement
    assert placement is not None
    rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(0))

    rebuilt = rebuild.rebuilt(placement, Deadline(lambda: 1.0, at=0.0), narrowed=False)
    assert (rebuilt == placement).all()


@pytest.mark.parametrize("seed", range(6))
def test_parts_are_rebuilt_under_rules(seed: int) -> None:
    """Bounds know nothing of operators that share a node; what breaks that is not taken."""
    problem = fork_and_run(seed)
    problem = replace(problem, constraints=(*problem.constraints, CoLocation(("c", "x"))))
    placement = plan(problem, "even").placement
    assert placement is not None
    rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(seed))
    for narrowed in (False, True, True, True):
        placement = rebuild.rebuilt(placement, NEVER, narrowed=narrowed)
        assert check(problem, placement) == ()
