"""Parts of a joint problem solved by columns: all that matter of each graph, then joined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.graph_columns import Columns, GraphColumns
from scheduler.exact.columns.joining import Shared, join
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.columns.prices import Prices
    from scheduler.exact.form.class_form import ClassForm


@dataclass(frozen=True, eq=False)
class PartOfColumns:
    """Placements to look at.

    Attributes:
        places: (n_classes, n_nodes) open places, at least one of each class.
        in_use: Nodes that are known to be in use.
    """

    places: BoolArray
    in_use: tuple[int, ...]


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
    form: ClassForm, part: PartOfColumns, prices: Prices, limit: float, *, most: int, deadline: Deadline
) -> ByColumns:
    """Return the best placement of a part, or what could be found out about it.

    Args:
        form: The problem, of which `has_columns` says that this can be done.
        part: See there.
        prices: Under which columns compete.
        limit: F of a known placement.
        most: Partial columns of a graph to look at, at most, after each class.
        deadline: When to stop.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    return _Solving(form, part, prices, limit).solve(most, deadline)


class _Solving:
    def __init__(self, form: ClassForm, part: PartOfColumns, prices: Prices, limit: float) -> None:
        self._form, self._limit = form, limit
        self._nodes = nodes = np.flatnonzero(part.places.any(axis=0))
        small, prices = form.restricted(nodes), prices.restricted(nodes)
        set_up = np.zeros(len(nodes)) if small.set_up is None else small.set_up
        # what is left of the charge of a node when capacity and places have paid their prices
        paid = (prices.capacity * (small.capacity + TOLERANCE)).sum(axis=1) + prices.place.sum(axis=0)
        in_use = np.isin(nodes, part.in_use)
        unpaid = np.where(in_use, 0.0, np.maximum(set_up - paid, 0.0))
        own = np.where(in_use, set_up - paid, np.minimum(set_up - paid, 0.0))
        self._constant = form.constant + float(own.sum())
        self._shared = Shared(small.capacity, set_up, unpaid)
        places = part.places[:, nodes]
        self._graphs = [GraphColumns(small, k, places, prices, unpaid) for k in range(form.graphs.count)]
        self._least = np.array([graph.least[0] for graph in self._graphs])
        self._room = limit - self._constant + form.rounding
        self._closer = part.places.copy()
        self._listed: dict[int, Columns] = {}

    def solve(self, most: int, deadline: Deadline) -> ByColumns:
        nothing = ByColumns(solved=True, bound=self._limit, places=np.zeros_like(self._closer))
        if not self._list(most, deadline):
            return nothing
        # what graphs pay at least is not shared, so that it adds up
        bound = self._constant + float(self._least.sum())
        if len(self._listed) < len(self._graphs):
            return ByColumns(solved=False, bound=bound, places=self._closer)
        columns = [self._listed[k] for k in range(len(self._graphs))]
        joined = join(columns, self._shared, self._room, deadline)
        if joined is None:
            return ByColumns(solved=False, bound=bound, places=self._closer)
        objective = self._form.constant + joined.cost
        if joined.which is None or objective >= self._limit:
            return nothing
        at = np.zeros(self._form.n_classes, dtype=np.int64)
        for graph, each, which in zip(self._graphs, columns, joined.which, strict=True):
            at[graph.members] = self._nodes[each.at[which]]
        return ByColumns(True, objective, self._closer, at, objective)

    def _list(self, most: int, deadline: Deadline) -> bool:
        """List the columns of the graphs, as far as they are few; return False if one has none.

        A graph that is listed is known to cost more, so that less is left for the others.
        """
        again = True
        while again:
            again = False
            for k, graph in enumerate(self._graphs):
                if k in self._listed:
                    continue
                columns = graph.below(self._room - float(np.delete(self._least, k).sum()), most, deadline)
                if columns is None:
                    continue
                if not len(columns.cost):
                    return False
                self._listed[k], again = columns, True
                self._least[k] = max(self._least[k], float(columns.priced.min()))
                for i, c in enumerate(graph.members):
                    self._closer[c] = False
                    self._closer[c, self._nodes[columns.at[:, i]]] = True
        return True
