"""What the paths between sites carry, by what agents measured between hosts."""

from __future__ import annotations

from collections import defaultdict
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.network.links import Links


def site_bandwidths(hosts: Sequence[Host], links: Links) -> Mapping[frozenset[str], float]:
    """Return the bandwidth between two sites, bytes/s: the median over the measured pairs of their hosts.

    A pair of sites without such a pair has none. Hosts of unknown site, and pairs within a site, count for
    nothing.

    Args:
        hosts: Hosts of the round.
        links: Their direct links, in the same order.
    """
    measured: defaultdict[frozenset[str], list[float]] = defaultdict(list)
    pairs = links.bandwidth
    ends = zip(pairs.low.tolist(), pairs.high.tolist(), pairs.value.tolist(), strict=True)
    for low, high, bytes_per_s in ends:
        one, other = hosts[low].site, hosts[high].site
        if one is not None and other is not None and one != other:
            measured[frozenset((one, other))].append(bytes_per_s)
    return {sites: median(each) for sites, each in measured.items()}
