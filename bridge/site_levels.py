"""What fresh direct links between two sites tell of all pairs of hosts between them.

Hosts of a site share its paths to other sites. When a path changes, the links in use show it within seconds,
the other links between the same sites only when their turn to be probed comes, and coordinates never if the
new delays contradict the triangle inequality. A search finds just the pairs that still look fast, and moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.links import NO_PAIRS, Pairs, contradiction_limit_ms
from bridge.sites import site_pairs

if TYPE_CHECKING:
    from bridge.links import Links
    from scheduler.arrays import FloatArray, IntArray

# Fewer links between two sites may be exceptions.
_LEAST_LINKS = 3
# Of links that differ the younger ones tell: an answer of half a minute ago weighs an eighth.
_HALF_LIFE_S = 10.0


@dataclass(frozen=True, eq=False)
class Levelled:
    """Delays that agree with the fresh links between the same sites.

    Attributes:
        coordinate_ms: (n_hosts, n_hosts) delay by coordinates, moved by the median of what the links between
            the same sites differ from theirs; NaN without two coordinates.
        direct: Direct links that are not outdated.
        outdated: Direct links that are clearly faster than fresher ones between the same sites, with what
            is expected instead.
    """

    coordinate_ms: FloatArray
    direct: Pairs
    outdated: Pairs


def level_by_sites(embedded_ms: FloatArray, links: Links | None, site: IntArray, n_sites: int) -> Levelled:
    """Bring coordinates and old links to the level of the fresh links between the same sites.

    Between sites with fewer than three fresh links, and for hosts of unknown site, nothing changes. A link
    that is slower than expected is believed: to avoid a path that is fast in truth costs little.

    Args:
        embedded_ms: (n_hosts, n_hosts) delay by coordinates, NaN without two of them.
        links: Direct links, None without any.
        site: (n_hosts,) site of each host, `n_sites` if unknown.
        n_sites: Number of sites.
    """
    if links is None or not n_sites:
        return Levelled(embedded_ms, NO_PAIRS if links is None else links.delays, NO_PAIRS)
    fresh = np.flatnonzero(links.age_s <= links.lifetime_s)
    source, target, link_ms = links.source[fresh], links.target[fresh], links.delay_ms[fresh]
    weight = np.exp2(-links.age_s[fresh] / _HALF_LIFE_S)
    width = n_sites + 1
    pair_of_sites = site_pairs(site, width).astype(np.int64)
    group = pair_of_sites[source, target]
    level = _levels(link_ms, weight, group, width)
    apart = link_ms - embedded_ms[source, target]
    known = ~np.isnan(apart)
    shift = _levels(apart[known], weight[known], group[known], width)
    fastest = np.full(width * width, np.inf)
    np.minimum.at(fastest, group, link_ms)

    moved = np.maximum(embedded_ms + shift[pair_of_sites], fastest[pair_of_sites])
    coordinate_ms = np.where(np.isnan(moved), embedded_ms, moved)
    direct = links.delays
    expected = np.where(np.isnan(moved), level[pair_of_sites], moved)[direct.low, direct.high]
    late = expected - direct.value > contradiction_limit_ms(expected, direct.value)
    return Levelled(
        coordinate_ms,
        Pairs(direct.low[~late], direct.high[~late], direct.value[~late]),
        Pairs(direct.low[late], direct.high[late], expected[late]),
    )


def _levels(value: FloatArray, weight: FloatArray, group: IntArray, width: int) -> FloatArray:
    """Return (width * width,) the weighted median of each pair of known sites, NaN with too few values.

    Args:
        value: (n,) values.
        weight: (n,) their weights, above 0.
        group: (n,) pair of sites of each.
        width: Number of sites + 1; the last site stands for none.
    """
    level = np.full(width * width, np.nan)
    order = np.lexsort((value, group))
    value, weight, group = value[order], weight[order], group[order]
    groups, begin, count = np.unique(group, return_index=True, return_counts=True)
    if not groups.size:
        return level
    total = np.add.reduceat(weight, begin)
    until = np.cumsum(weight)
    before = until[begin] - weight[begin]
    middle = np.minimum(np.searchsorted(until, before + total / 2), begin + count - 1)
    enough = (count >= _LEAST_LINKS) & (groups % width != width - 1)
    level[groups[enough]] = value[middle[enough]]
    return level
