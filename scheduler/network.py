"""The network G_res: nodes joined by logical links (paper 000, section 3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.arrays import FloatArray, floats, frozen
from scheduler.checks import LARGEST, ModelError, name, number, quantities, shown, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

SLOWEST = 1e-9
"""Least speed-up; a smaller one makes execution times overflow."""


@dataclass(frozen=True)
class Node:
    """A node u of V_res; in Storm, a supervisor's host.

    Attributes:
        name: Unique within the network.
        capacity: C_u by resource name (>= 0): what is free for this application.
        speedup: S_u relative to the reference processor (at least 1e-9).
        availability: A_u, probability of being up, in (0, 1].
        site: Data centre or region, if known.
        cost: Price of running one operator here, in cost units (>= 0).
    """

    name: str
    capacity: Mapping[str, float]
    speedup: float = 1.0
    availability: float = 1.0
    site: str | None = None
    cost: float = 0.0

    def __post_init__(self) -> None:
        name("name", self.name)
        object.__setattr__(self, "capacity", quantities("capacity", self.capacity))
        object.__setattr__(self, "speedup", number("speedup", self.speedup, least=SLOWEST))
        object.__setattr__(
            self, "availability", number("availability", self.availability, above=0.0, most=1.0)
        )
        if self.site is not None:
            name("site", self.site)
        object.__setattr__(self, "cost", number("cost", self.cost))


@dataclass(frozen=True, eq=False)
class Network:
    """The nodes and the delay and availability of every ordered pair of them.

    Attributes:
        nodes: At least one.
        delay_ms: (n_nodes, n_nodes) d_(u,v), one way, from row to column; may be asymmetric, diagonal 0.
        link_availability: (n_nodes, n_nodes) A_(u,v) in (0, 1], diagonal 1; all 1 if not given.
        link_cost: (n_nodes, n_nodes) price of one stream on that link, in cost units, diagonal 0; all 0 if
            not given.
        index: Position of each node by name.
        speedup: (n_nodes,) S_u.
        availability: (n_nodes,) A_u.
        cost: (n_nodes,) price of one operator.
    """

    nodes: tuple[Node, ...]
    delay_ms: FloatArray
    link_availability: FloatArray | None = None
    link_cost: FloatArray | None = None
    index: Mapping[str, int] = field(init=False, repr=False)
    speedup: FloatArray = field(init=False, repr=False)
    availability: FloatArray = field(init=False, repr=False)
    cost: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        def put(attribute: str, value: object) -> None:
            object.__setattr__(self, attribute, value)

        put("nodes", tuple(self.nodes))
        if not self.nodes:
            raise ModelError("nodes", "expected at least one node")
        put("index", unique("nodes", [node.name for node in self.nodes]))
        count = len(self.nodes)
        put("delay_ms", _square("delay_ms", self.delay_ms, count, diagonal=0.0, most=LARGEST))
        if self.link_availability is not None:
            links = _square("link_availability", self.link_availability, count, diagonal=1.0, most=1.0)
            put("link_availability", links)
        if self.link_cost is not None:
            put("link_cost", _square("link_cost", self.link_cost, count, diagonal=0.0, most=LARGEST))
        put("speedup", floats([node.speedup for node in self.nodes]))
        put("availability", floats([node.availability for node in self.nodes]))
        put("cost", floats([node.cost for node in self.nodes]))


def delays_from_coordinates(coordinates: Sequence[Sequence[float]]) -> FloatArray:
    """Return the delay matrix of network coordinates with heights (Vivaldi).

    Args:
        coordinates: Per node ``[x, y, ..., height]``, all of one length >= 2, in ms.

    Returns:
        (n_nodes, n_nodes) in ms: Euclidean distance plus both heights, 0 on the diagonal.

    Raises:
        ModelError: A row has another length or holds no finite number; the place is ``[row][column]``.
    """
    rows: list[list[float]] = []
    for k, row in enumerate(coordinates):
        if not isinstance(row, list | tuple) or len(row) < 2 or len(row) != len(coordinates[0]):
            raise ModelError(f"[{k}]", f"expected [x, y, ..., height] like the others, got {shown(row)}")
        values = [number(f"[{k}][{c}]", value, least=-LARGEST) for c, value in enumerate(row)]
        number(f"[{k}][{len(row) - 1}]", values[-1])
        rows.append(values)
    points = np.array(rows, dtype=np.float64)
    distance = np.linalg.norm(points[:, None, :-1] - points[None, :, :-1], axis=2)
    delay: FloatArray = distance + points[:, -1][:, None] + points[:, -1][None, :]
    np.fill_diagonal(delay, 0.0)
    return delay


def _square(where: str, given: object, count: int, *, diagonal: float, most: float) -> FloatArray:
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
        if isinstance(row, np.ndarray) or {type(value) for value in row} <= {int, float}:
            values = np.array(row, dtype=np.float64)
            low = values <= above if above is not None else values < 0
            suspects = np.flatnonzero(~np.isfinite(values) | low | (values > most))
            yield from ((u, int(v)) for v in suspects)
        else:
            yield from ((u, v) for v in range(len(row)))
