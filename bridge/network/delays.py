"""One-way delays between hosts from the best source of each pair.

Direct links, else coordinates, else the median between the two sites, else the site table, else uniform.
Fresh direct links between the same two sites correct coordinates and outdated links.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.delay_errors import estimate_errors
from bridge.network.embedding import judge_embedding
from bridge.network.links import NO_LINKS
from bridge.network.site_levels import level_by_sites
from bridge.network.site_medians import site_indices, site_medians
from bridge.readings.believed import LEAST_AVAILABILITY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from bridge.network.cluster import Host
    from bridge.network.delay_errors import DelayErrors
    from bridge.network.embedding import Embedding
    from bridge.network.links import Links
    from bridge.network_settings import NetworkSettings
    from bridge.readings.believed import Coordinate, Readings
    from scheduler.base.arrays import FloatArray, IntArray

# A cluster whose hosts disagree in thousands of pairs needs no list of them.
_CONTRADICTIONS_NAMED = 20


class Provenance(IntEnum):
    """Where a delay comes from, best first."""

    MEASURED = 0
    COORDINATES = 1
    SITE_MEDIAN = 2
    SITE_TABLE = 3
    UNIFORM = 4


_PHRASE = {
    Provenance.MEASURED: "by direct links",
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
        hosts_by_provenance: Number of hosts by the best source that they have for their delays to others;
            one with a coordinate counts there even if it has direct links too.
        error: Median relative error that hosts estimate of their coordinates, None without any.
        links: Direct links.
        measured_pairs: Number of pairs of hosts whose delay is that of a fresh direct link.
        outdated_pairs: Number of pairs whose direct link is outdated by fresher ones between the same sites.
        embedding: How well coordinates agree with direct links.
        site: (n_hosts,) site of each host as an index, `n_sites` if unknown.
        n_sites: Number of sites.
        errors: How far delays are off.
    """

    delay_ms: FloatArray
    provenance: npt.NDArray[np.int8]
    hosts_by_provenance: tuple[tuple[Provenance, int], ...]
    error: float | None
    links: Links
    measured_pairs: int
    outdated_pairs: int
    embedding: Embedding
    site: IntArray
    n_sites: int
    errors: DelayErrors

    def error_ms(self, hosts: IntArray) -> FloatArray:
        """Return (k, k) standard errors of the delays between some hosts, (k,); 0 where none is known."""
        block = np.ix_(hosts, hosts)
        source = self.provenance[block]
        share = np.zeros(source.shape)
        share[source == Provenance.MEASURED] = self.errors.of_links
        share[(source == Provenance.COORDINATES) | (source == Provenance.SITE_MEDIAN)] = self.errors.of_others
        return np.asarray(share * self.delay_ms[block], dtype=np.float64)

    def sources(self) -> str:
        """One phrase without what noise changes: `delays from coordinates 5/7, 2 by site median`."""
        counts = dict(self.hosts_by_provenance)
        total = sum(counts.values())
        if self.embedding.trusted:
            located = f"from coordinates {counts.get(Provenance.COORDINATES, 0)}/{total}"
        else:
            located = "not from coordinates, which contradict direct links"
        return ", ".join([f"delays {located}", *self._by_other_sources(counts)])

    def summary(self) -> str:
        """One phrase with all figures: `delays from coordinates 5/7 (error 8 %), 2 by site median`."""
        counts = dict(self.hosts_by_provenance)
        total = sum(counts.values())
        direct = ""
        if self.measured_pairs or self.outdated_pairs:
            outdated = f" ({self.outdated_pairs} outdated)" if self.outdated_pairs else ""
            direct = f"measured for {self.measured_pairs}/{total * (total - 1) // 2} pairs{outdated}, "
        if self.embedding.trusted:
            located = counts.get(Provenance.COORDINATES, 0)
            error = "" if self.error is None else f" (error {_percent(self.error)})"
            direct += f"from coordinates {located}/{total}{error}"
        elif self.embedding.error is not None:
            direct += (
                f"not from coordinates (median error {_percent(self.embedding.error)} "
                f"over {self.embedding.pairs} pairs)"
            )
        return ", ".join([f"delays {direct}", *self._by_other_sources(counts)])

    @staticmethod
    def _by_other_sources(counts: Mapping[Provenance, int]) -> list[str]:
        return [f"{counts[kind]} {_PHRASE[kind]}" for kind in _PHRASE if counts.get(kind)]

    @property
    def unknown(self) -> bool:
        """Whether nothing at all is known of any pair of hosts: the same guess stands for all."""
        return all(source is Provenance.UNIFORM for source, _ in self.hosts_by_provenance)

    @property
    def faults(self) -> tuple[str, ...]:
        """What is contradictory, one phrase each."""
        found = self.links.contradictions
        faults = [f"{one} and {other} measure different delays to each other" for one, other in found]
        if len(faults) > _CONTRADICTIONS_NAMED:
            # Without their number, which changes: the log would name it in every round.
            faults = [*faults[:_CONTRADICTIONS_NAMED], "further pairs contradict each other"]
        if not self.embedding.trusted:
            faults.insert(0, "coordinates contradict direct links: medians between sites stand in for them")
        return tuple(faults)

    @cached_property
    def link_availability(self) -> FloatArray | None:
        """(n_hosts, n_hosts) probability that each link is up, 1 on the diagonal; None if none is measured.

        A pair that is not probed has the median between its sites, else of all pairs: with 1 in its place
        links that no one probes would be the best ones.
        """
        pairs = self.links.availability
        if not len(pairs.value):
            return None
        known = np.full(self.delay_ms.shape, np.nan)
        pairs.write_to(known)
        np.fill_diagonal(known, 1.0)
        medians = site_medians(known, self.site, self.n_sites)
        medians[np.isnan(medians)] = np.median(pairs.value)
        rows, columns = np.nonzero(np.isnan(known))
        known[rows, columns] = medians[self.site[rows], self.site[columns]]
        return np.asarray(np.maximum(known, LEAST_AVAILABILITY), dtype=np.float64)


