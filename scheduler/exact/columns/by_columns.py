"""Parts of a joint problem solved by columns: all that matter of each graph, then joined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.graph_columns import Columns, GraphColumns
from scheduler.exact.columns.joining import join
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.columns.prices import Prices
    from scheduler.exact.form.class_form import ClassForm


@dataclass(frozen=True, eq=False)
class ByColumns:
    """What is known of a part.

    Attributes:
        solved: Whether nothing below the limit is left in it but what has been found.
        bound: F of nothing in it that is below the limit is below.
        places: (n_classes, n_nodes) what a placement below the limit may use.
        at: (n_classes,) nodes of the best placement, None if none is below the limit or none is known.
        objective: F of that.
    """

    solved: bool
    bound: float
    places: BoolArray
    at: IntArray | None = None
    objective: float = math.inf


def has_columns(form: ClassForm) -> bool:
    """Return whether columns can solve a form: no rules, one member per class, no node pays for its use."""
    charged = form.set_up is None or bool((form.set_up >= 0).all())
    return form.side is None and charged and bool((form.size == 1).all())


def solve_by_columns(
    form: ClassForm, places: BoolArray, in_use: IntArray, prices: Prices, limit: float, *,
    most: int, deadline: Deadline,
) -> ByColumns:
    """Return the best placement of a part, or what could be found out about it.

    Args:
        form: The problem, of which `has_columns` says that this can be done.
        places: (n_classes, n_nodes) open places, at least one of each class.
        in_use: Nodes that are known to be in use.
        prices: Under which columns compete.
        limit: F of a known placement.
        most: Partial columns of a graph to look at, at most, after each class.
        deadline: When to stop.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    nodes = np.flatnonzero(places.any(axis=0))
    part = form.restricted(nodes)
    set_up = np.zeros(len(nodes)) if part.set_up is None else part.set_up
    own = Prices_of(prices, nodes)
    # what is left of a node's charge when capacity and places have paid their prices
    left = set_up - (own.capacity * (part.capacity + TOLERANCE)).sum(axis=1) - own.place.sum(axis=0)
    known = np.isin(nodes, in_use)
    charge = np.where(known, 0.0, np.maximum(left, 0.0))
    constant = form.constant + float(np.where(known, left, np.minimum(left, 0.0)).sum())
    open_places = places[:, nodes]
    graphs = [GraphColumns(part, k, open_places, own, charge) for k in range(form.graphs.count)]
    least = np.array([graph.least for graph in graphs])
    listed: list[Columns | None] = [None] * len(graphs)
    room = limit - constant + form.rounding
    closer = places.copy()
    again = True
    while again and None in listed:
        again = False
        for k, graph in enumerate(graphs):
            if listed[k] is not None:
                continue
            columns = graph.below(room - (least.sum() - least[k]), most, deadline)
            if columns is None:
                continue
            if not len(columns.cost):
                return ByColumns(True, limit, np.zeros_like(places))
            listed[k], again = columns, True
            least[k] = max(least[k], float(columns.priced.min()))
            for i, c in enumerate(graph.members):
                closer[c] = False
                closer[c, nodes[columns.at[:, i]]] = True
    bound = constant + float(least.sum())
    complete = [each for each in listed if each is not None]
    if len(complete) < len(graphs):
        return ByColumns(False, bound, closer)
    joined = join(complete, part.capacity, set_up, charge, room, deadline)
    if joined is None:
        return ByColumns(False, bound, closer)
    objective = form.constant + joined.cost
    if joined.which is None or objective >= limit:
        return ByColumns(True, limit, np.zeros_like(places))
    at = np.zeros(form.n_classes, dtype=np.int64)
    for graph, columns, which in zip(graphs, complete, joined.which, strict=True):
        at[graph.members] = nodes[columns.at[which]]
    return ByColumns(True, objective, closer, at, objective)


def Prices_of(prices, nodes):
    from scheduler.exact.columns.prices import Prices
    return Prices(prices.capacity[nodes], prices.place[:, nodes], prices.stream, prices.end)
