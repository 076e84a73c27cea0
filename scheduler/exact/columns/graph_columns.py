"""All placements of one graph below a limit: columns of a problem whose graphs share nodes.

That a proof needs only the columns within the gap between a bound and a known solution, and that these are
few, is from R. Baldacci, N. Christofides, A. Mingozzi, "An exact algorithm for the vehicle routing problem
based on the set partitioning formulation with additional cuts", Mathematical Programming 115, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import require_time
from scheduler.exact.columns.partial import Partial
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.columns.prices import Prices
    from scheduler.exact.form.class_form import ClassForm


SOME_PER_ONE = 4
"""Partial columns that are looked at for one that may be kept, at most."""


@dataclass(frozen=True, eq=False)
class Columns:
    """Placements of a graph.

    Attributes:
        at: (k, n_members) nodes of the graph's classes, in its order.
        priced: (k,) cost under prices, without what nodes in use cost beside these.
        cost: (k,) what they add to F, without charges of nodes in use.
        load: (k, n_nodes, n_resources).
        used: (k, n_nodes) nodes with members.
    """

    at: IntArray
    priced: FloatArray
    cost: FloatArray
    load: FloatArray
    used: BoolArray

    def chosen(self, which: IntArray | BoolArray) -> Columns:
        """Return some of them."""
        return Columns(
            self.at[which], self.priced[which], self.cost[which], self.load[which], self.used[which]
        )


class GraphColumns:
    """Lists the columns of a graph, class by class along the streams.

    A bound for what is not placed yet comes from a weighting of the graph's paths, of which the longest is at
    least the mean (the weights are prices of streams), and from dynamic programming against the streams; the
    costs behind a class with several classes before it are shared among these.

    Args:
        form: The problem; each class has one member.
        graph: Which graph.
        open_places: (n_classes, n_nodes) places that columns may use.
        prices: Under which columns compete; perhaps several of places and of capacity, tried side by side.
        charge: (n_nodes,) what a node in use costs beside what prices of places and of capacity pay (>= 0);
            (n_trials, n_nodes) if there are several.

    Attributes:
        members: The graph's classes in order of placing.
        least: (n_trials,) cost under prices of no column is below.
    """

    def __init__(
        self, form: ClassForm, graph: int, open_places: BoolArray, prices: Prices, charge: FloatArray
    ) -> None:
        self.members = [c for c in form.order if form.graphs.member[c] == graph]
        position = {c: i for i, c in enumerate(self.members)}
        self._capacity, self._demand = form.capacity, form.demand[self.members]
        self._open = open_places[self.members]
        self._most = self._capacity + TOLERANCE - self._demand[:, None]
        self._cost = form.unary[self.members]
        capacity = prices.capacity.reshape(-1, *form.capacity.shape)
        place = prices.place.reshape(len(capacity), *form.slots.shape)[:, self.members]
        self._charge = charge.reshape(len(capacity), -1)
        # (n_trials, n_members, n_nodes), like what is ahead
        self._priced = self._cost + self._demand @ capacity.transpose(0, 2, 1) + place
        self._factor = form.response_factor / form.graphs.count
        self._execution_ms, self._delay_ms = form.execution_ms[self.members], form.delay_ms
        n = len(self.members)
        self._before: list[list[int]] = [[] for _ in range(n)]
        self._critical: set[tuple[int, int]] = set()
        self._pair: dict[tuple[int, int], FloatArray] = {}
        weight = {}
        for e, edge in enumerate(form.edges):
            if edge.source not in position:
                continue
            source, target = position[edge.source], position[edge.target]
            a, b = min(source, target), max(source, target)
            self._before[b].append(a)
            if edge.cost is not None:
                self._pair[a, b] = edge.cost if a == source else edge.cost.T
            if edge.critical:
                self._critical.add((a, b))
                weight[a, b] = prices.stream.get(e, 0.0)
        self._end = self._ends(prices.end[self.members])
        self._weight, through = self._flow(weight)
        self._share = {(a, b): self._share_of(a, b, through[b]) for b in range(n) for a in self._before[b]}
        self._table = {each: self._table_of(*each) for each in self._share}
        self._ahead = self._priced + through[:, None] * self._execution_ms
        for b in reversed(range(n)):
            for a in self._before[b]:
                behind = self._table[a, b] + self._share[a, b] * self._ahead[:, b, None]
                self._ahead[:, a] += behind[:, :, self._open[b]].min(axis=2)
        self._least = np.where(self._open, self._ahead, np.inf).min(axis=2)
        self.least: FloatArray = self._least[:, [not before for before in self._before]].sum(axis=1)

    def _ends(self, end: FloatArray) -> FloatArray:
        """Return (n_members,) weights of the paths that end at each class; together the weight of R."""
        goes_on = {a for a, _ in self._critical}
        ends = np.array([0.0 if i in goes_on else max(each, 0.0) for i, each in enumerate(end.tolist())])
        if ends.sum() <= 0.0:
            ends = np.array([float(i not in goes_on) for i in range(len(end))])
        scaled: FloatArray = ends * (self._factor / ends.sum())
        return scaled

    def _flow(self, weight: dict[tuple[int, int], float]) -> tuple[dict[tuple[int, int], float], FloatArray]:
        """Return a flow that leaves at the ends, split before each class as the weights say; and by class."""
        flow: dict[tuple[int, int], float] = {}
        through = self._end.copy()
        for b in reversed(range(len(self.members))):
            before = [a for a in self._before[b] if (a, b) in self._critical]
            total = sum(weight[a, b] for a in before)
            for a in before:
                flow[a, b] = through[b] * (weight[a, b] / total if total > 0.0 else 1.0 / len(before))
                through[a] += flow[a, b]
        return flow, through

    def _share_of(self, a: int, b: int, through: float) -> float:
        """Return the share of what is behind class b that is counted with class a."""
        if through > 0.0 and any((each, b) in self._critical for each in self._before[b]):
            return self._weight.get((a, b), 0.0) / through
        return 1.0 / len(self._before[b])

    def _table_of(self, a: int, b: int) -> FloatArray:
        table = self._weight.get((a, b), 0.0) * self._delay_ms
        pair = self._pair.get((a, b))
        return table if pair is None else table + pair

    def below(self, limit: float, most: int, deadline: Deadline) -> Columns | None:
        """Return all columns whose cost under prices, charges included, is at most a limit.

        Args:
            limit: See above.
            most: Partial columns to look at, at most, after each class.
            deadline: When to stop.

        Returns:
            The columns; None if there are too many.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        live = replace(Partial.nothing(self._capacity), bound=self.least)
        for i in range(len(self.members)):
            require_time(deadline)
            quick = self._quick(i, live)
            parent, node = np.nonzero(quick <= limit)
            if len(parent) > SOME_PER_ONE * most:
                return None
            live = self._extended(i, live, parent, node)
            if (keep := live.bound <= limit).sum() > most:
                return None
            live = live.chosen(keep)
        response = self.response(live.finish)
        good = live.priced + response <= limit
        live, response = live.chosen(good), response[good]
        priced = live.priced - live.used @ self._charge[0] + response
        return Columns(live.at, priced, self.cost_of(live.at, response), live.load, live.used)

    def behind(self, live: Partial, width: int) -> Partial:
        """Return placements with this graph behind others, the most promising ones of each trial.

        Args:
            live: Placements of other graphs, as many of each trial, in order; the cost is infinite where
                there was no room. So is the answer.
            width: How many of each trial are kept after each class (>= 1).
        """
        first, trials, n = live.at.shape[1], len(self.least), len(self._capacity)
        live = replace(live, bound=live.priced + self.least[live.trial])
        for i in range(len(self.members)):
            quick = self._quick(i, live).ravel()
            best = _least_of_each(quick, trials, 2 * width)  # the bound of each is found out below
            live = self._extended(i, live, *np.divmod(best, n))
            live.priced[quick[best] == np.inf] = live.bound[quick[best] == np.inf] = np.inf
            live = live.chosen(_least_of_each(live.bound, trials, width))
        response = np.where(live.bound < np.inf, self.response(live.finish[:, first:]), np.inf)
        return replace(live, priced=live.priced + response)

    def response(self, finish: FloatArray) -> FloatArray:
        """Return (k,) what R of the graph adds to F, of the ends of its classes (k, n_members)."""
        longest: FloatArray = self._factor * finish.max(axis=1)
        return longest

    def cost_of(self, at: IntArray, response: FloatArray) -> FloatArray:
        """Return (k,) what placements (k, n_members) add to F, without charges of nodes in use."""
        cost = response.copy()
        for i, node in enumerate(at.T):
            cost += self._cost[i, node]
            for a in self._before[i]:
                if (a, i) in self._pair:
                    cost += self._pair[a, i][at[:, a], node]
        return cost

    def _room(self, i: int, load: FloatArray) -> BoolArray:
        """Return (k, n_nodes) whether class i may be there beside loads (k, n_nodes, n_resources)."""
        room = np.broadcast_to(self._open[i], load.shape[:2])
        # resource by resource, as sums over a last axis of three take several times as long
        for r, most in enumerate(self._most[i].T):
            room = room & (load[:, :, r] <= most)
        return room

    def _by_trial(self, values: FloatArray, live: Partial) -> FloatArray:
        """Return (k or 1, n_nodes) values (n_trials, n_nodes) for each partial column."""
        return values if len(values) == 1 else values[live.trial]

    def _quick(self, i: int, live: Partial) -> FloatArray:
        """Return (k, n_nodes) what completions with class i there, all before it placed, cost at least."""
        first = live.at.shape[1] - i
        room = self._room(i, live.load)
        least = self._by_trial(self._ahead[:, i], live)
        for a in self._before[i]:
            least = least + self._table[a, i].take(live.at[:, first + a], axis=0)
        least = np.where(room, least, np.inf)
        own = least.min(axis=1, initial=np.inf)
        possible = own < np.inf
        before = np.where(possible, live.bound - np.where(possible, own, 0.0), np.inf)
        quick: FloatArray = before[:, None] + least
        return quick

    def _extended(self, i: int, live: Partial, parent: IntArray, node: IntArray) -> Partial:
        """Return the partial columns of some parents with class i on a node."""
        first = live.at.shape[1] - i
        at, finish = live.at[parent], live.finish[parent]
        arrival = np.zeros(len(node))
        trial = live.trial[parent]
        priced = live.priced[parent] + self._priced[trial, i, node]
        for a in self._before[i]:
            before = at[:, first + a]
            if (a, i) in self._critical:
                arrival = np.maximum(arrival, finish[:, first + a] + self._delay_ms[before, node])
            if (a, i) in self._pair:
                priced += self._pair[a, i][before, node]
        every = np.arange(len(node))
        load, used = live.load[parent], live.used[parent]
        priced += np.where(used[every, node], 0.0, self._charge[trial, node])
        load[every, node] += self._demand[i]
        used[every, node] = True
        more = Partial(
            np.column_stack([at, node]),
            np.column_stack([finish, arrival + self._execution_ms[i, node]]),
            priced,
            load,
            used,
            live.bound[parent],
            trial,
        )
        return replace(more, bound=self._bound(i + 1, more))

    def _bound(self, placed: int, live: Partial) -> FloatArray:
        """Return (k,) what no completion is below."""
        first = live.at.shape[1] - placed
        bound = live.priced.copy()
        for i in range(placed):
            if self._end[i] > 0.0:
                bound += self._end[i] * live.finish[:, first + i]
        for b in range(placed, len(self.members)):
            before = [a for a in self._before[b] if a < placed]
            if not self._before[b]:
                bound += self._least[live.trial, b]
            if not before:
                continue
            share = sum(self._share[a, b] for a in before)
            least = share * self._by_trial(self._ahead[:, b], live)
            for a in before:
                least = least + self._table[a, b].take(live.at[:, first + a], axis=0)
                if (a, b) in self._weight:
                    bound += self._weight[a, b] * live.finish[:, first + a]
            bound += np.where(self._room(b, live.load), least, np.inf).min(axis=1)
        return bound


def _least_of_each(values: FloatArray, trials: int, count: int) -> IntArray:
    """Return where the least values of each trial are, as many of each, in the order of trials."""
    by_trial = values.reshape(trials, -1)
    width = by_trial.shape[1]
    if width <= count:
        return np.arange(values.size)
    best = np.argpartition(by_trial, count - 1, axis=1)[:, :count]
    return (best + width * np.arange(trials)[:, None]).ravel()