def estimate_delays(
    hosts: Sequence[Host], readings: Readings, settings: NetworkSettings, links: Links = NO_LINKS
) -> Delays:
    """Compute the delay of every pair of hosts from the best source that it has.

    Args:
        hosts: Hosts of the round; delays keep their order.
        readings: Believed readings.
        settings: Site table, uniform delay, overhead of a hop, limit of the embedding error.
        links: Direct links.

    Returns:
        The matrix with the provenance of every pair.
    """
    count = len(hosts)
    coordinates = comparable_coordinates(hosts, readings)
    located = np.array([index for index in range(count) if coordinates[index] is not None], dtype=np.int64)
    delay = _coordinate_delays(coordinates, located)
    embedding = judge_embedding(delay, links.delays, settings.max_embedding_error)
    if not embedding.trusted:
        delay[:] = np.nan
        located = located[:0]
    names, site = site_indices(hosts)
    levelled = level_by_sites(delay, links, site, len(names))
    own = [coordinate.error for coordinate in coordinates if coordinate is not None]
    error = float(np.median(own)) if own else None
    errors = estimate_errors(
        levelled.coordinate_ms, links, error
    )  # before links take the place of coordinates
    delay = levelled.coordinate_ms
    provenance = np.where(np.isnan(delay), Provenance.SITE_MEDIAN, Provenance.COORDINATES).astype(np.int8)
    levelled.outdated.write_to(delay)
    current = levelled.direct
    current.write_to(delay)
    provenance[current.low, current.high] = provenance[current.high, current.low] = Provenance.MEASURED
    np.fill_diagonal(delay, 0.0)
    absent = np.isnan(delay)
    if absent.any():
        stand_in, source = _between_sites(site_medians(delay, site, len(names)), names, settings)
        rows, columns = np.nonzero(absent)
        delay[rows, columns] = stand_in[site[rows], site[columns]]
        provenance[rows, columns] = source[site[rows], site[columns]]
    delay += settings.hop_overhead_ms
    np.fill_diagonal(delay, 0.0)
    np.fill_diagonal(provenance, Provenance.MEASURED)
    return Delays(
        delay_ms=delay,
        provenance=provenance,
        hosts_by_provenance=_by_host(provenance, located),
        error=error,
        links=links,
        measured_pairs=len(current.value),
        outdated_pairs=len(levelled.outdated.value),
        embedding=embedding,
        site=site,
        n_sites=len(names),
        errors=errors,
    )


