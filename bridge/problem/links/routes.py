"""The ways between the nodes of a problem: over the uplink of one site, a link, and the uplink of the other.

The wide area itself is not ours to route in: two sites are joined by one way, whose delay is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import frozen
from scheduler.model.underlay import NO_LINK, Underlay, UnderlayLink

if TYPE_CHECKING:
    from bridge.network.site_links import SiteLinks
    from bridge.problem.links.bandwidth_book import BandwidthLeft
    from scheduler.base.arrays import IntArray

UPLINK = "(uplink)"


def ways_between(site: IntArray, links: SiteLinks, left: BandwidthLeft | None) -> Underlay:
    """Return the ways between nodes; only what is limited is a link of them.

    Args:
        site: (n_nodes,) site of each node, the number of sites if unknown.
        links: The ways between sites.
        left: What other topologies leave of bandwidths; None where these do not count.
    """
    n_sites = len(links.names)
    limited: list[UnderlayLink] = []
    uplink = np.full(n_sites + 1, NO_LINK)
    between = np.full((n_sites + 1, n_sites + 1), NO_LINK)
    if left is not None:
        for k in np.flatnonzero(np.isfinite(left.uplink)).tolist():
            uplink[k] = len(limited)
            ends = links.names[k], UPLINK
            limited.append(UnderlayLink(ends, bandwidth_bytes_per_s=float(left.uplink[k])))
        for a, b in np.argwhere(np.triu(np.isfinite(left.between), 1)).tolist():
            between[a, b] = between[b, a] = len(limited)
            ends = links.names[a], links.names[b]
            limited.append(UnderlayLink(ends, bandwidth_bytes_per_s=float(left.between[a, b])))
    start, end = np.meshgrid(site, site, indexing="ij")
    layers = np.stack([uplink[start], between[start, end], uplink[end]])
    route = np.where(start != end, layers, NO_LINK)
    return Underlay(
        links=tuple(limited),
        route=frozen(route.astype(np.int64)),
        ends=frozen(np.full((len(limited), 2), -1)),
        relays=frozen(np.ones(len(site), dtype=np.bool_)),
        near=frozen(links.joined[start, end] | (start == end)),
    )
