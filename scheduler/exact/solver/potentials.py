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
    from scheduler.exact.form.class_form import ClassForm
    from scheduler.exact.solver.model_builder import ModelBuilder
    from scheduler.exact.solver.program import Places

ROOM = 1.0 + 1e-9
"""What bounds of arrivals leave to rounding."""


def add_response(
    model: ModelBuilder,
    form: ClassForm,
    places: Sequence[Places],
    hops: Mapping[int, IntArray],
    scale: float,
) -> tuple[dict[int, int], dict[int, int]]:
    """Add R to the objective: the longest path of each graph, and the rows that keep it above all its paths.

    A class with one member has one potential, the arrival at it. One with several has a potential per
    place, since one for all would add up the longest hops of different members.

    Args:
        model: The program so far.
        form: The problem.
        places: Variables of each class.
        hops: Link variables (sources, 1, targets) by edge, of those between two classes of one member.
        scale: Units of the program's objective per unit of F.

    Returns:
        The row of the arrival behind each edge between two classes of one member, and that of the end of each
        class of one member from which nothing goes on.
    """
    behind: dict[int, int] = {}
    ends_of: dict[int, int] = {}
    single = form.size == 1
    latest = _latest(form, places)
    execution = [form.execution_ms[c, place.nodes] for c, place in enumerate(places)]
    graphs = form.graphs
    factor = np.array([form.response_factor / graphs.count * scale])
    # bounds that nothing needs but a proof from prices of rows (`LinearProgram.proved`)
    last = [latest[c][place.nodes] + execution[c] for c, place in enumerate(places)]
    longest = ROOM * max(float(each.max(initial=0.0)) for each in last)
    of_graph = model.variables(np.full(graphs.count, longest), factor, integer=False)
    response = [of_graph[k : k + 1] for k in graphs.member]
    arrival = [
        model.variables(np.full(1 if single[c] else len(place.nodes), longest), np.zeros(1), integer=False)
        for c, place in enumerate(places)
    ]
    critical = [(e, edge.source, edge.target) for e, edge in enumerate(form.edges) if edge.critical]
    goes_on = {a for _, a, _ in critical}
    # the longest path is at least the end of every path
    for c, place in enumerate(places):
        if c in goes_on:
            continue
        if single[c]:
            own_time = (place.level, -execution[c])
            ends_of[c] = model.row(0.0, np.inf, (response[c], 1.0), (arrival[c], -1.0), own_time)
        else:
            most = latest[c][place.nodes] + execution[c]
            own = ((response[c], 1.0), (arrival[c][:, None], -1.0), (place.used, -most[:, None]))
            model.rows(len(most), execution[c] - most, np.inf, *own)
    # arrivals behind an edge are late enough; a place of several members counts only while it is used
    for e, a, b in critical:
        start, end = places[a], places[b]
        delays = form.delay_ms[np.ix_(start.nodes, end.nodes)]
        spent = execution[a][:, None] + delays
        if single[a] and single[b]:
            way = ((start.level, -execution[a]), (hops[e], -delays))
            behind[e] = model.row(0.0, np.inf, (arrival[b], 1.0), (arrival[a], -1.0), *way)
        elif single[a]:
            ends = ((arrival[b][:, None], 1.0), (arrival[a], -1.0))
            model.rows(len(end.nodes), 0.0, np.inf, *ends, (start.level.T, -spent.T))
        elif single[b]:
            most = latest[a][start.nodes] + execution[a] + delays.max(axis=1, initial=0.0)
            ends = ((arrival[b], 1.0), (arrival[a][:, None], -1.0))
            way = ((end.level.T, -delays), (start.used, -most[:, None]))
            model.rows(len(most), execution[a] - most, np.inf, *ends, *way)
        else:
            most = latest[a][start.nodes][:, None] + spent
            k, j = (each.ravel() for each in np.indices(most.shape))
            ends = ((arrival[b][j, None], 1.0), (arrival[a][k, None], -1.0))
            used = (start.used[k], -most.reshape(-1, 1))
            model.rows(most.size, (spent - most).ravel(), np.inf, *ends, used)
    return behind, ends_of


def _latest(form: ClassForm, places: Sequence[Places]) -> list[FloatArray]:
    """Return per class (n_nodes,) an arrival that no placement on open nodes exceeds."""
    latest = [np.zeros(form.n_nodes) for _ in range(form.n_classes)]
    for c in form.order:
        for edge in form.edges:
            if edge.critical and edge.target == c:
                nodes = places[edge.source].nodes
                leave = (latest[edge.source] + form.execution_ms[edge.source])[nodes]
                reach = (leave[:, None] + form.delay_ms[nodes]).max(axis=0, initial=0.0)
                latest[c] = np.maximum(latest[c], reach)
    return latest
