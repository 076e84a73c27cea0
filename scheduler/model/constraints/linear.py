"""Linear constraints: sums over places and links, each at most a limit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, IntArray, frozen
from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.constraint import BLOCK, Rule
from scheduler.model.constraints.names import listed
from scheduler.model.use import nodes_in_use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class Charges:
    """What each choice adds to the rows: one row and one value per layer.

    A choice is a cell of the last two axes; it charges no row in two layers. Value 0 charges nothing.

    Attributes:
        row: (n_layers, k, m) row charged.
        value: (n_layers, k, m) what is added to it.
    """

    row: IntArray
    value: FloatArray

    @staticmethod
    def to_one_row(value: FloatArray) -> Charges:
        """Return charges (k, m) to a single row."""
        return Charges(np.zeros((1, *value.shape), dtype=np.int64), frozen(value[None].copy()))


@dataclass(frozen=True, eq=False)
class Links:
    """What streams charge by the link that they use.

    Attributes:
        weight: (n_streams,) factor of each stream (>= 0).
        group: (n_nodes,) group of each node; nodes of one group are alike, and links within it too.
        charges: Of a link from a node of one group (k) to one of another (m), >= 0.
    """

    weight: FloatArray
    group: IntArray
    charges: Charges


@dataclass(frozen=True, eq=False)
class LinearRows:
    """For every row r: charges of all operators' places, of all streams' links and of nodes in use <= most_r.

    In the variables of the model (eq. 17-22 of paper 000), with z_u for "node u is in use":
    sum_(i,u) a_r(i,u) x_(i,u) + sum_(s,u,v) weight_s b_r(u,v) y_(s,u,v) + sum_u c_r(u) z_u <= most_r.

    Attributes:
        most: (n_rows,).
        places: Of an operator (k) on a node (m), of any sign; None if there are none.
        links: None if there are none.
        used: (n_rows, n_nodes) charges >= 0 of nodes in use; None if there are none.
    """

    most: FloatArray
    places: Charges | None = None
    links: Links | None = None
    used: FloatArray | None = None


@dataclass(frozen=True, eq=False)
class LinearRule(Rule):
    """A constraint that is given by its rows alone.

    Attributes:
        kind: That of its record.
        problem: The problem.
        linear: The rows.
        subjects: What each row limits, such as ``the link between x and y``.
        unit: Of the rows.
    """

    kind: str
    problem: Problem
    linear: LinearRows
    subjects: tuple[str, ...]
    unit: str

    def rows(self) -> LinearRows:
        """Return the rows."""
        return self.linear

    def met(self, placements: IntArray) -> BoolArray:
        """Return (n_placements,) whether the charges of each placement keep to all limits.

        An operator without a node counts with the least that it may charge to each row.

        Complexity: O((n_ops + n_streams + n_rows) x n_placements) per layer.
        """
        step = max(1, BLOCK // max(len(self.linear.most), len(placements)))
        blocks = range(0, placements.shape[1], step)
        parts = [(self.load(placements[:, k : k + step]) <= self._limit).all(axis=0) for k in blocks]
        return np.concatenate(parts) if parts else np.ones(0, dtype=np.bool_)

    def met_after(self, placement: IntArray, operators: IntArray, nodes: IntArray) -> BoolArray:
        """Return (n_moves,) whether a placement keeps to all limits after each move, half the tolerance left.

        Only what the moved operators and their streams charge is summed anew.

        Complexity: O((number of rows + number of streams of its operator) x n_moves) per layer.
        """
        n_rows = len(self.linear.most)
        now = self.load(placement[:, None])[:, 0]
        limit = (self.linear.most + self._limit[:, 0]) / 2.0
        step = max(1, BLOCK // n_rows)
        parts = [
            np.all(
                now + self._change(placement, operators[k : k + step], nodes[k : k + step]) <= limit, axis=1
            )
            for k in range(0, len(nodes), step)
        ]
        return np.concatenate(parts) if parts else np.ones(0, dtype=np.bool_)

    def _change(self, placement: IntArray, operators: IntArray, nodes: IntArray) -> FloatArray:
        """Return (n_moves, n_rows) how each move changes what is charged."""
        count, n_rows = len(nodes), len(self.linear.most)
        change = np.zeros(count * n_rows)

        def add(move: IntArray, row: IntArray, value: FloatArray) -> None:
            nonlocal change
            change += np.bincount(move * n_rows + row, value, count * n_rows)

        every, here = np.arange(count), placement[operators]
        placed = here >= 0
        if self.linear.places is not None:
            for row, value in zip(self.linear.places.row, self.linear.places.value, strict=True):
                add(every, row[operators, nodes], value[operators, nodes])
                add(every, row[operators, here], -value[operators, here] * placed)
        if self.linear.links is not None:
            links, known = self.linear.links, self.problem.application.incidence
            entry, move = known.of(operators)
            other, into = placement[known.partner[entry]], known.incoming[entry]
            weight = links.weight[known.stream[entry]] * (other >= 0)
            beside = links.group[other]
            for at, sign in ((nodes, 1.0), (here, -1.0 * placed)):
                own = links.group[at][move]
                start, end = np.where(into, beside, own), np.where(into, own, beside)
                signed = weight * np.broadcast_to(sign, count)[move]
                for row, value in zip(links.charges.row, links.charges.value, strict=True):
                    add(move, row[start, end], value[start, end] * signed)
        total = change.reshape(count, n_rows)
        if self.linear.used is not None:
            others = np.bincount(placement[placement >= 0], minlength=self.problem.n_nodes)
            total += (self.linear.used[:, nodes] * (others[nodes] == 0)).T
            total -= (self.linear.used[:, here] * (placed & (others[here] == 1) & (here != nodes))).T
        # an operator that had no node counted with its least
        return total - self._least[operators] * ~placed[:, None]

    def load(self, placements: IntArray) -> FloatArray:
        """Return (n_rows, n_placements) the charges of placements (n_ops, n_placements)."""
        count, n_rows = placements.shape[1], len(self.linear.most)
        column = np.arange(count)
        total = np.zeros(n_rows * count)
        for row, value in chain(self._of_places(placements), self._of_links(placements)):
            total += np.bincount((row * count + column).ravel(), value.ravel(), n_rows * count)
        load = total.reshape(n_rows, count)
        if self.linear.used is not None:
            load += self.linear.used @ nodes_in_use(placements, self.problem.n_nodes)
        unplaced = placements < 0
        if unplaced.any():
            load += self._least.T @ unplaced
        return load

    def _of_places(self, placements: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield rows and values charged by operators, (n_ops, n_placements) each."""
        if self.linear.places is not None:
            operators, placed = np.arange(len(placements))[:, None], placements >= 0
            for row, value in zip(self.linear.places.row, self.linear.places.value, strict=True):
                yield row[operators, placements], value[operators, placements] * placed

    def _of_links(self, placements: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Yield rows and values charged by streams, (n_streams, n_placements) each."""
        links = self.linear.links
        if links is not None:
            source, target = self.problem.application.stream_source, self.problem.application.stream_target
            group, placed = links.group[placements], placements >= 0
            start, end = group[source], group[target]
            # a stream from an operator to itself never leaves its node
            weight = (links.weight * (source != target))[:, None] * (placed[source] & placed[target])
            for row, value in zip(links.charges.row, links.charges.value, strict=True):
                yield row[start, end], value[start, end] * weight

    @cached_property
    def _limit(self) -> FloatArray:
        most = self.linear.most[:, None]
        return frozen(most + TOLERANCE * np.maximum(1.0, np.abs(most)))

    @cached_property
    def _least(self) -> FloatArray:
        """(n_ops, n_rows) the least that each operator charges to each row, wherever it is allowed."""
        n_rows = len(self.linear.most)
        least = np.zeros((self.problem.n_ops, n_rows))
        if self.linear.places is not None:
            places = self.linear.places
            for i, allowed in enumerate(self.problem.allowed):
                least[i] = _least_charges(places.row[:, i, allowed], places.value[:, i, allowed], n_rows)
        return frozen(least)

    def conflict(self) -> str | None:
        """Return a row whose limit is below the least charges of all operators and streams together."""
        least = self._least.sum(axis=0) + self._least_of_streams() + self._least_of_use()
        for r in np.flatnonzero(least > self._limit[:, 0]).tolist():
            return (
                f"{self.subjects[r]} has {self.linear.most[r]:g} {self.unit}, "
                f"and every placement takes {least[r]:g} or more"
            )
        return None

    def _least_of_streams(self) -> FloatArray:
        """Return (n_rows,) the sum of the least that each stream charges, wherever its ends are allowed."""
        total = np.zeros(len(self.linear.most))
        links, application = self.linear.links, self.problem.application
        if links is None:
            return total
        groups = [np.unique(links.group[allowed]) for allowed in self.problem.node_sets.nodes]
        member = self.problem.node_sets.member
        known: dict[tuple[int, int], FloatArray] = {}
        for s in np.flatnonzero(links.weight).tolist():
            i, j = int(application.stream_source[s]), int(application.stream_target[s])
            if i == j:
                continue
            sets = int(member[i]), int(member[j])
            if sets not in known:
                part = np.ix_(np.arange(len(links.charges.row)), groups[sets[0]], groups[sets[1]])
                row, value = links.charges.row[part], links.charges.value[part]
                known[sets] = _least_charges(
                    row.reshape(len(row), -1), value.reshape(len(row), -1), len(total)
                )
            total += links.weight[s] * known[sets]
        return total

    def _least_of_use(self) -> FloatArray:
        """Return (n_rows,) the least that nodes in use charge: every operator is on one of its nodes."""
        if self.linear.used is None:
            return np.zeros(len(self.linear.most))
        sets = self.problem.node_sets.nodes
        least = [self.linear.used[:, nodes].min(axis=1) for nodes in sets if nodes.any()]
        return np.max(least, axis=0, initial=0.0) if least else np.zeros(len(self.linear.most))

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        """Return a sentence per exceeded limit, with the operators and streams that charge it."""
        load = self.load(placement[:, None])
        over = np.flatnonzero(load[:, 0] > self._limit[:, 0]).tolist()
        return tuple(
            f"{self.subjects[r]} has {self.linear.most[r]:g} {self.unit}, "
            f"{self._charging(placement, r)} take {load[r, 0]:g}"
            for r in over
        )

    def _charging(self, placement: IntArray, r: int) -> str:
        """Return the names of what charges a row."""
        application, column = self.problem.application, placement[:, None]

        def charging(charged: Iterator[tuple[IntArray, FloatArray]]) -> list[int]:
            hits = [np.flatnonzero((row[:, 0] == r) & (value[:, 0] != 0)).tolist() for row, value in charged]
            return sorted({hit for layer in hits for hit in layer})

        streams = [application.streams[s] for s in charging(self._of_links(column))]
        names = {
            "operators": [application.operators[i].name for i in charging(self._of_places(column))],
            "streams": [f"{each.source} -> {each.target}" for each in streams],
        }
        return " and ".join(f"{what} {listed(which)}" for what, which in names.items() if which)


def _least_charges(row: IntArray, value: FloatArray, n_rows: int) -> FloatArray:
    """Return (n_rows,) the least that one of some choices charges to each row.

    Args:
        row: (n_layers, n_choices).
        value: (n_layers, n_choices).
        n_rows: Number of rows.
    """
    charged = value != 0
    least = np.full(n_rows, np.inf)
    np.minimum.at(least, row[charged], value[charged])
    always = np.bincount(row[charged], minlength=n_rows) == row.shape[1]
    return np.where(always & np.isfinite(least), least, np.minimum(least, 0.0))
