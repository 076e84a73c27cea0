"""What single operators would add to F on other nodes, for any pairs of an operator and a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.linear_form import linear_form
from scheduler.model.link_table import BLOCK_VALUES
from scheduler.model.metrics.terms import DELAY

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.evaluation.critical_path import Potentials
    from scheduler.model.problem import Problem


class IncidentStreams:
    """The streams at every operator, and their factors in F.

    Memory: O(n_ops + n_streams), plus `BLOCK_VALUES` while pairs are looked at.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._incidence = problem.application.incidence
        self._form = linear_form(problem)
        self.by_path = self._form.path_factor

    def partners(self, count: int) -> IntArray:
        """Return (n_ops, count) the operators at the other ends of each one's heaviest streams.

        Weight is what a ms adds to F; then the rate counts. Fewer are repeated; without any, it is itself.
        """
        rate, known = self._problem.application.rate, self._incidence
        degree = np.diff(known.begins)[:, None]
        itself = np.repeat(np.arange(len(degree))[:, None], count, axis=1)
        if not len(known.partner):
            return itself
        _, owner = known.of(np.arange(len(degree)))
        per_ms = np.broadcast_to(self._form.delay_weight(), rate.shape)
        heaviest = np.lexsort((-rate[known.stream], -per_ms[known.stream], owner))
        place = known.begins[:-1, None] + np.arange(count) % np.maximum(degree, 1)
        partner = known.partner[heaviest][np.minimum(place, len(known.partner) - 1)]
        return np.where(degree > 0, partner, itself)

    def costs(
        self, placement: IntArray, paths: Potentials, operators: IntArray, nodes: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return what operators add to F but for R, and the longest path through them, if all others stay.

        Complexity: O(streams at the operators).

        Args:
            placement: (n_ops,) where all operators are.
            paths: Its longest paths.
            operators: (n_pairs,), any number of times each.
            nodes: (n_pairs,) a node for each.

        Returns:
            (n_pairs,) values in units of F, and (n_pairs,) in ms.
        """
        degree = np.diff(self._incidence.begins)[operators]
        linear, through = np.empty(len(operators)), np.empty(len(operators))
        # as many pairs at once as have BLOCK_VALUES streams together
        chunk = np.cumsum(degree) // BLOCK_VALUES
        cuts = np.flatnonzero(np.diff(chunk, prepend=-1)).tolist()
        for first, last in zip(cuts, [*cuts[1:], len(operators)], strict=True):
            part = slice(first, last)
            linear[part], through[part] = self._of_pairs(placement, paths, operators[part], nodes[part])
        return linear, through

    def _of_pairs(
        self, placement: IntArray, paths: Potentials, operators: IntArray, nodes: IntArray
    ) -> tuple[FloatArray, FloatArray]:
        network, application = self._problem.network, self._problem.application
        known = self._incidence
        entry, pair = known.of(operators)
        stream, partner, incoming = known.stream[entry], known.partner[entry], known.incoming[entry]
        here, there = nodes[pair], placement[partner]
        start, end = np.where(incoming, there, here), np.where(incoming, here, there)
        delay = network.delays.between(start, end)
        value = np.zeros(len(pair))
        for term in self._form.pairs:
            link = delay if term.slot == DELAY else term.table.between(start, end)
            value += term.weight[stream] * link
        linear = self._form.unary[operators, nodes] + np.bincount(pair, value, len(operators))
        if self._form.set_up is not None:
            count = np.bincount(placement, minlength=self._problem.n_nodes)
            alone = count[nodes] == (placement[operators] == nodes)
            linear += self._form.set_up[nodes] * alone
        critical = application.critical[stream]
        before = (paths.arrival_ms + paths.execution_ms)[partner] + delay
        after = (paths.departure_ms + paths.execution_ms)[partner] + delay
        through = application.execution_time_ms[operators] / network.speedup[nodes]
        for longest, counts in ((before, critical & incoming), (after, critical & ~incoming)):
            through = through + _most(pair, np.where(counts, longest, 0.0), len(operators))
        return linear, through


def _most(group: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Return (count,) the largest value of each group, 0 for none; groups ascend."""
    most = np.zeros(count)
    if len(values):
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        most[group[begins]] = np.maximum.reduceat(values, begins)
    return most
