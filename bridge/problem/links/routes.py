"""The ways between the nodes of a problem: over the uplink of one site, a link, and the uplink of the other.

The wide area itself is not ours to route in: two sites are joined by one way, whose delay is measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import floats, frozen
from scheduler.model.underlay import NO_LINK, Underlay, UnderlayLink

if TYPE_CHECKING:
    from bridge.network.site_links import SiteLinks
    from bridge.problem.links.bandwidth_book import BandwidthLeft
    from scheduler.base.arrays import IntArray

UPLINK = "(uplink)"


def ways_between(site: IntArray, links: SiteLinks, left: BandwidthLeft | None) -> Underlay:
    """Return the ways between nodes; only what is limited and taken is a link of them.

    Args:
        site: (n_nodes,) site of each node, the number of sites if unknown.
        links: The ways between sites.
        left: What other topologies leave of bandwidths; None where these do not count.
    """
    n_sites = len(links.names)
    uplink = np.full(n_sites + 1, NO_LINK)
    between = np.full((n_sites + 1, n_sites + 1), NO_LINK)
    ends: list[tuple[str, str]] = []
    most = floats([])
    if left is not None:
        limited = np.flatnonzero(np.isfinite(left.uplink))
        uplink[limited] = np.arange(len(limited))
        one, other = left.pairs.T
        between[one, other] = between[other, one] = len(limited) + np.arange(len(left.pairs))
        ends = [(links.names[k], UPLINK) for k in limited.tolist()]
        ends += [(links.names[a], links.names[b]) for a, b in left.pairs.tolist()]
        most = np.append(left.uplink[limited], left.between)
    start, end = np.meshgrid(site, site, indexing="ij")
    layers = np.stack([uplink[start], between[start, end], uplink[end]])
    # of thousands of sites the nodes may be at few
    taken, route = np.unique(np.where(start != end, layers, NO_LINK), return_inverse=True)
    taken = taken[taken != NO_LINK]
    return Underlay(
        links=tuple(UnderlayLink(ends[k], bandwidth_bytes_per_s=float(most[k])) for k in taken.tolist()),
        # the diagonal is without a link, so that this comes first
        route=frozen(route.reshape(layers.shape).astype(np.int64) - 1),
        ends=frozen(np.full((len(taken), 2), -1)),
        relays=frozen(np.ones(len(site), dtype=np.bool_)),
        near=frozen(links.joined[start, end] | (start == end)),
    )
