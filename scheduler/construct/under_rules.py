"""First-fit with backtracking, for problems with rules besides allowed nodes and capacities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import IntArray, windows
from scheduler.contract.strategy import Suggestion
from scheduler.model.capacity import fits, remaining
from scheduler.model.problem import UNPLACED, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scheduler.construct.first_fit import NodeOrder

WORK = 50_000
"""Operators times nodes that the further steps of a search may look at."""
ATTEMPTS = 4
"""Searches at most."""
FEWEST_STEPS_BACK = 20
"""Steps beyond one per operator that a search may take in any case."""


def place_under_rules(problem: Problem, order: NodeOrder, sequence: Sequence[int], reason: str) -> Suggestion:
    """Place operators in sequence, each on the first node where it fits and no rule is broken.

    Operators that can only move together come one after the other. Where an operator fits nowhere, the one
    before it goes to its next node, and so on (chronological backtracking), until `WORK` is done. Then the
    search begins anew with that operator first, a few times. One that ends before has tried everything, which
    proves that no placement exists.

    Complexity: O(n_nodes) placements checked per step.

    Args:
        problem: The problem.
        order: Nodes to try.
        sequence: All operators, in the order of placing.
        reason: Of a placement for which nothing had to be done anew.
    """
    steps = problem.n_ops + max(FEWEST_STEPS_BACK, WORK // (problem.n_ops * problem.n_nodes))
    for attempt in range(ATTEMPTS):
        search = _Search(problem, order, _gathered(problem, sequence))
        done = search.run(steps)
        if search.placement is not None:
            other = search.went_back or attempt > 0
            return Suggestion(search.placement, f"{reason}, after other tries" if other else reason)
        if done:
            break
        sequence = [search.deepest, *(i for i in sequence if i != search.deepest)]
    # a flow may prove at once, and say better, what the search has only begun to try
    proof = problem.infeasibility
    if proof is not None:
        return Suggestion(None, proof, proved=True)
    kinds = ", ".join(problem.rules.kinds)
    if done:
        return Suggestion(None, f"no placement meets all constraints ({kinds}): all were tried", proved=True)
    operator = problem.application.operators[search.deepest].name
    return Suggestion(
        None,
        f"no node was found for operator {operator} under the constraints ({kinds}), "
        "though it is not proved that none exists",
    )


def _gathered(problem: Problem, sequence: Sequence[int]) -> list[int]:
    """Return the sequence with the operators that belong together right after the first of them."""
    beside: dict[int, list[int]] = {}
    for members in problem.rules.together:
        for i in members.tolist():
            beside.setdefault(i, []).extend(members.tolist())
    place = {i: k for k, i in enumerate(sequence)}
    gathered: dict[int, None] = {}
    for i in sequence:
        waiting = [i]
        while waiting:
            j = waiting.pop()
            if j not in gathered:
                gathered[j] = None
                waiting += sorted(beside.get(j, []), key=place.__getitem__, reverse=True)
    return list(gathered)


class _Search:
    """A placement under construction, operator by operator.

    Attributes:
        placement: (n_ops,) the placement, once one is found.
        went_back: Whether any operator had to go to another node than its first.
        deepest: The operator farthest in the sequence that no node was found for.
    """

    def __init__(self, problem: Problem, order: NodeOrder, sequence: list[int]) -> None:
        self.placement: IntArray | None = None
        self.went_back = False
        self.deepest = sequence[0]
        self._problem, self._order, self._sequence = problem, order, sequence
        self._position = np.argsort(order.nodes)
        self._now = np.full(problem.n_ops, UNPLACED, dtype=np.int64)

    def run(self, most: int) -> bool:
        """Search for at most so many steps; return whether the search came to its end."""
        open_nodes: list[Iterator[int]] = [self._nodes(0)]
        farthest = 0
        for _ in range(most):
            depth = len(open_nodes) - 1
            operator = self._sequence[depth]
            self._now[operator] = UNPLACED
            node = next(open_nodes[-1], None)
            if node is None:
                if depth >= farthest:
                    farthest, self.deepest = depth, operator
                self.went_back = True
                open_nodes.pop()
                if not open_nodes:
                    return True
                continue
            self._now[operator] = node
            if depth + 1 == len(self._sequence):
                self.placement = self._now
                return True
            open_nodes.append(self._nodes(depth + 1))
        return False

    def _nodes(self, depth: int) -> Iterator[int]:
        """Yield the nodes for the next operator, in order; as a rule the first one is taken."""
        problem, operator = self._problem, self._sequence[depth]
        nodes = self._order.nodes
        if self._order.onward and depth:
            nodes = np.roll(nodes, -1 - int(self._position[self._now[self._sequence[depth - 1]]]))
        room = fits(problem.demand[operator], remaining(problem, self._now))
        nodes = nodes[(problem.allowed[operator] & room)[nodes]]
        for begin, until in windows(0, len(nodes)):
            some = nodes[begin:until]
            met = problem.rules.met_after(self._now, np.full(len(some), operator), some)
            yield from some[met].tolist()
