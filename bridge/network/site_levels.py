"""Delays between two sites at the level of the fresh direct links between them.

Hosts of a site share its paths to other sites. When a path changes, the links in use show it within seconds,
the other links between the same sites only when their turn to be probed comes, and coordinates never if the
new delays contradict the triangle inequality. A search finds just the pairs that still look fast, and moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bridge.network.links import NO_PAIRS, Pairs, contradiction_limit_ms
from bridge.network.site_medians import site_pairs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bridge.network.links import Links
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

    Number = TypeVar("Number", np.int64, np.float64)

# Of three links one exception, such as a host with a line of its own, cannot be the median.
_LEAST_PAIRS = 3
# Kish's effective number of links (Survey Sampling, 1965), (sum of weights)^2 / sum of squared weights, is 1
# where a single young link has all the weight: one link is no evidence, however young.
_LEAST_EFFECTIVE = 2.0
# Links in use are probed every 4 to 16 s, all others once in two minutes: after a change of path the former
# keep at least a third of their weight while the latter have lost it.
_HALF_LIFE_S = 10.0
# Ages that differ by less say nothing about which link is older than a change: agents publish only every 5 s.
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
    """What the links of each pair of sites agree on.

    Attributes:
        value: (n_groups,) weighted median, NaN where there is too little evidence.
        age_s: (n_groups,) weighted mean age of the links at or above it, NaN there too.
    """

    value: FloatArray
    age_s: FloatArray


def level_by_sites(embedded_ms: FloatArray, links: Links | None, site: IntArray, n_sites: int) -> Levelled:
    """Bring coordinates and old links to the level of the fresh links between the same sites.

    Nothing changes between sites with fewer than three fresh links, where the links at or above the level are
    those of a single host (it is the host that is slow then, not the path), and for hosts of unknown site. A
    link that is slower than expected is believed: to avoid a path that is fast in truth costs little. So is
    one that is faster and as young as those at or above the level, and any within a site.

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
    # too few of the hosts with links may have a coordinate: then the links alone count
    level_ms = level.value[pair_of_sites]
    too_fast = level_ms - embedded_ms > contradiction_limit_ms(level_ms, embedded_ms)
    moved = np.where(np.isnan(moved), np.where(too_fast, level_ms, embedded_ms), moved)
    by_level = np.isnan(embedded_ms[pairs.low, pairs.high]) | np.isnan(shift.value[group])
    expected = np.where(by_level, level.value[group], moved[pairs.low, pairs.high])
    fresh_s = np.where(by_level, level.age_s[group], shift.age_s[group])
    late = (
        (expected - pairs.value > contradiction_limit_ms(expected, pairs.value))
        & (age_s > fresh_s + _YOUNGER_S)
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
        """Return the level of (n_pairs,) values; NaN among them do not count.

        All pairs of sites are worked out at once: 300 sites have 45,000 of them.
        """
        level = _Level(np.full(self._width**2, np.nan), np.full(self._width**2, np.nan))
        known = np.flatnonzero(~np.isnan(value))
        if not known.size:
            return level
        order = known[np.lexsort((value[known], self._group[known]))]
        runs = _Runs.of(self._group[order])
        age_s = self._age_s[order]
        # Relative to the youngest link of the group, so that weights do not vanish where all are old.
        weight = np.exp2((runs.spread(runs.least(age_s)) - age_s) / _HALF_LIFE_S)
        median = _weighted_median(weight, runs)
        at_or_above = np.arange(len(order)) >= runs.spread(median)
        of_sites = runs.number % self._width != self._width - 1
        enough = of_sites & _has_weight(weight, runs)
        for ends in self._ends[:, order]:
            enough &= _not_one_host(ends, at_or_above, runs)
        mean_age_s = runs.total(np.where(at_or_above, weight * age_s, 0.0))
        mean_age_s /= runs.total(np.where(at_or_above, weight, 0.0))
        level.value[runs.number[enough]] = value[order[median[enough]]]
        level.age_s[runs.number[enough]] = mean_age_s[enough]
        return level


@dataclass(frozen=True, eq=False)
class _Runs:
    """Links in the order of their groups: each group is a run of neighbours in arrays of (n_links,).

    Attributes:
        number: (n_runs,) number of each group, ascending.
        begin: (n_runs,) position of its first link.
        count: (n_runs,) number of its links.
    """

    number: IntArray
    begin: IntArray
    count: IntArray

    @classmethod
    def of(cls, group: IntArray) -> _Runs:
        """Find the runs of (n_links,) ascending numbers of groups."""
        return cls(*np.unique(group, return_index=True, return_counts=True))

    def spread(self, of_run: NDArray[Number]) -> NDArray[Number]:
        """Return (n_links,) the value that each link's run has among (n_runs,)."""
        return np.repeat(of_run, self.count)

    def total(self, of_link: FloatArray) -> FloatArray:
        """Return (n_runs,) the sum of (n_links,) values."""
        return np.add.reduceat(of_link, self.begin)

    def least(self, of_link: NDArray[Number]) -> NDArray[Number]:
        """Return (n_runs,) the least of (n_links,) values."""
        return np.minimum.reduceat(of_link, self.begin)

    def most(self, of_link: NDArray[Number]) -> NDArray[Number]:
        """Return (n_runs,) the greatest of (n_links,) values."""
        return np.maximum.reduceat(of_link, self.begin)


def _weighted_median(weight: FloatArray, runs: _Runs) -> IntArray:
    """Return (n_runs,) positions of the medians of links that ascend by value within their run.

    It is the first link of the run with which the weights add up to half of the run's.
    """
    until = np.cumsum(weight)
    before = until[runs.begin] - weight[runs.begin]
    half = np.searchsorted(until, before + runs.total(weight) / 2)
    # a rounding error in the sum over all runs must not lead into the next one
    return np.clip(half, runs.begin, runs.begin + runs.count - 1)


def _has_weight(weight: FloatArray, runs: _Runs) -> BoolArray:
    """Return (n_runs,) whether links are enough, by their number and by their weights."""
    enough = runs.total(weight) ** 2 >= _LEAST_EFFECTIVE * runs.total(weight**2)
    return enough & (runs.count >= _LEAST_PAIRS)


def _not_one_host(host: IntArray, at_or_above: BoolArray, runs: _Runs) -> BoolArray:
    """Return (n_runs,) False where the links at or above the median share a host that others do not have.

    Args:
        host: (n_links,) host of each link at one of the two sites.
        at_or_above: (n_links,) links at or above the median of their run.
        runs: The groups of links.
    """
    has_several = runs.most(host) > runs.least(host)
    highest = runs.most(np.where(at_or_above, host, -1))
    lowest = runs.least(np.where(at_or_above, host, np.iinfo(host.dtype).max))
    return ~has_several | (highest > lowest)
