"""Response time in the program: potentials along the critical streams instead of paths (eq. 16).

The latest arrivals, too, are values per class and node, over all places of the class before, unlike those of
`scheduler.model.levels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm, Edge
    from scheduler.exact.solver.matrix_model import ModelBuilder
    from scheduler.exact.solver.program import Places


def add_response(
    model: ModelBuilder,
    form: ClassForm,
    places: Sequence[Places],
    hops: Mapping[int, IntArray],
    scale: float,
) -> None:
    """Add R to the objective, and the rows that keep it above the length of every path.

    A class with one member has one potential, the arrival at it. One with several has a potential per
    place, since one for all would add up the longest hops of different members.

    Args:
        model: The program so far.
        form: The problem.
        places: Variables of each class.
        hops: Link variables (sources, 1, targets) by edge, of those between two classes of one member.
        scale: Units of the program's objective per unit of F.
    """
    _Potentials(model, form, places, hops).add(scale)


class _Potentials:
    def __init__(
        self, model: ModelBuilder, form: ClassForm, places: Sequence[Places], hops: Mapping[int, IntArray]
    ) -> None:
        self.model, self.form, self.places, self.hops = model, form, places, hops
        self.single = form.size == 1

    def add(self, scale: float) -> None:
        form, model = self.form, self.model
        latest = self._latest()
        response = model.variables(
            np.array([np.inf]), np.array([form.response_factor * scale]), integer=False
        )
        arrival = [
            model.variables(
                np.full(1 if self.single[c] else len(place.nodes), np.inf), np.zeros(1), integer=False
            )
            for c, place in enumerate(self.places)
        ]
        goes_on = {edge.source for edge in form.edges if edge.critical}
        for c in range(form.n_classes):
            if c not in goes_on:
                self._leave(c, arrival[c], latest[c], response)
        for e, edge in enumerate(form.edges):
            if edge.critical:
                self._hop(edge, arrival, latest, self.hops.get(e))

    def _latest(self) -> list[FloatArray]:
        """Return per class (n_nodes,) an arrival that no placement on open nodes exceeds."""
        form = self.form
        latest = [np.zeros(form.n_nodes) for _ in range(form.n_classes)]
        for c in form.order:
            for edge in form.edges:
                if edge.critical and edge.target == c:
                    nodes = self.places[edge.source].nodes
                    leave = (latest[edge.source] + form.execution_ms[edge.source])[nodes]
                    reach = (leave[:, None] + form.delay_ms[nodes]).max(axis=0, initial=0.0)
                    latest[c] = np.maximum(latest[c], reach)
        return latest

    def _leave(self, c: int, arrival: IntArray, latest: FloatArray, response: IntArray) -> None:
        """Let R be at least the end of every path that ends in this class."""
        place, model = self.places[c], self.model
        execution = self.form.execution_ms[c, place.nodes]
        if self.single[c]:
            model.row(0.0, np.inf, (response, 1.0), (arrival, -1.0), (place.level, -execution))
            return
        for k, u in enumerate(place.nodes):
            most = float(latest[u] + execution[k])
            model.row(
                float(execution[k]) - most,
                np.inf,
                (response, 1.0),
                (arrival[k], -1.0),
                (place.used[k], -most),
            )

    def _hop(
        self,
        edge: Edge,
        arrival: list[IntArray],
        latest: list[FloatArray],
        flow: IntArray | None,
    ) -> None:
        """Let the arrivals of a critical edge's target be late enough."""
        a, b, model = edge.source, edge.target, self.model
        start = self.places[a]
        execution = self.form.execution_ms[a, start.nodes]
        delays = self._delays(edge)
        if flow is not None:
            model.row(
                0.0, np.inf, (arrival[b], 1.0), (arrival[a], -1.0), (start.level, -execution), (flow, -delays)
            )
        elif self.single[a]:
            for j in range(delays.shape[1]):
                spent = execution + delays[:, j]
                model.row(0.0, np.inf, (arrival[b][j], 1.0), (arrival[a], -1.0), (start.level, -spent))
        else:
            self._spread_hop(edge, arrival, latest, delays)

    def _spread_hop(
        self, edge: Edge, arrival: list[IntArray], latest: list[FloatArray], delays: FloatArray
    ) -> None:
        """The same from a class with several members: a place counts only while it is used."""
        a, b, model = edge.source, edge.target, self.model
        start, end = self.places[a], self.places[b]
        for k, u in enumerate(start.nodes):
            execution = float(self.form.execution_ms[a, u])
            if self.single[b]:
                most = float(latest[a][u] + execution + delays[k].max())
                model.row(
                    execution - most,
                    np.inf,
                    (arrival[b], 1.0),
                    (arrival[a][k], -1.0),
                    (end.level, -delays[k]),
                    (start.used[k], -most),
                )
                continue
            for j in range(len(end.nodes)):
                spent = execution + float(delays[k, j])
                most = float(latest[a][u]) + spent
                model.row(
                    spent - most,
                    np.inf,
                    (arrival[b][j], 1.0),
                    (arrival[a][k], -1.0),
                    (start.used[k], -most),
                )

    def _delays(self, edge: Edge) -> FloatArray:
        start, end = self.places[edge.source], self.places[edge.target]
        return self.form.delay_ms[np.ix_(start.nodes, end.nodes)]
