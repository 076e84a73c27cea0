"""The network G_res: nodes joined by logical links (paper 000, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from formats.tier import TIERS
from scheduler.base.arrays import FloatArray, floats, frozen, plain_numbers
from scheduler.base.checks import (
    LARGEST,
    ModelError,
    distinct_names,
    name,
    number,
    one_of,
    quantities,
    shown,
    unique,
)
from scheduler.base.quantities import check_quantities, quantities_of, quantity
from scheduler.model.link_table import Apart, LinkTable, MatrixTable
from scheduler.model.underlay import Underlay, UnderlayLink

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SLOWEST = 1e-9
"""Least speed-up; a smaller one makes execution times overflow."""


@dataclass(frozen=True)
class Node:
    """A node u of V_res; in Storm, a supervisor's host.

    Attributes:
        name: Unique within the network.
        capacity: C_u by resource name (>= 0): what is free for this application; unlimited if not named.
        speedup: S_u relative to the reference processor (at least 1e-9).
        availability: A_u, probability of being up, in (0, 1].
        site: Data centre or region, if known.
        cost: Price of running one operator here, in cost units (>= 0); per second, where moves are priced.
        shared_pull_s: Time to load here what all operators share, once for all of them, s (>= 0).
        pull_mb_per_s: b_(M,u) of paper 001, rate at which images and state come here (>= 0); 0: not known.
        unit_cost: p_v of paper 002, price of one unit of the resource `load`, in cost units (>= 0).
        holds: Names of the operators whose images are here already, so that only state has to come with them.
        tier: One of `TIERS`, if known.
        relay: Whether it forwards what others send along links; None: unless it is of the edge.
    """

    name: str
    capacity: Mapping[str, float]
    speedup: float = quantity(1.0, least=SLOWEST, always_written=True)
    availability: float = quantity(1.0, above=0.0, most=1.0, always_written=True)
    site: str | None = None
    cost: float = quantity(0.0)
    shared_pull_s: float = quantity(0.0)
    pull_mb_per_s: float = quantity(0.0)
    unit_cost: float = quantity(0.0)
    holds: tuple[str, ...] = ()
    tier: str | None = None
    relay: bool | None = None

    def __post_init__(self) -> None:
        name("name", self.name)
        object.__setattr__(self, "capacity", quantities("capacity", self.capacity))
        check_quantities(self)
        if self.site is not None:
            name("site", self.site)
        if self.holds:
            object.__setattr__(self, "holds", distinct_names("holds", self.holds))
        if self.tier is not None:
            one_of("tier", self.tier, TIERS)
        if self.relay is not None and not isinstance(self.relay, bool):
            raise ModelError("relay", f"expected true or false, got {shown(self.relay)}")

    @property
    def relays(self) -> bool:
        """Whether it forwards what others send."""
        return self.tier != "edge" if self.relay is None else self.relay


NODE_QUANTITIES = quantities_of(Node)
"""What nodes have a number of; a network has a vector (n_nodes,) of each, under its name."""


class LinkQuantity(NamedTuple):
    """What a network may have a matrix (n_nodes, n_nodes) of, under this name.

    Attributes:
        name: Attribute of `Network`, argument of its constructor, and key in documents.
        diagonal: Value from a node to itself; 1 says that all are probabilities, in (0, 1].
        most: Largest permitted value.
    """

    name: str
    diagonal: float
    most: float = LARGEST


LINK_QUANTITIES = (
    LinkQuantity("link_availability", diagonal=1.0, most=1.0),
    LinkQuantity("link_cost", diagonal=0.0),
)


@dataclass(frozen=True, eq=False, init=False)
class Network:
    """The nodes and the delay, availability and cost of every ordered pair of them.

    Attributes:
        nodes: At least one.
        delays: d_(u,v) in ms, one way, from the first to the second node; may be asymmetric. Given as the
            argument `delay_ms`: a matrix (n_nodes, n_nodes) with diagonal 0, or `Coordinates`, which take no
            memory per pair. Copies of a network take over its `delays` instead.
        link_availability: (n_nodes, n_nodes) A_(u,v) in (0, 1], diagonal 1; all 1 if not given.
        link_cost: (n_nodes, n_nodes) price of one stream on that link, in cost units, diagonal 0; all 0 if
            not given.
        index: Position of each node by name.
        underlay: The links that nodes are joined by, if they are known; delays and costs of pairs are then
            those along the routes (`linked_network`).
        speedup: (n_nodes,) S_u.
        availability: (n_nodes,) A_u.
        cost: (n_nodes,) price of one operator.
        shared_pull_s: (n_nodes,) time to load what all operators share.
        pull_mb_per_s: (n_nodes,) rate at which images come.
        unit_cost: (n_nodes,) price of a unit of load.
    """

    nodes: tuple[Node, ...]
    delays: LinkTable
    link_availability: FloatArray | None = None
    link_cost: FloatArray | None = None
    underlay: Underlay | None = None
    index: Mapping[str, int] = field(init=False, repr=False)
    speedup: FloatArray = field(init=False, repr=False)
    availability: FloatArray = field(init=False, repr=False)
    cost: FloatArray = field(init=False, repr=False)
    shared_pull_s: FloatArray = field(init=False, repr=False)
    pull_mb_per_s: FloatArray = field(init=False, repr=False)
    unit_cost: FloatArray = field(init=False, repr=False)

    def __init__(
        self,
        nodes: Sequence[Node],
        delay_ms: FloatArray | LinkTable | None = None,
        link_availability: FloatArray | None = None,
        link_cost: FloatArray | None = None,
        delays: LinkTable | None = None,
        *,
        underlay: Underlay | None = None,
    ) -> None:
        def put(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        put("nodes", tuple(nodes))
        if not self.nodes:
            raise ModelError("nodes", "expected at least one node")
        put("index", unique("nodes", [node.name for node in self.nodes]))
        count = len(self.nodes)
        given = delays if delay_ms is None else delay_ms
        if not isinstance(given, LinkTable):
            given = MatrixTable(_square("delay_ms", given, count, 0.0, LARGEST))
        elif given.count != count:
            raise ModelError("coordinates", f"expected {count} rows, one per node, got {given.count}")
        put("delays", given)
        put("underlay", underlay)
        matrices = {"link_availability": link_availability, "link_cost": link_cost}
        for link in LINK_QUANTITIES:
            matrix = matrices[link.name]
            checked = None if matrix is None else _square(link.name, matrix, count, link.diagonal, link.most)
            put(link.name, checked)
        for quantity_name in NODE_QUANTITIES:
            put(quantity_name, floats([getattr(node, quantity_name) for node in self.nodes]))

    @cached_property
    def apart(self) -> Apart:
        """The link table that is 1 between distinct nodes."""
        return Apart(len(self.nodes))

    @cached_property
    def stream_costs(self) -> LinkTable:
        """What one stream costs between two nodes; the delay where no price is given, as in paper 002."""
        return self.delays if self.link_cost is None else MatrixTable(self.link_cost)

    @property
    def delay_ms(self) -> FloatArray:
        """(n_nodes, n_nodes) all delays, read-only; made from coordinates when first asked for.

        Raises:
            NetworkTooLargeError: There are only coordinates, for more than `link_table.LARGEST_MATRIX` nodes.
        """
        return self.delays.matrix()


def linked_network(nodes: Sequence[Node], links: Sequence[UnderlayLink]) -> Network:
    """Return a network whose delays and costs of pairs are the sums along the routes over its links.

    Raises:
        ModelError: See `Underlay.of`.
    """
    unique("nodes", [node.name for node in nodes])
    if not nodes:
        raise ModelError("nodes", "expected at least one node")
    underlay = Underlay.of(nodes, links)
    return Network(nodes, underlay.delay_ms, link_cost=underlay.along(underlay.cost), underlay=underlay)


def _square(where: str, given: object, count: int, diagonal: float, most: float) -> FloatArray:
    """Return a checked read-only copy of a matrix of the links; `diagonal` decides the lower bound too."""
    rows: Any = given if isinstance(given, np.ndarray | list | tuple) else ()
    if len(rows) != count:
        got = f"{len(rows)} rows" if isinstance(given, np.ndarray | list | tuple) else shown(given)
        raise ModelError(where, f"expected {count} rows, one per node, got {got}")
    for u, row in enumerate(rows):
        if not isinstance(row, np.ndarray | list | tuple) or len(row) != count:
            got = f"{len(row)}" if isinstance(row, np.ndarray | list | tuple) else shown(row)
            raise ModelError(f"{where}[{u}]", f"expected {count} values, one per node, got {got}")
    above = 0.0 if diagonal == 1.0 else None
    for u, v in _suspects(rows, above, most):
        number(f"{where}[{u}][{v}]", rows[u][v], above=above, most=most)
    matrix = np.array(rows, dtype=np.float64)
    for u in np.flatnonzero(matrix.diagonal() != diagonal).tolist():
        got = f"{matrix[u, u]:g}"
        raise ModelError(f"{where}[{u}][{u}]", f"expected {diagonal:g} on the diagonal, got {got}")
    return frozen(matrix)


def _suspects(rows: Sequence[Any], above: float | None, most: float) -> Iterator[tuple[int, int]]:
    """Yield every place that may hold no number within bounds; rows of plain good numbers cost little."""
    for u, row in enumerate(rows):
        values = plain_numbers(row)
        if values is None:
            yield from ((u, v) for v in range(len(row)))
        else:
            low = values <= above if above is not None else values < 0
            suspects = np.flatnonzero(~np.isfinite(values) | low | (values > most))
            yield from ((u, int(v)) for v in suspects)
