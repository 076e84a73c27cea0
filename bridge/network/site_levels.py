"""What fresh direct links between two sites tell of all pairs of hosts between them.

Hosts of a site share its paths to other sites. When a path changes, the links in use show it within seconds,
the other links between the same sites only when their turn to be probed comes, and coordinates never if the
new delays contradict the triangle inequality. A search finds just the pairs that still look fast, and moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.links import NO_PAIRS, Pairs, contradiction_limit_ms
from bridge.network.site_medians import site_pairs

if TYPE_CHECKING:
    from bridge.network.links import Links
    from scheduler.base.arrays import FloatArray, IntArray

# Fewer pairs of hosts may be exceptions.
_LEAST_PAIRS = 3
# Weighted, they must tell as much as so many of equal weight.
_LEAST_EFFECTIVE = 2.0
# Of links that differ the younger ones tell: an answer of half a minute ago weighs an eighth.
_HALF_LIFE_S = 10.0
# A link is outdated by links that are younger than it by more than this.
_YOUNGER_S = 5.0


@dataclass(frozen=True, eq=False)
class Levelled:
    """Delays that agree with the fresh links between the same sites.

    Attributes:
        coordinate_ms: (n_hosts, n_hosts) delay by coordinates, moved by the median of what the links between
            the same sites differ from theirs; where that is not known, the median of the links instead of
            coordinates that are clearly faster. NaN without two coordinates.
        direct: Direct links that are not outdated.
        outdated: Direct links that are clearly faster than fresher ones between the same sites, with what
            is expected instead.
    """

    coordinate_ms: FloatArray
    direct: Pairs
    outdated: Pairs


@dataclass(frozen=True, eq=False)
class _Level:
    """What the links of each pair of sites agree on, by (n_groups,) pair of sites.

    Attributes:
        value: Weighted median, NaN where too few links tell.
        age_s: Weighted mean age of the links at or above it.
    """

    value: FloatArray
    age_s: FloatArray


def level_by_sites(embedded_ms: FloatArray, links: Links | None, site: IntArray, n_sites: int) -> Levelled:
    """Bring coordinates and old links to the level of the fresh links between the same sites.

    Nothing changes between sites with fewer than three fresh links, where the links that tell the level are
    those of a single host (it is the host that is slow then, not the path), and for hosts of unknown site. A
    link that is slower than expected is believed: to avoid a path that is fast in truth costs little. So is
    one that is faster and as young as those that tell the level, and any within a site.

    Args:
        embedded_ms: (n_hosts, n_hosts) delay by coordinates, NaN without two of them.
        links: Direct links, None without any.
        site: (n_hosts,) site of each host, `n_sites` if unknown.
        n_sites: Number of sites.
    """
    if links is None or not n_sites:
        return Levelled(embedded_ms, NO_PAIRS if links is None else links.delays, NO_PAIRS)
    pairs, age_s = links.delays, links.delay_ages_s
    width = n_sites + 1
    pair_of_sites = site_pairs(site, width).astype(np.int64)
    group = pair_of_sites[pairs.low, pairs.high]
    evidence = _Evidence(pairs, age_s, group, site, width)
    level = evidence.level(pairs.value)
    apart_ms = pairs.value - embedded_ms[pairs.low, pairs.high]
    shift = evidence.level(apart_ms)
    fastest_ms = np.full(width * width, np.inf)
    np.minimum.at(fastest_ms, group, pairs.value)

    # what makes coordinates shorter must not make any pair faster than all links are
    moved = embedded_ms + shift.value[pair_of_sites]
    moved = np.maximum(moved, np.minimum(embedded_ms, fastest_ms[pair_of_sites]))
    # too few of the hosts with links may have a coordinate: then the links alone tell
    level_ms = level.value[pair_of_sites]
    too_fast = level_ms - embedded_ms > contradiction_limit_ms(level_ms, embedded_ms)
    moved = np.where(np.isnan(moved), np.where(too_fast, level_ms, embedded_ms), moved)
    by_level = np.isnan(embedded_ms[pairs.low, pairs.high]) | np.isnan(shift.value[group])
    expected = np.where(by_level, level.value[group], moved[pairs.low, pairs.high])
    told_s = np.where(by_level, level.age_s[group], shift.age_s[group])
    late = (
        (expected - pairs.value > contradiction_limit_ms(expected, pairs.value))
        & (age_s > told_s + _YOUNGER_S)
        & (site[pairs.low] != site[pairs.high])
    )
    return Levelled(
        moved,
        Pairs(pairs.low[~late], pairs.high[~late], pairs.value[~late]),
        Pairs(pairs.low[late], pairs.high[late], expected[late]),
    )


class _Evidence:
    """Fresh links by pair of sites.

    Args:
        pairs: One link per pair of hosts.
        age_s: (n_pairs,) their ages.
        group: (n_pairs,) pair of sites of each: lower site * width + higher site.
        site: (n_hosts,) site of each host.
        width: Number of sites + 1; the last site stands for none.
    """

    def __init__(self, pairs: Pairs, age_s: FloatArray, group: IntArray, site: IntArray, width: int) -> None:
        self._age_s, self._group, self._width = age_s, group, width
        # the two ends of each link, that at the lower site first
        swapped = site[pairs.low] > site[pairs.high]
        self._ends = np.where(swapped, (pairs.high, pairs.low), (pairs.low, pairs.high))

    def level(self, value: FloatArray) -> _Level:
        """Return the level of (n_pairs,) values; NaN among them do not count."""
        level, told_s = np.full(self._width**2, np.nan), np.full(self._width**2, np.nan)
        known = np.flatnonzero(~np.isnan(value))
        order = known[np.lexsort((value[known], self._group[known]))]
        groups, begin, count = np.unique(self._group[order], return_index=True, return_counts=True)
        if not groups.size:
            return _Level(level, told_s)
        age_s = self._age_s[order]
        # by the youngest of the group: however old all are, they weigh something
        weight = np.exp2((np.repeat(np.minimum.reduceat(age_s, begin), count) - age_s) / _HALF_LIFE_S)
        total = np.add.reduceat(weight, begin)
        until = np.cumsum(weight)
        middle = np.searchsorted(until, until[begin] - weight[begin] + total / 2)
        middle = np.clip(middle, begin, begin + count - 1)
        telling = np.arange(len(order)) >= np.repeat(middle, count)
        enough = (count >= _LEAST_PAIRS) & (groups % self._width != self._width - 1)
        enough &= total**2 >= _LEAST_EFFECTIVE * np.add.reduceat(weight**2, begin)
        for ends in self._ends[:, order]:
            several = np.maximum.reduceat(ends, begin) > np.minimum.reduceat(ends, begin)
            last = np.maximum.reduceat(np.where(telling, ends, -1), begin)
            first = np.minimum.reduceat(np.where(telling, ends, np.iinfo(ends.dtype).max), begin)
            enough &= ~several | (last > first)
        told = np.add.reduceat(np.where(telling, weight * age_s, 0.0), begin)
        told /= np.add.reduceat(np.where(telling, weight, 0.0), begin)
        level[groups[enough]] = value[order[middle[enough]]]
        told_s[groups[enough]] = told[enough]
        return _Level(level, told_s)
