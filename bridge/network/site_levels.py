"""Delays between two sites at the level of the fresh direct links between them.

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
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

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
class _Evidence:
    """Fresh links by pair of sites, links with an end of unknown site among them.

    Attributes:
        age_s: (n_links,) age of each link.
        group: (n_links,) pair of sites of each: lower site * width + higher site.
        ends: (2, n_links) its two hosts, that at the lower site first.
        of_sites: (n_links,) whether both sites are known.
        n_groups: Number of pairs of sites.
    """

    age_s: FloatArray
    group: IntArray
    ends: IntArray
    of_sites: BoolArray
    n_groups: int


@dataclass(frozen=True, eq=False)
class _Level:
    """What the links of each pair of sites agree on.

    Attributes:
        value: (n_groups,) weighted median, NaN where there is too little evidence.
        age_s: (n_groups,) weighted mean age of the links at or above it, NaN there too.
    """

    value: FloatArray
    age_s: FloatArray


def level_by_sites(embedded_ms: FloatArray, links: Links, site: IntArray, n_sites: int) -> Levelled:
    """Bring coordinates and old links to the level of the fresh links between the same sites.

    Nothing changes between sites with fewer than three fresh links, where the links at or above the level are
    those of a single host (it is the host that is slow then, not the path), and for hosts of unknown site. A
    link that is slower than expected is believed: to avoid a path that is fast in truth costs little. So is
    one that is faster and as young as those at or above the level, and any within a site.

    Args:
        embedded_ms: (n_hosts, n_hosts) delay by coordinates, NaN without two of them.
        links: Direct links.
        site: (n_hosts,) site of each host, `n_sites` if unknown.
        n_sites: Number of sites.
    """
    pairs, age_s = links.delays, links.delay_ages_s
    if not len(age_s) or not n_sites:
        return Levelled(embedded_ms, pairs, NO_PAIRS)
    low_site, high_site = site[pairs.low], site[pairs.high]
    width = n_sites + 1
    pair_of_sites = site_pairs(site, width).astype(np.int64)
    group = pair_of_sites[pairs.low, pairs.high]
    evidence = _Evidence(
        age_s=age_s,
        group=group,
        ends=np.where(low_site > high_site, (pairs.high, pairs.low), (pairs.low, pairs.high)),
        of_sites=np.maximum(low_site, high_site) < n_sites,
        n_groups=width * width,
    )
    embedded_pairs_ms = embedded_ms[pairs.low, pairs.high]
    level = _level(pairs.value, evidence)
    shift = _level(pairs.value - embedded_pairs_ms, evidence)
    fastest_ms = np.full(width * width, np.inf)
    np.minimum.at(fastest_ms, group, pairs.value)

    # what makes coordinates shorter must not make any pair faster than all links are
    moved = embedded_ms + shift.value[pair_of_sites]
    moved = np.maximum(moved, np.minimum(embedded_ms, fastest_ms[pair_of_sites]))
    # too few of the hosts with links may have a coordinate: then the links alone count
    level_ms = level.value[pair_of_sites]
    too_fast = level_ms - embedded_ms > contradiction_limit_ms(level_ms, embedded_ms)
    moved = np.where(np.isnan(moved), np.where(too_fast, level_ms, embedded_ms), moved)
    by_level = np.isnan(embedded_pairs_ms) | np.isnan(shift.value[group])
    expected = np.where(by_level, level.value[group], moved[pairs.low, pairs.high])
    fresh_s = np.where(by_level, level.age_s[group], shift.age_s[group])
    late = (
        (expected - pairs.value > contradiction_limit_ms(expected, pairs.value))
        & (age_s > fresh_s + _YOUNGER_S)
        & (low_site != high_site)
    )
    return Levelled(
        moved,
        Pairs(pairs.low[~late], pairs.high[~late], pairs.value[~late]),
        Pairs(pairs.low[late], pairs.high[late], expected[late]),
    )


def _level(value: FloatArray, evidence: _Evidence) -> _Level:
    """Return the weighted median of (n_links,) values of each pair of sites; NaN among them do not count.

    All pairs of sites are worked out at once: 300 sites have 45,000 of them. Links are sorted by pair of
    sites and value, so that each pair of sites has a run of neighbours, of which `begin` is the first.
    """
    known = np.flatnonzero(~np.isnan(value) & evidence.of_sites)
    order = known[np.lexsort((value[known], evidence.group[known]))]
    value, age_s = value[order], evidence.age_s[order]
    group, begin, run, count = np.unique(
        evidence.group[order], return_index=True, return_inverse=True, return_counts=True
    )
    # a link loses half of its weight per half-life against the youngest of its run
    weight = np.exp2((np.minimum.reduceat(age_s, begin)[run] - age_s) / _HALF_LIFE_S)
    total = np.add.reduceat(weight, begin)
    # the median is the first link of a run with which the weights add up to half of the run's
    until = np.cumsum(weight)
    at_or_above = until >= (until[begin] - weight[begin] + total / 2)[run]
    enough = (count >= _LEAST_PAIRS) & (total**2 >= _LEAST_EFFECTIVE * np.add.reduceat(weight**2, begin))
    for host in evidence.ends[:, order]:
        of_one_host = ~_differ(host, at_or_above, begin)
        enough &= ~(of_one_host & _differ(host, np.ones_like(at_or_above), begin))
    slow_weight = np.where(at_or_above, weight, 0.0)
    median = np.minimum.reduceat(np.where(at_or_above, value, np.inf), begin)
    mean_age_s = np.add.reduceat(slow_weight * age_s, begin) / np.add.reduceat(slow_weight, begin)
    level = _Level(np.full(evidence.n_groups, np.nan), np.full(evidence.n_groups, np.nan))
    level.value[group[enough]] = median[enough]
    level.age_s[group[enough]] = mean_age_s[enough]
    return level


def _differ(host: IntArray, chosen: BoolArray, begin: IntArray) -> BoolArray:
    """Return (n_runs,) whether the chosen ones of (n_links,) links have more than one host in each run."""
    highest = np.maximum.reduceat(np.where(chosen, host, -1), begin)
    lowest = np.minimum.reduceat(np.where(chosen, host, np.iinfo(host.dtype).max), begin)
    return np.asarray(highest > lowest, dtype=np.bool_)
