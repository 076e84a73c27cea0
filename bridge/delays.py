"""One-way delays between hosts, degraded step by step: coordinates, site medians, site table, uniform."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from bridge.cluster import Host
    from bridge.readings import Coordinate, Readings
    from bridge.settings import NetworkSettings


class Provenance(IntEnum):
    """Where a delay comes from, best first."""

    COORDINATES = 0
    SITE_MEDIAN = 1
    SITE_TABLE = 2
    UNIFORM = 3


_PHRASE = {
    Provenance.SITE_MEDIAN: "by site median",
    Provenance.SITE_TABLE: "by site table",
    Provenance.UNIFORM: "uniform",
}


@dataclass(frozen=True, eq=False)
class Delays:
    """Delays of a round with their provenance.

    Attributes:
        delay_ms: (n_hosts, n_hosts) one way, 0 on the diagonal, the overhead of a hop included.
        provenance: (n_hosts, n_hosts) `Provenance` of each pair.
        hosts_by_provenance: Number of hosts by the best source that they have for a delay to any other host.
        error: Median relative error of the coordinates, None without any.
    """

    delay_ms: npt.NDArray[np.float64]
    provenance: npt.NDArray[np.int8]
    hosts_by_provenance: tuple[tuple[Provenance, int], ...]
    error: float | None

    def summary(self) -> str:
        """One phrase for status lines: `delays from coordinates 5/7 (error 8 %), 2 by site median`."""
        counts = dict(self.hosts_by_provenance)
        total = sum(counts.values())
        measured = counts.get(Provenance.COORDINATES, 0)
        error = "" if self.error is None else f" (error {self.error:.0%})".replace("%", " %")
        parts = [f"delays from coordinates {measured}/{total}{error}"]
        parts.extend(f"{counts[kind]} {_PHRASE[kind]}" for kind in _PHRASE if counts.get(kind))
        return ", ".join(parts)


def estimate_delays(hosts: Sequence[Host], readings: Readings, settings: NetworkSettings) -> Delays:
    """Compute the delay of every pair of hosts from the best source that both ends have.

    Args:
        hosts: Hosts of the round; delays keep their order.
        readings: Believed readings.
        settings: Site table, uniform delay, overhead of a hop.

    Returns:
        The matrix with the provenance of every pair.
    """
    count = len(hosts)
    coordinates = _one_dimension([_coordinate(host, readings) for host in hosts])
    delay = np.full((count, count), settings.unknown_delay_ms)
    provenance = np.full((count, count), Provenance.UNIFORM, dtype=np.int8)
    located = [index for index in range(count) if coordinates[index] is not None]
    measured = _coordinate_delays([coordinates[index] for index in located])
    members: dict[str, list[int]] = {}
    for index, host in enumerate(hosts):
        if host.site is not None:
            members.setdefault(host.site, []).append(index)
    table = {frozenset(entry.between): entry.delay_ms for entry in settings.site_delay}
    rank = {index: place for place, index in enumerate(located)}
    for site, rows in members.items():
        for other, columns in members.items():
            median = _site_median(
                measured,
                [rank[index] for index in rows if index in rank],
                [rank[index] for index in columns if index in rank],
            )
            block = np.ix_(rows, columns)
            if median is not None:
                delay[block], provenance[block] = median, Provenance.SITE_MEDIAN
            elif site == other:
                delay[block], provenance[block] = settings.local_delay_ms, Provenance.SITE_TABLE
            elif frozenset((site, other)) in table:
                delay[block], provenance[block] = table[frozenset((site, other))], Provenance.SITE_TABLE
    if located:
        block = np.ix_(located, located)
        delay[block], provenance[block] = measured, Provenance.COORDINATES
    delay += settings.hop_overhead_ms
    np.fill_diagonal(delay, 0.0)
    np.fill_diagonal(provenance, Provenance.COORDINATES)
    errors = [coordinate.error for coordinate in coordinates if coordinate is not None]
    return Delays(
        delay, provenance, _by_host(provenance, located), float(np.median(errors)) if errors else None
    )


def _coordinate(host: Host, readings: Readings) -> Coordinate | None:
    reading = readings.by_host.get(host.name)
    return None if reading is None else reading.coordinate


def _one_dimension(coordinates: Sequence[Coordinate | None]) -> list[Coordinate | None]:
    """Keep only coordinates of the most frequent dimension: others cannot be compared with them."""
    frequency = Counter(len(c.position_ms) for c in coordinates if c is not None)
    if not frequency:
        return list(coordinates)
    dimension = max(frequency, key=lambda size: (frequency[size], size))
    return [c if c is not None and len(c.position_ms) == dimension else None for c in coordinates]


def _coordinate_delays(coordinates: Sequence[Coordinate | None]) -> npt.NDArray[np.float64]:
    """Delays of all pairs of located hosts, (n_located, n_located) in ms: |xa - xb| + ha + hb."""
    present = [coordinate for coordinate in coordinates if coordinate is not None]
    if not present:
        return np.zeros((0, 0))
    position = np.array([coordinate.position_ms for coordinate in present])
    height = np.array([coordinate.height_ms for coordinate in present])
    distance = np.sqrt(((position[:, None, :] - position[None, :, :]) ** 2).sum(axis=2))
    return np.asarray(distance + height[:, None] + height[None, :], dtype=np.float64)


def _site_median(measured: npt.NDArray[np.float64], rows: list[int], columns: list[int]) -> float | None:
    """Median measured delay between the hosts of two sites, None if no pair of them is measured."""
    if not rows or not columns:
        return None
    block = measured[np.ix_(rows, columns)]
    different = np.array(rows)[:, None] != np.array(columns)[None, :]
    return float(np.median(block[different])) if different.any() else None


def _by_host(provenance: npt.NDArray[np.int8], located: Sequence[int]) -> tuple[tuple[Provenance, int], ...]:
    """Count hosts: with a coordinate, else by the best source of any of their delays to another host."""
    count = provenance.shape[0]
    has_coordinate = set(located)
    counts: Counter[Provenance] = Counter()
    for index in range(count):
        if index in has_coordinate:
            counts[Provenance.COORDINATES] += 1
            continue
        others = np.delete(provenance[index], index)
        counts[Provenance(int(others.min())) if others.size else Provenance.UNIFORM] += 1
    return tuple(sorted(counts.items()))
