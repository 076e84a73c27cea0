"""Bandwidth: how many bytes per second streams may send between two nodes, or in and out of a site."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from scheduler.base.checks import ModelError, name, number, shown
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links
from scheduler.model.constraints.names import node_of

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.network import Network
    from scheduler.model.problem import Problem

UNIT = "bytes/s"


@dataclass(frozen=True)
class PairBandwidth(Constraint):
    """Streams between two nodes send at most so much, both directions together.

    Attributes:
        first: Name of a node.
        second: Name of another one.
        bytes_per_s: Limit of the sum of rate x tuple size (>= 0).
    """

    kind: ClassVar[str] = "pair_bandwidth"

    first: str
    second: str
    bytes_per_s: float

    def __post_init__(self) -> None:
        name("first", self.first)
        if name("second", self.second) == self.first:
            raise ModelError("second", f"{shown(self.second)} is the first node too")
        object.__setattr__(self, "bytes_per_s", number("bytes_per_s", self.bytes_per_s))

    def rule(self, problem: Problem, where: str) -> LinearRule:
        """Return one row: the streams between the two nodes."""
        group = np.full(problem.n_nodes, 2)
        group[node_of(problem.network, self.first, f"{where}.first")] = 0
        group[node_of(problem.network, self.second, f"{where}.second")] = 1
        subject = f"the link between {self.first} and {self.second}"
        between = np.zeros((3, 3))
        between[[0, 1], [1, 0]] = 1.0
        rows = _rows(problem, self.bytes_per_s, group, between)
        return LinearRule(self.kind, problem, rows, (subject,), UNIT)

    def within(self, network: Network) -> Self | None:
        """Return this if both nodes are there."""
        return self if {self.first, self.second} <= network.index.keys() else None


@dataclass(frozen=True)
class UplinkBandwidth(Constraint):
    """Streams between a site and all other nodes send at most so much, both directions together.

    Attributes:
        site: Name of the site.
        bytes_per_s: Limit of the sum of rate x tuple size (>= 0).
    """

    kind: ClassVar[str] = "uplink_bandwidth"

    site: str
    bytes_per_s: float

    def __post_init__(self) -> None:
        name("site", self.site)
        object.__setattr__(self, "bytes_per_s", number("bytes_per_s", self.bytes_per_s))

    def rule(self, problem: Problem, where: str) -> LinearRule:
        """Return one row: the streams with one end at the site."""
        group = np.array([int(node.site == self.site) for node in problem.network.nodes])
        if not group.any():
            raise ModelError(f"{where}.site", f"{shown(self.site)} is the site of no node")
        rows = _rows(problem, self.bytes_per_s, group, 1.0 - np.eye(2))
        return LinearRule(self.kind, problem, rows, (f"the uplink of site {self.site}",), UNIT)

    def within(self, network: Network) -> Self | None:
        """Return this if a node of the site is there."""
        return self if any(node.site == self.site for node in network.nodes) else None


def _rows(problem: Problem, most: float, group: IntArray, between: np.ndarray) -> LinearRows:
    """Return one row that streams charge with their bytes per second times a value per pair of groups."""
    bandwidth = problem.application.rate * problem.application.tuple_bytes
    return LinearRows(np.array([most]), links=Links(bandwidth, group, Charges.to_one_row(between)))
