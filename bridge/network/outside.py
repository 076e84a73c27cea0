"""Delays between a site and hosts, for what is at the site and is no host itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.network.delays import Delays
    from bridge.network_settings import NetworkSettings
    from scheduler.base.arrays import FloatArray


def delays_to_site(site: str, hosts: Sequence[Host], delays: Delays, settings: NetworkSettings) -> FloatArray:
    """Return (n_hosts,) the delay between something at a site and each host, the overhead of a hop included.

    It is the median delay of the hosts of the site. Without any it is that of the settings' table, and for
    hosts of the site itself the delay within one.

    Args:
        site: Name of the site.
        hosts: Hosts of the round.
        delays: Delays between them.
        settings: What holds where nothing is measured.
    """
    inside = np.array([host.site == site for host in hosts], dtype=np.bool_)
    local = settings.local_delay_ms
    if inside.any():
        measured = np.array(delays.delay_ms[inside])
        # none is a neighbour of itself
        measured[np.arange(len(measured)), np.flatnonzero(inside)] = np.nan
        if len(measured) > 1:
            return np.asarray(np.nanmedian(measured, axis=0), dtype=np.float64)
        return np.where(inside, local + settings.hop_overhead_ms, measured[0])
    table = {frozenset(each.between): each.delay_ms for each in settings.site_delay}
    stated = [table.get(frozenset((site, host.site or "")), settings.unknown_delay_ms) for host in hosts]
    return np.array(stated, dtype=np.float64) + settings.hop_overhead_ms


def with_sites(block: FloatArray, to_sites: FloatArray, own: float) -> FloatArray:
    """Return a symmetric matrix of hosts with rows and columns for sites behind them.

    Args:
        block: (n_hosts, n_hosts) what pairs of hosts have.
        to_sites: (n_sites, n_hosts) what a site and a host have.
        own: What two sites have: nothing flows between what is outside Storm.
    """
    count = len(to_sites)
    return np.block([[block, to_sites.T], [to_sites, np.full((count, count), own)]]) if count else block
