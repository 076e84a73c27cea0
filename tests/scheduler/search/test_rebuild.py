from __future__ import annotations

import numpy as np

from scheduler.deadline import Deadline
from scheduler.evaluation import check, evaluate
from scheduler.plan import plan
from scheduler.problem import Application, CoLocationLimit, Network, Node, Operator, Problem, Stream
from scheduler.search.proposals import candidate_lists
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
    return Problem(Application(operators, streams), Network(nodes, delay), limits=limits)


def test_runs_lie_between_junctions_and_pins() -> None:
    """Only operators that can move, with one predecessor and one successor; short runs do not count."""
    runs = runs_of(fork_and_run(0))

    assert [(run.operators.tolist(), run.before, run.after) for run in runs] == [([1, 2, 3, 4, 5, 6], 0, 8)]


def test_a_rebuilt_part_keeps_constraints_and_often_lowers_f() -> None:
    """Whatever part is free, operators outside of the run stay."""
    gained = 0
    for seed in range(6):
        problem = fork_and_run(seed)
        placement = plan(problem, "greedy").placement
        assert placement is not None
        rebuild = Rebuild(problem, candidate_lists(problem), np.random.default_rng(seed))
        assert rebuild.possible
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
