"""Direct links: what hosts measured to their peers, one value per pair of hosts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import floats, ints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.readings.believed import Readings
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

# Two delays of what should be the same that differ by more than both contradict each other.
_CONTRADICTION_FRACTION = 0.3
_CONTRADICTION_MS = 5.0
_STRANGER = -1


@dataclass(frozen=True, eq=False)
class Pairs:
    """One value for each of some pairs of hosts.

    Attributes:
        low: (n_pairs,) index of the first host of each pair in the round's order.
        high: (n_pairs,) index of the second one, greater than the first.
        value: (n_pairs,) what the pair has.
    """

    low: IntArray
    high: IntArray
    value: FloatArray

    def write_to(self, matrix: FloatArray) -> None:
        """Put the values into both halves of a matrix (n_hosts, n_hosts)."""
        matrix[self.low, self.high] = self.value
        matrix[self.high, self.low] = self.value


NO_PAIRS = Pairs(ints([]), ints([]), floats([]))


@dataclass(frozen=True, eq=False)
class Links:
    """All direct links of a round.

    Attributes:
        source: (n_links,) host that measured, index in the round's order.
        target: (n_links,) its peer.
        delay_ms: (n_links,) one way, half of a round trip.
        age_s: (n_links,) age of the delay: time since the last answer that agrees with it, or since the last
            answer at all if the reading leaves it out.
        link_availability: (n_links,) probability that the link is up, NaN where it is not measured.
        lifetime_s: Age up to which a delay is believed.
        names: Names of the hosts.
        link_bandwidth: (n_links,) what the path carries, bytes/s, NaN where it is not measured; None: nowhere
            measured.
    """

    source: IntArray
    target: IntArray
    delay_ms: FloatArray
    age_s: FloatArray
    link_availability: FloatArray
    lifetime_s: float
    names: tuple[str, ...]
    link_bandwidth: FloatArray | None = None

    @cached_property
    def delays(self) -> Pairs:
        """Delay of each pair with a fresh link, ms: of two directions the fresher counts."""
        return self._pairs(self._chosen, self.delay_ms[self._chosen])

    @property
    def delay_ages_s(self) -> FloatArray:
        """(n_pairs,) age of each of `delays`."""
        return self.age_s[self._chosen]

    @cached_property
    def _both_ways(self) -> tuple[IntArray, IntArray]:
        """Indices of the fresh links of both directions, for each pair that has both."""
        fresh, order, first = self._fresh
        second = np.flatnonzero(~first)
        return fresh[order[second - 1]], fresh[order[second]]

    @cached_property
    def disagreement(self) -> FloatArray:
        """(n_both,) difference of both directions of a pair, as a fraction of their mean (at least 1 ms)."""
        one, other = (self.delay_ms[each] for each in self._both_ways)
        return np.asarray(np.abs(one - other) / np.maximum((one + other) / 2.0, 1.0), dtype=np.float64)

    @cached_property
    def contradictions(self) -> tuple[tuple[str, str], ...]:
        """Pairs of hosts whose fresh links of both directions contradict each other, sorted."""
        one, other = self._both_ways
        apart = np.abs(self.delay_ms[one] - self.delay_ms[other])
        bad = one[apart > contradiction_limit_ms(self.delay_ms[one], self.delay_ms[other])]
        ends = zip(self.source[bad].tolist(), self.target[bad].tolist(), strict=True)
        return tuple((self.names[min(pair)], self.names[max(pair)]) for pair in ends)

    @cached_property
    def availability(self) -> Pairs:
        """Availability of each pair for which it is measured: of two directions the lower counts.

        The age does not matter: a link that stopped answering is old, and just that makes it less available.
        """
        return self._lower(self.link_availability)

    @cached_property
    def bandwidth(self) -> Pairs:
        """Bandwidth of each pair for which it is measured, bytes/s: of two directions the lower counts.

        Agents publish it as long as it is fresh, so that the age of the delay does not matter.
        """
        return NO_PAIRS if self.link_bandwidth is None else self._lower(self.link_bandwidth)

    def _lower(self, of_link: FloatArray) -> Pairs:
        """Return the lower value of both directions of each pair that has one; NaN: the link has none."""
        known = np.flatnonzero(~np.isnan(of_link))
        order, first = _by_pair(self._keys[known], of_link[known], self.source[known])
        chosen = known[order[first]]
        return self._pairs(chosen, of_link[chosen])

    @cached_property
    def _chosen(self) -> IntArray:
        """Index of the freshest link of each pair that has a fresh one."""
        fresh, order, first = self._fresh
        return fresh[order[first]]

    @cached_property
    def _keys(self) -> IntArray:
        low, high = np.minimum(self.source, self.target), np.maximum(self.source, self.target)
        return np.asarray(low * len(self.names) + high, dtype=np.int64)

    @cached_property
    def _fresh(self) -> tuple[IntArray, IntArray, BoolArray]:
        """Indices of fresh links; their order by pair, the freshest first; where a new pair begins."""
        fresh = np.flatnonzero(self.age_s <= self.lifetime_s)
        return (fresh, *_by_pair(self._keys[fresh], self.age_s[fresh], self.source[fresh]))

    def _pairs(self, chosen: IntArray, value: FloatArray) -> Pairs:
        source, target = self.source[chosen], self.target[chosen]
        return Pairs(np.minimum(source, target), np.maximum(source, target), value)


NO_LINKS = Links(ints([]), ints([]), floats([]), floats([]), floats([]), 0.0, ())


def contradiction_limit_ms(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the difference up to which delays of the same path agree: 5 ms, or 30 % of the longer one."""
    limit = np.maximum(_CONTRADICTION_MS, _CONTRADICTION_FRACTION * np.maximum(one, other))
    return np.asarray(limit, dtype=np.float64)


