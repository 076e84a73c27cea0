"""Bandwidth of the links that nodes are joined by (paper 002, eq. 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np

from scheduler.base.checks import ModelError, one_of
from scheduler.model.capacity import TOLERANCE
from scheduler.model.constraints.bandwidth import UNIT
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links
from scheduler.model.constraints.room_on_routes import stuck_operator

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.network import Network
    from scheduler.model.problem import Problem
    from scheduler.model.underlay import Underlay

BandwidthSum = Literal["link", "pair"]
LINK = "the link "
"""Before the title of a link, where it is a subject."""


@dataclass(frozen=True)
class LinkBandwidth(Constraint):
    """Streams keep within the bandwidth of the links of their routes, both directions together.

    Attributes:
        total: What adds up: all streams whose route has a link (``link``), or only those between the same
            two nodes, within the narrowest link of their route (``pair``: eq. 3 and 4 as they are printed).
    """

    kind: ClassVar[str] = "link_bandwidth"

    total: BandwidthSum = "link"

    def __post_init__(self) -> None:
        one_of("total", self.total, ("link", "pair"))

    def rule(self, problem: Problem, where: str) -> LinkBandwidthRule | None:
        """Return a row per link, or per pair of nodes, that is limited; None if none is."""
        underlay = problem.network.underlay
        if underlay is None:
            raise ModelError(where, "the network names no links")
        row, most, subjects = (
            _by_link(underlay) if self.total == "link" else _by_pair(problem.network, underlay)
        )
        if not len(most):
            return None
        charges = Charges(np.maximum(row, 0), (row >= 0).astype(np.float64))
        flow = problem.application.rate * problem.application.tuple_bytes
        rows = LinearRows(most, links=Links(flow, np.arange(problem.n_nodes), charges))
        return LinkBandwidthRule(self.kind, problem, rows, subjects, UNIT, self.total)

    def within(self, network: Network) -> Self | None:
        """Return this if routes are known there."""
        return None if network.underlay is None else self


@dataclass(frozen=True, eq=False)
class LinkBandwidthRule(LinearRule):
    """Rows of links; streams that fit no route show at once that there is no placement.

    Attributes:
        total: That of its record.
    """

    total: BandwidthSum = "link"

    def conflict(self) -> str | None:
        """Return why no placement keeps to the limits, if single streams or sums of least charges show it."""
        return stuck_operator(self.problem) or super().conflict()


def _by_link(underlay: Underlay) -> tuple[IntArray, FloatArray, tuple[str, ...]]:
    """Return rows (n_layers, n_nodes, n_nodes) by route, -1 for none, their limits and subjects."""
    limited = np.flatnonzero(np.isfinite(underlay.bandwidth))
    number = np.full(len(underlay.links) + 1, -1)
    number[limited] = np.arange(len(limited))
    subjects = tuple(f"{LINK}{underlay.links[k].title}" for k in limited.tolist())
    return number[underlay.route], underlay.bandwidth[limited], subjects


def _by_pair(network: Network, underlay: Underlay) -> tuple[IntArray, FloatArray, tuple[str, ...]]:
    """Return the same with a row per pair of nodes."""
    narrowest = underlay.narrowest
    first, second = np.nonzero(np.triu(np.isfinite(narrowest), 1))
    row = np.full((1, *narrowest.shape), -1)
    row[0, first, second] = row[0, second, first] = np.arange(len(first))
    names = [node.name for node in network.nodes]
    ends = zip(first.tolist(), second.tolist(), strict=True)
    subjects = tuple(f"the route between {names[u]} and {names[v]}" for u, v in ends)
    return row, narrowest[first, second], subjects


def overfull_links(problem: Problem, placement: IntArray) -> list[tuple[str, float, float]]:
    """Return title, bytes/s and limit of every link that carries more than it may."""
    found = []
    for rule in problem.rules:
        if isinstance(rule, LinkBandwidthRule) and rule.total == "link":
            load, most = rule.load(placement[:, None])[:, 0], rule.linear.most
            over = np.flatnonzero(load > most + TOLERANCE * np.maximum(1.0, most)).tolist()
            found += [(rule.subjects[r].removeprefix(LINK), float(load[r]), float(most[r])) for r in over]
    return found
