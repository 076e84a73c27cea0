"""Medians between sites stand in for pairs of hosts whose own delay or availability is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from bridge.network.cluster import Host
    from scheduler.base.arrays import FloatArray, IntArray


def site_indices(hosts: Sequence[Host]) -> tuple[tuple[str, ...], IntArray]:
    """Return the names of all sites and (n_hosts,) the site of each host, the number of sites if unknown."""
    names = tuple(dict.fromkeys(host.site for host in hosts if host.site is not None))
    position: dict[str | None, int] = {name: index for index, name in enumerate(names)}
    return names, np.array([position.get(host.site, len(names)) for host in hosts], dtype=np.int64)


def site_medians(known: FloatArray, site: IntArray, n_sites: int) -> FloatArray:
    """Return the median of what is known between the hosts of each pair of sites.

    Args:
        known: (n_hosts, n_hosts) a value per pair of hosts, symmetric, NaN where it is not known; the
            diagonal does not count.
        site: (n_hosts,) site of each host, `n_sites` if unknown.
        n_sites: Number of sites.

    Returns:
        (n_sites + 1, n_sites + 1) medians; NaN where no pair is known, where all are (no median is
        needed then), and in the last row and column.
    """
    width = n_sites + 1
    medians = np.full((width, width), np.nan)
    absent = np.isnan(known)
    if not absent.any():
        return medians
    group = site_pairs(site, width)
    upper = np.triu(np.ones(known.shape, dtype=np.bool_), 1)
    needed = np.bincount(group[absent & upper], minlength=width * width) > 0
    needed = needed.reshape(width, width)
    needed[n_sites, :] = needed[:, n_sites] = False
    take = upper & ~absent & needed.ravel()[group]
    of, value = medians_by_group(known[take], group[take])
    one, other = np.divmod(of, width)
    medians[one, other] = medians[other, one] = value
    return medians


def site_pairs(site: IntArray, width: int) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Return (n_hosts, n_hosts) a number per pair of hosts: lower site * width + higher site.

    Args:
        site: (n_hosts,) site of each host.
        width: Number of sites.
    """
    # Numbers of sites multiply: the least type makes sorting by them linear, where two bytes suffice.
    least = np.min_scalar_type(width * width)
    index = site.astype(least)
    low, high = np.minimum(index[:, None], index), np.maximum(index[:, None], index)
    return np.asarray(low * least.type(width) + high)


def medians_by_group(value: FloatArray, group: npt.NDArray[np.integer[Any]]) -> tuple[IntArray, FloatArray]:
    """Return the numbers of all groups that have a value, ascending, and the median of each.

    Args:
        value: (n,) values.
        group: (n,) number of the group of each.
    """
    # Equal values may change places; only the second sorting has to keep the order of the first.
    by_value = np.argsort(value)
    order = by_value[np.argsort(group[by_value], kind="stable")]
    count = np.bincount(group)
    present = np.flatnonzero(count)
    begin = (np.cumsum(count) - count)[present]
    low, high = begin + (count[present] - 1) // 2, begin + count[present] // 2
    return present, (value[order[low]] + value[order[high]]) / 2