def _by_pair(key: IntArray, rank: FloatArray, source: IntArray) -> tuple[IntArray, BoolArray]:
    """Return links in ascending order of pair, rank and source, and where each pair begins."""
    order = np.lexsort((source, rank, key))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = np.diff(key[order]) != 0
    return order, first


def gather_links(hosts: Sequence[Host], readings: Readings, lifetime_s: float) -> Links:
    """Put the links of all believed readings together; those to strangers are left aside.

    Args:
        hosts: Hosts of the round; indices keep their order.
        readings: Believed readings.
        lifetime_s: Age up to which a delay is believed.
    """
    published = [
        (index, reading)
        for index, host in enumerate(hosts)
        if (reading := readings.by_host.get(host.name)) is not None and reading.links
    ]
    rows = [link for _, reading in published for link in reading.links.values()]
    counts = [len(reading.links) for _, reading in published]
    position = {host.name: index for index, host in enumerate(hosts)}
    source = np.repeat(np.array([index for index, _ in published], dtype=np.int64), counts)
    target = np.array(
        [position.get(peer, _STRANGER) for _, reading in published for peer in reading.links], dtype=np.int64
    )
    since_s = np.repeat(np.array([reading.age_s for _, reading in published]), counts)
    age_s = np.array([link.get("delay_age_s", link["age_s"]) for link in rows], dtype=np.float64) + since_s
    pairs = (target != _STRANGER) & (target != source)
    return Links(
        source=source[pairs],
        target=target[pairs],
        delay_ms=np.array([link["delay_ms"] for link in rows], dtype=np.float64)[pairs],
        age_s=age_s[pairs],
        link_availability=np.array([link.get("availability", np.nan) for link in rows])[pairs],
        lifetime_s=lifetime_s,
        names=tuple(host.name for host in hosts),
        link_bandwidth=np.array([link.get("bandwidth_bytes_per_s", np.nan) for link in rows], np.float64)[
            pairs
        ],
    )
