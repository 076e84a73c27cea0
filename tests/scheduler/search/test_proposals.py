from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.batch import BatchConstraints
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.separation import CoLocationLimit
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.search.descent import Descent
from scheduler.search.proposals import Proposals

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


def chain_of_eight() -> Problem:
    """Eight operators in a row, two on a node at most; b and c never on one node; d not everywhere."""
    operators = tuple(
        Operator(name, allowed={"a": ("n0",), "d": ("n1", "n2", "n3")}.get(name)) for name in "abcdefgh"
    )
    streams = tuple(Stream(a, b) for a, b in zip("abcdefg", "bcdefgh", strict=True))
    nodes = tuple(Node(f"n{u}", {"slots": 2.0}) for u in range(7))
    delay = np.random.default_rng(0).uniform(1.0, 9.0, (7, 7)) * (1.0 - np.eye(7))
    limits = (CoLocationLimit(("b", "c"), 1),)
    return Problem(Application(operators, streams), Network(nodes, delay), constraints=limits)


@pytest.mark.parametrize("case", ["chain", 0, 1, 2, 3])
def test_valid_changes_keep_all_constraints_and_change_something(
    make_problem: MakeProblem, case: int | str
) -> None:
    """Whatever kind is drawn: pins stay, nothing is over-full, and no valid change leaves all as it was."""
    problem = chain_of_eight() if isinstance(case, str) else make_problem(case, 12, 9)
    start = plan(problem, "greedy").placement
    assert start is not None
    placements = np.repeat(start[:, None], 8, axis=1)
    proposals = Proposals(problem, BatchConstraints(problem), np.random.default_rng(0))
    moved = np.zeros(problem.n_ops, dtype=np.int64)
    for _ in range(300):
        changed, valid = proposals.draw(placements)
        for column in np.flatnonzero(valid):
            assert check(problem, changed[:, column].copy()) == ()
            assert (changed[:, column] != placements[:, column]).any()
        moved += ((changed != placements) & valid).sum(axis=1)
        placements = np.where(valid, changed, placements)

    assert ((moved > 0) == (problem.allowed.sum(axis=1) > 1)).all()


def test_where_nothing_can_move_nothing_is_movable() -> None:
    """A single node, or pins only."""
    pinned = (Operator("a", allowed=("x",)), Operator("b", allowed=("y",)))
    nodes = (Node("x", {"slots": 1.0}), Node("y", {"slots": 1.0}))
    for problem in (
        Problem(Application(pinned), Network(nodes, np.zeros((2, 2)))),
        Problem(Application((Operator("a"),)), Network(nodes[:1], np.zeros((1, 1)))),
    ):
        assert not problem.movable.any()


def test_operators_that_share_a_node_move_together() -> None:
    """c and g can leave n1 for n4 only without d, so not with all that is on n1, and not one by one."""
    problem = chain_of_eight()
    nodes = tuple(replace(each, capacity={"slots": 3.0}) for each in problem.network.nodes)
    network = replace(problem.network, nodes=nodes, delays=problem.network.delays)
    problem = replace(problem, network=network, constraints=(CoLocation(("c", "g")),))
    placements = np.repeat(np.array([0, 2, 1, 1, 2, 3, 1, 3])[:, None], 8, axis=1)
    proposals = Proposals(problem, BatchConstraints(problem), np.random.default_rng(0))
    used: set[int] = set()
    for _ in range(100):
        changed, valid = proposals.draw(placements)
        assert (changed[2] == changed[6])[valid].all()
        used |= set(changed[2, valid].tolist())

    assert used == set(range(7))


def test_operators_that_share_the_node_of_a_pinned_one_stay_there() -> None:
    """In random changes and in descents, where all that is not pinned may run everywhere."""
    operators = (Operator("a"), Operator("b", allowed=("n0",)), Operator("c"))
    nodes = (*(Node(f"n{u}", {"slots": 2.0}) for u in range(2)), Node("n2", {"slots": 3.0}))
    problem = Problem(
        Application(operators, (Stream("a", "b"), Stream("b", "c"))),
        Network(nodes, 9.0 * (1.0 - np.eye(3))),
        constraints=(CoLocation(("b", "c")),),
    )
    start = np.array([2, 0, 0])
    descent = Descent(problem, start, np.arange(3))
    descent.run(Deadline(lambda: 0.0, 1.0))
    assert check(problem, descent.placement) == ()

    proposals = Proposals(problem, BatchConstraints(problem), np.random.default_rng(0))
    for _ in range(100):
        changed, valid = proposals.draw(np.repeat(start[:, None], 8, axis=1))
        assert (changed[1:, valid] == 0).all()
