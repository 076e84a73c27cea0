"""Medians between sites: what stands in for pairs of hosts of which nothing is known themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.cluster import Host
    from scheduler.arrays import FloatArray, IntArray


def site_indices(hosts: Sequence[Host]) -> tuple[tuple[str, ...], IntArray]:
    """Return the names of all sites and (n_hosts,) the site of each host, the number of sites if unknown."""
    names = tuple(dict.fromkeys(host.site for host in hosts if host.site is not None))
    position: dict[str | None, int] = {name: index for index, name in enumerate(names)}
    return names, np.array([position.get(host.site, len(names)) for host in hosts], dtype=np.int64)


def site_medians(known: FloatArray, site: IntArray, n_sites: int) -> FloatArray:
    """Return the median of what is known between the hosts of each pair of sites.

    Args:
        known: (n_hosts, n_hosts) a value per pair of hosts, NaN where it is not known; the diagonal is known
            and does not count.
        site: (n_hosts,) site of each host, `n_sites` if unknown.
        n_sites: Number of sites.

    Returns:
        (n_sites + 1, n_sites + 1) medians; NaN where no pair is known, where all are (nobody asks for the
        median then), and in the last row and column.
    """
    width = n_sites + 1
    medians = np.full((width, width), np.nan)
    absent = np.isnan(known)
    if not absent.any():
        return medians
    # Numbers of sites multiply: groups are counted in the least type, which makes sorting by group linear.
    group = (site[:, None] * width + site[None, :]).astype(np.min_scalar_type(width * width))
    needed = np.bincount(group[absent], minlength=width * width) > 0
    needed = needed.reshape(width, width)
    needed[n_sites, :] = needed[:, n_sites] = False
    take = ~absent & needed.ravel()[group]
    np.fill_diagonal(take, False)
    value, of = known[take], group[take]
    # Equal values may change places; only the second sorting has to keep the order of the first.
    by_value = np.argsort(value)
    order = by_value[np.argsort(of[by_value], kind="stable")]
    count = np.bincount(of, minlength=width * width)
    present = np.flatnonzero(count)
    begin = (np.cumsum(count) - count)[present]
    low, high = begin + (count[present] - 1) // 2, begin + count[present] // 2
    medians.ravel()[present] = (value[order[low]] + value[order[high]]) / 2
    return medians
