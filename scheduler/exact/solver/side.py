"""The problem's rules in the program: rows over its place and link variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm, SideRows
    from scheduler.exact.solver.model_builder import ModelBuilder
    from scheduler.exact.solver.program import Places
    from scheduler.model.constraints.linear import LinearRows

    Entries: TypeAlias = tuple[IntArray, IntArray, FloatArray]
    """Rows, variables and coefficients, of one shape."""


def add_side_rows(
    model: ModelBuilder,
    form: ClassForm,
    side: SideRows,
    places: Sequence[Places],
    links: Mapping[int, IntArray],
    *,
    used: IntArray | None = None,
) -> None:
    """Add the rows of all rules to a program whose classes have one operator each.

    Args:
        model: The program so far.
        form: The problem.
        side: The rows.
        places: Variables of each class.
        links: Link variables (sources, 1, targets) by edge.
        used: (n_nodes,) variables of nodes in use; None if no row charges these.
    """
    for rows in side.rows:
        entries = [*_of_places(rows, places), *_of_links(rows, form, side, places, links)]
        if rows.used is not None and used is not None:
            cells: IntArray = np.indices(rows.used.shape)
            entries.append((cells[0], used[cells[1]], rows.used))
        row, column, value = (
            np.concatenate([each[k].ravel() for each in entries] or [np.empty(0)]) for k in range(3)
        )
        # several streams may use the same variable
        key, cell = np.unique(np.stack([row, column]).astype(np.int64), axis=1, return_inverse=True)
        total: FloatArray = np.zeros(key.shape[1])
        np.add.at(total, cell.ravel(), value)
        begins = np.searchsorted(key[0], np.arange(len(rows.most) + 1))
        for r, most in enumerate(rows.most.tolist()):
            part = slice(begins[r], begins[r + 1])
            model.row(-np.inf, most, (key[1, part], total[part]))


def _of_places(rows: LinearRows, places: Sequence[Places]) -> Iterator[Entries]:
    if rows.places is None:
        return
    for i, place in enumerate(places):
        for row, value in zip(rows.places.row, rows.places.value, strict=True):
            yield row[i, place.nodes], place.level[:, 0], value[i, place.nodes]


def _of_links(
    rows: LinearRows,
    form: ClassForm,
    side: SideRows,
    places: Sequence[Places],
    links: Mapping[int, IntArray],
) -> Iterator[Entries]:
    if rows.links is None:
        return
    edges = {(edge.source, edge.target): e for e, edge in enumerate(form.edges)}
    group = rows.links.group
    for ends, weight in zip(side.ends.tolist(), rows.links.weight.tolist(), strict=True):
        source, target = ends
        if source == target or not weight:
            continue
        forward = (source, target) in edges
        flow = links[edges[source, target] if forward else edges[target, source]][:, 0, :]
        cell = np.ix_(group[places[source].nodes], group[places[target].nodes])
        for row, value in zip(rows.links.charges.row, rows.links.charges.value, strict=True):
            yield row[cell], flow if forward else flow.T, weight * value[cell]
