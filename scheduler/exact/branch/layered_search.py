"""Exact search over classes: members placed one after the other, cut by bounds; the last class at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.chains.chain_search import cheapest_of_equals
from scheduler.exact.form.slots import cheapest_counts, cheapest_sum
from scheduler.model.capacity import most_members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.work import Work
    from scheduler.contract.incumbent import Incumbent
    from scheduler.exact.branch.partial_paths import PartialPaths
    from scheduler.exact.branch.relaxed_form import RelaxedForm

CELLS = 400_000
"""Partial placements times nodes that are extended in one step."""


@dataclass(frozen=True, eq=False)
class Partials:
    """Partial placements with the same number of members placed.

    Attributes:
        at: (k, placed) nodes, in the order of placing.
        value: (k,) their own terms, charges for slots included.
        bound: (k,) F of no completion is below this.
    """

    at: IntArray
    value: FloatArray
    bound: FloatArray

    def chosen(self, which: IntArray | BoolArray | slice) -> Partials:
        """Return some of them."""
        return Partials(self.at[which], self.value[which], self.bound[which])


class LayeredSearch:
    """Depth-first over batches, breadth-first within.

    Of partial placements that take the same slots and look alike to all that follows, the cheapest goes on.
    The last class meets no unplaced neighbour: given all others its best counts are known at once.
    """

    def __init__(
        self, relaxed: RelaxedForm, paths: PartialPaths | None, order: Sequence[int], nodes: IntArray
    ) -> None:
        """Prepare the search.

        Args:
            relaxed: Bounds, swept towards the head of the order.
            paths: Response times of partial placements, or None if F has no response part beside the sums.
            order: Classes in the order of placing.
            nodes: (n_nodes,) of the form: where they are in the problem.
        """
        self.relaxed, self.paths, self.nodes = relaxed, paths, nodes
        self.form = form = relaxed.form
        self.last = order[-1]
        self.sequence = [c for c in order[:-1] for _ in range(int(form.size[c]))]
        alike: dict[tuple[float, ...], int] = {}
        self.kind_of = [alike.setdefault(tuple(amounts), len(alike)) for amounts in form.demand.tolist()]
        self._left: dict[tuple[int, int, int], float] = {}

    def run(self, incumbent: Incumbent, step: float, work: Work, width: int) -> float:
        """Search, offering what is better, and return a lower bound of F over all placements.

        Args:
            incumbent: Offered every better placement; its F cuts.
            step: Improvements of F smaller than this are not looked for.
            work: When to stop.
            width: Partial placements kept per step, the others are lost; for a first good placement.

        Returns:
            The incumbent's F less `step` if the search was complete, otherwise the least bound of what is
            left.
        """
        n = self.form.n_nodes
        root = Partials(
            np.zeros((1, 0), dtype=np.int64), np.full(1, self.relaxed.constant), np.full(1, -np.inf)
        )
        root = replace(root, bound=self._bounds(root))
        stack, lost = [root], np.inf
        while stack:
            live = stack.pop()
            live = live.chosen(live.bound < incumbent.objective - step)
            if len(live.value) == 0:
                continue
            if work.over():
                left = [live.bound.min(), *(each.bound.min() for each in stack)]
                lost = min(lost, float(min(left)))
                break
            most = max(1, CELLS // n)
            if len(live.value) > most:
                order = np.argsort(live.bound, kind="stable")
                if len(live.value) > width:
                    lost = min(lost, float(live.bound[order[width]]))
                    order = order[:width]
                stack += [live.chosen(order[k : k + most]) for k in range(0, len(order), most)][::-1]
                if len(order) > most:
                    continue
                live = stack.pop()
            work.add(len(live.value) * n)
            if live.at.shape[1] == len(self.sequence):
                lost = min(lost, self._finish(live, incumbent, step, work))
            else:
                children = self._extended(live, incumbent.objective - step, work)
                if len(children.value) > width:
                    order = np.argsort(children.bound, kind="stable")
                    lost = min(lost, float(children.bound[order[width]]))
                    children = children.chosen(order[:width])
                stack.append(children)
        return min(lost, incumbent.objective - step)

    def _extended(self, live: Partials, limit: float, work: Work) -> Partials:
        k = live.at.shape[1]
        c = self.sequence[k]
        costs = self._costs(live, c)
        room = self._room(self._load(live), c)
        open_nodes = room > 0
        if k and self.sequence[k - 1] == c:  # members of a class are exchangeable: nodes in ascending order
            open_nodes &= np.arange(self.form.n_nodes) >= live.at[:, -1][:, None]
        own = cheapest_sum(costs, room, 1)
        # taking another node costs at least the difference; more is found out below
        quick = live.bound[:, None] + np.where(self.form.size[c] == 1, costs - own[:, None], 0.0)
        parent, node = np.nonzero(open_nodes & (quick < limit))
        children = self._undominated(
            Partials(
                np.hstack([live.at[parent], node[:, None]]),
                live.value[parent] + costs[parent, node],
                live.bound[parent],
            )
        )
        most = max(1, CELLS // self.form.n_nodes)
        unplaced = self.form.n_classes - len(self._placed(k))
        bound = children.bound.copy()
        for first in range(0, len(children.value), most):
            if work.over():
                break  # the bounds of their parents hold for the others
            part = children.chosen(slice(first, first + most))
            bound[first : first + most] = np.maximum(part.bound, self._bounds(part))
            work.add(len(part.value) * self.form.n_nodes * unplaced)
        return replace(children, bound=bound).chosen(bound < limit)

    def _placed(self, k: int) -> dict[int, list[int]]:
        """Return the positions that members of each class take among the first k."""
        positions: dict[int, list[int]] = {}
        for position, c in enumerate(self.sequence[:k]):
            positions.setdefault(c, []).append(position)
        return positions

    def _costs(self, live: Partials, c: int) -> FloatArray:
        """Return (k, n_nodes) what a member of a class adds, pairs with placed members included."""
        placed = self._placed(live.at.shape[1])
        costs = np.tile(self.relaxed.unary[c], (len(live.value), 1))
        for e, other in self.relaxed.touching[c]:
            pairs = self.relaxed.pairs[e]
            table = pairs.T if self.form.edges[e].source == c else pairs
            for position in placed.get(other, ()):
                costs += table[live.at[:, position]]
        return costs

    def _load(self, live: Partials) -> FloatArray:
        """Return (k, n_nodes, n_resources) what the placed members ask for."""
        count, placed = live.at.shape
        n, demand = self.form.n_nodes, self.form.demand[self.sequence[:placed]]
        cell = (np.arange(count)[:, None] * n + live.at).ravel()
        load = np.zeros((count * n, demand.shape[1]))
        for r, amounts in enumerate(demand.T):
            load[:, r] = np.bincount(cell, np.tile(amounts, count), count * n)
        return load.reshape(count, n, demand.shape[1])

    def _room(self, load: FloatArray, c: int) -> FloatArray:
        """Return (k, n_nodes) slots left for a class."""
        left = most_members(self.form.demand[c], self.form.capacity - load)
        room: FloatArray = np.minimum(left, self.relaxed.room[c])
        return room

    def _bounds(self, live: Partials) -> FloatArray:
        """Return (k,) lower bounds of F."""
        size = self.form.size
        placed = self._placed(live.at.shape[1])
        rest = {c: int(size[c]) - len(placed.get(c, ())) for c in range(self.form.n_classes)}
        bound = live.value.copy()
        load = self._load(live)
        rooms = {c: self._room(load, c) for c, members in rest.items() if members}
        for c, room in rooms.items():
            ahead = room
            if rest[c] < size[c]:
                ahead = np.where(np.arange(self.form.n_nodes) >= live.at[:, -1][:, None], room, 0)
            bound += cheapest_sum(self._costs(live, c), ahead, rest[c])
        for e, edge in enumerate(self.form.edges):
            bound += self._left_over(e, rest[edge.source], rest[edge.target])
        if self.paths is not None:
            bound += self.form.response_factor * self.paths.least(live.at, placed, rest, rooms)
        return bound

    def _left_over(self, e: int, sources: int, targets: int) -> float:
        key = (e, sources, targets)
        if key not in self._left:
            self._left[key] = self.relaxed.left_over(*key)
        return self._left[key]

    def _undominated(self, live: Partials) -> Partials:
        if self.paths is not None or len(live.value) < 2:
            return live
        placed = self._placed(live.at.shape[1])
        done = {c for c, positions in placed.items() if len(positions) == self.form.size[c]}
        seen = [
            position
            for c, positions in placed.items()
            if c not in done or any(other not in done for _, other in self.relaxed.touching[c])
            for position in positions
        ]
        kinds = np.array([self.kind_of[c] for c in self.sequence[: live.at.shape[1]]])
        # the same slots are taken if members of equal demand are on the same nodes, whoever is where
        taken = [np.sort(live.at[:, kinds == kind], axis=1) for kind in np.unique(kinds)]
        return live.chosen(cheapest_of_equals(np.hstack([live.at[:, seen], *taken]), live.value))

    def _finish(self, live: Partials, incumbent: Incumbent, step: float, work: Work) -> float:
        """Place the last class in the best way, offer the best of all, and return the least bound left."""
        c, form = self.last, self.form
        members = int(form.size[c])
        # what was paid for slots comes back
        costs = self._costs(live, c) - self.relaxed.charge_of(c)
        load = self._load(live)
        room = self._room(load, c)
        paid = (load * self.relaxed.multipliers).sum(axis=(1, 2))
        credit = float((self.relaxed.multipliers * form.capacity).sum())
        value = live.value - paid + credit
        if self.paths is None:
            total = value + cheapest_sum(costs, room, members)
            best = int(total.argmin())
            self._offer(live, best, costs[best], room[best], incumbent)
            return math.inf
        placed = self._placed(live.at.shape[1])
        others, through = self.paths.through(live.at, placed, c)
        for k in np.argsort(live.bound, kind="stable"):
            if live.bound[k] >= incumbent.objective - step:
                break
            if work.over():
                return float(live.bound[k])
            best_sum, best_room = incumbent.objective - step, None
            least = float(value[k] + cheapest_sum(costs[k], room[k], members))
            for longest in np.unique(np.maximum(through[k][room[k] > 0], others[k])):
                response = form.response_factor * float(longest)
                if least + response >= best_sum:
                    break
                near = np.where(through[k] <= longest, room[k], 0)
                total_k = float(value[k] + cheapest_sum(costs[k], near, members)) + response
                if total_k < best_sum:
                    best_sum, best_room = total_k, near
            if best_room is not None:
                self._offer(live, int(k), costs[k], best_room, incumbent)
        return math.inf

    def _offer(
        self, live: Partials, k: int, costs: FloatArray, room: FloatArray, incumbent: Incumbent
    ) -> None:
        counts = np.zeros((self.form.n_classes, self.form.n_nodes), dtype=np.int64)
        for position, c in enumerate(self.sequence):
            counts[c, live.at[k, position]] += 1
        counts[self.last] = cheapest_counts(costs, room, int(self.form.size[self.last]))
        if counts[self.last].sum() == self.form.size[self.last]:
            incumbent.offer(self.nodes[self.form.placement(counts)], "search")
