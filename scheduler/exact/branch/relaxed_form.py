"""Lower bounds of F by moving costs between operators and streams, and by multipliers of the capacities.

Moving costs is reparametrisation, in order along the operators: V. Kolmogorov, "Convergent tree-reweighted
message passing for energy minimization", IEEE TPAMI 28(10), 2006; survey: T. Werner, "A linear programming
approach to max-sum problem: a review", IEEE TPAMI 29(7), 2007.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE, Deadline
from scheduler.base.work import Work, require_time
from scheduler.exact.form.slots import cheapest_sum
from scheduler.model.capacity import most_members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm


class RelaxedForm:
    """The sum part of F, written so that the minima of its terms add up to a high lower bound.

    At any time, for every placement on open places that keeps the capacities,
    F - response part >= constant + sum n_(c,u) unary[c, u] + sum n_(a,u) n_(b,v) pairs[e][u, v], with
    equality up to the charges for slots that stay free. Moving costs between unary and pairs
    (reparametrisation) keeps that sum.

    Attributes:
        constant: What belongs to no decision, minus the charges for all slots.
        unary: (n_classes, n_nodes) per member.
        pairs: Per edge (n_nodes, n_nodes) per pair of members, source in rows.
        multipliers: (n_nodes, n_resources) charge for a unit of capacity (>= 0).
        room: (n_classes, n_nodes) slots open to each class.
    """

    def __init__(self, form: ClassForm, open_places: BoolArray, deadline: Deadline = NO_DEADLINE) -> None:
        """Copy the terms of a form.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        self.form = form
        self.constant = form.constant
        self.unary = form.unary.copy()
        self.pairs: list[FloatArray] = []
        self.multipliers = np.zeros(form.capacity.shape)
        self.room = np.where(open_places, form.slots, 0)
        self._between: dict[int, float] = {}
        self._beside: list[tuple[IntArray, ...]] = []
        for edge in form.edges:
            require_time(deadline)
            self.pairs.append(np.zeros_like(form.delay_ms) if edge.cost is None else edge.cost.copy())
            ends = ((edge.source, edge.target), (edge.target, edge.source))
            self._beside.append(tuple(self._room_beside(*each) for each in ends))
        self.touching: list[list[tuple[int, int]]] = [[] for _ in range(form.n_classes)]
        for e, edge in enumerate(form.edges):
            self.touching[edge.source].append((e, edge.target))
            self.touching[edge.target].append((e, edge.source))

    def restricted(
        self, nodes: IntArray, open_places: BoolArray, deadline: Deadline = NO_DEADLINE
    ) -> RelaxedForm:
        """Return the same on some nodes in the order given, with places (n_classes, len(nodes)) open.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        form = self.form.restricted(nodes, deadline)
        part = RelaxedForm(form, open_places & (self.room[:, nodes] > 0), deadline)
        dropped = np.setdiff1d(np.arange(self.form.n_nodes), nodes)
        # no member can pay for the slots of nodes that are left out
        part.constant = self.constant + float((self.multipliers * self.form.capacity)[dropped].sum())
        part.unary = self.unary[:, nodes]
        for e, pairs in enumerate(self.pairs):
            require_time(deadline)
            part.pairs[e] = pairs[np.ix_(nodes, nodes)]
        part.multipliers = self.multipliers[nodes]
        return part

    def charge(self, multipliers: FloatArray) -> None:
        """Set the multipliers of capacity."""
        change = multipliers - self.multipliers
        self.unary += self.form.demand @ change.T
        self.constant -= float((change * self.form.capacity).sum())
        self.multipliers = multipliers

    def charge_of(self, c: int) -> FloatArray:
        """Return (n_nodes,) what a member pays for its slot in `unary`."""
        paid: FloatArray = self.multipliers @ self.form.demand[c]
        return paid

    def minima(self, c: int) -> float:
        """Return the least sum of the unary terms of a class."""
        return float(cheapest_sum(self.unary[c], self.room[c], int(self.form.size[c])))

    def left_over(self, e: int, sources: int, targets: int) -> float:
        """Return a lower bound of what so many members at both ends of an edge add by pairs."""
        if sources == 0 or targets == 0:
            return 0.0
        edge = self.form.edges[e]
        ahead, back = self._beside[e]
        by_source = cheapest_sum(self.pairs[e], ahead, targets)
        by_target = cheapest_sum(self.pairs[e].T, back, sources)
        return max(
            float(cheapest_sum(by_source, self._finite(by_source, edge.source), 1)) * sources,
            float(cheapest_sum(by_target, self._finite(by_target, edge.target), 1)) * targets,
        )

    def bound(self) -> float:
        """Return the lower bound of F without the response part that is not in the sums."""
        size = self.form.size
        edges = self.form.edges
        for e, edge in enumerate(edges):
            if e not in self._between:
                self._between[e] = self.left_over(e, int(size[edge.source]), int(size[edge.target]))
        return (
            self.constant
            + sum(self.minima(c) for c in range(self.form.n_classes))
            + sum(self._between[e] for e in range(len(edges)))
        )

    def marginals(self, c: int, bound: float) -> FloatArray:
        """Return (n_nodes,) the bound if one member of a class is on each node; infinite on closed ones."""
        size = int(self.form.size[c])
        others = float(cheapest_sum(self.unary[c], self.room[c], size - 1))
        with_it = bound - self.minima(c) + others + self.unary[c]
        return np.where(self.room[c] > 0, with_it, np.inf)

    def sweep(self, order: Sequence[int], work: Work, marginals: FloatArray | None = None) -> None:
        """Move costs along all edges, class by class towards the end of the order.

        Args:
            order: All classes.
            work: When to stop half-way, which leaves valid sums.
            marginals: (n_classes, n_nodes) raised in place to the marginals met on the way.
        """
        position = {c: k for k, c in enumerate(order)}
        for c in order:
            if work.over():
                return
            for e, other in self.touching[c]:
                self._pull(e, c, other)
            if marginals is not None:
                marginals[c] = np.maximum(marginals[c], self.marginals(c, self.bound()))
            ahead = [(e, other) for e, other in self.touching[c] if position[other] > position[c]]
            if not ahead:
                continue
            share = self.unary[c] / len(ahead)
            for e, other in ahead:
                self.unary[c] = self.unary[c] - share
                per_pair = share / self.form.size[other]
                if self.form.edges[e].source == c:
                    self.pairs[e] += per_pair[:, None]
                else:
                    self.pairs[e] += per_pair[None, :]
                self._pull(e, other, c)

    def _pull(self, e: int, c: int, other: int) -> None:
        """Move to a class what its members pay at least over an edge."""
        self._between.pop(e, None)
        members = int(self.form.size[other])
        forward = self.form.edges[e].source == c
        ahead, back = self._beside[e]
        least = (
            cheapest_sum(self.pairs[e], ahead, members)
            if forward
            else cheapest_sum(self.pairs[e].T, back, members)
        )
        stuck = ~np.isfinite(least)
        if stuck.any():
            self.room[c, stuck] = 0
            least = np.where(stuck, 0.0, least)
        self.unary[c] = self.unary[c] + least
        if forward:
            self.pairs[e] -= least[:, None] / members
        else:
            self.pairs[e] -= least[None, :] / members

    def _finite(self, sums: FloatArray, c: int) -> IntArray:
        return np.where(np.isfinite(sums), self.room[c], 0)

    def _room_beside(self, first: int, second: int) -> IntArray:
        """Return (n_nodes, n_nodes) slots for the second class's members per node (row) of the first."""
        form = self.form
        room = np.tile(self.room[second], (form.n_nodes, 1))
        left = most_members(form.demand[second], form.capacity - form.demand[first])
        diagonal = np.arange(form.n_nodes)
        room[diagonal, diagonal] = np.minimum(room[diagonal, diagonal], np.minimum(left, form.size.max()))
        return room