def comparable_coordinates(hosts: Sequence[Host], readings: Readings) -> list[Coordinate | None]:
    """Return each host's coordinate; only those of the most frequent dimension can be compared."""
    coordinates = [_coordinate(host, readings) for host in hosts]
    frequency = Counter(len(c.position_ms) for c in coordinates if c is not None)
    if not frequency:
        return coordinates
    dimension = max(frequency, key=lambda size: (frequency[size], size))
    return [c if c is not None and len(c.position_ms) == dimension else None for c in coordinates]


def _coordinate(host: Host, readings: Readings) -> Coordinate | None:
    reading = readings.by_host.get(host.name)
    return None if reading is None else reading.coordinate


def _coordinate_delays(coordinates: Sequence[Coordinate | None], located: IntArray) -> FloatArray:
    """Return |xa - xb| + ha + hb of all pairs of hosts in ms, NaN without two coordinates."""
    count = len(coordinates)
    present = [coordinate for coordinate in coordinates if coordinate is not None]
    if not present:
        return np.full((count, count), np.nan)
    position = np.array([coordinate.position_ms for coordinate in present])
    height = np.array([coordinate.height_ms for coordinate in present])
    distance = np.sqrt(((position[:, None, :] - position[None, :, :]) ** 2).sum(axis=2))
    embedded = np.asarray(distance + height[:, None] + height[None, :], dtype=np.float64)
    if len(present) == count:
        return embedded
    delay = np.full((count, count), np.nan)
    delay[np.ix_(located, located)] = embedded
    return delay


def _between_sites(
    medians: FloatArray, names: tuple[str, ...], settings: NetworkSettings
) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return what stands in for pairs of which nothing is known, with its provenance, by pair of sites.

    Both are (n_sites + 1, n_sites + 1); the last row and column are for hosts without a site.
    """
    value = np.full(medians.shape, settings.unknown_delay_ms)
    source = np.full(medians.shape, Provenance.UNIFORM, dtype=np.int8)
    for entry in settings.site_delay:
        if set(entry.between) <= set(names):
            one, other = (names.index(name) for name in entry.between)
            value[one, other] = value[other, one] = entry.delay_ms
            source[one, other] = source[other, one] = Provenance.SITE_TABLE
    same = np.arange(len(names))
    value[same, same], source[same, same] = settings.local_delay_ms, Provenance.SITE_TABLE
    known = ~np.isnan(medians)
    value[known], source[known] = medians[known], Provenance.SITE_MEDIAN
    return value, source


def _by_host(provenance: npt.NDArray[np.int8], located: IntArray) -> tuple[tuple[Provenance, int], ...]:
    """Count hosts: with a coordinate, else by the best source but direct links, else by these."""
    count = provenance.shape[0]
    others = np.array(provenance)
    others[others == Provenance.MEASURED] = len(Provenance)
    best = others.min(axis=1) if count else np.zeros(0, dtype=np.int8)
    best[best == len(Provenance)] = Provenance.UNIFORM if count == 1 else Provenance.MEASURED
    best[located] = Provenance.COORDINATES
    counts = Counter(best.tolist())
    return tuple((Provenance(kind), counts[kind]) for kind in sorted(counts))


def _percent(fraction: float) -> str:
    return f"{fraction * 100:.0f} %"
