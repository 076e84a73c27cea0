"""What the additive metrics of one problem are made of: values of places, and weights on link tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from scheduler.model.metrics.catalogue import ADDITIVE_METRICS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray
    from scheduler.model.link_table import LinkTable
    from scheduler.model.problem import Problem

DELAY = 0
"""Slot of the network's delays."""


class WeighedTable(NamedTuple):
    """A link term by the slot of its table.

    Attributes:
        slot: Position in `MetricTerms.tables`.
        weight: (n_streams,) factor of each stream; None means 1 each.
    """

    slot: int
    weight: FloatArray | None


@dataclass(frozen=True, eq=False)
class MetricTerms:
    """The terms of every additive metric of a problem, made once.

    Attributes:
        tables: Every link table once: delays, apart, then those that records name, in their order.
        places: By metric name, (n_nodes,) or (n_ops, n_nodes) values of places; missing where it has none but
            link terms.
        links: By metric name, its link terms.
        set_up: By metric name, (n_nodes,) charges of nodes in use; missing where it has none.
    """

    tables: tuple[LinkTable, ...]
    places: Mapping[str, FloatArray]
    links: Mapping[str, tuple[WeighedTable, ...]]
    set_up: Mapping[str, FloatArray]

    @staticmethod
    def of(problem: Problem) -> MetricTerms:
        """Ask the record of every metric."""
        tables: list[LinkTable] = [problem.network.delays, problem.network.apart]

        def slot(table: LinkTable) -> int:
            known = next((k for k, each in enumerate(tables) if each is table), None)
            if known is None:
                tables.append(table)
            return len(tables) - 1 if known is None else known

        places, links, set_up = {}, {}, {}
        for metric in ADDITIVE_METRICS:
            terms = metric.links(problem)
            links[metric.name] = tuple(WeighedTable(slot(term.table), term.weight) for term in terms)
            values = metric.places(problem)
            if values is not None or not terms:
                places[metric.name] = np.zeros(problem.n_nodes) if values is None else values
            charges = metric.set_up(problem)
            if charges is not None:
                set_up[metric.name] = charges
        return MetricTerms(tuple(tables), places, links, set_up)
