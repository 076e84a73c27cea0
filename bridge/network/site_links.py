"""What is stated of the ways between sites: what a stream costs there, and how much they carry."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.site_medians import site_indices

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.network_settings import NetworkSettings
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class SiteLinks:
    """The ways between sites. Matrices are symmetric; their last row and column are for hosts without a site.

    Attributes:
        names: Names of sites: those of hosts, then those that only settings name.
        site: (n_hosts,) site of each host, the number of sites if unknown.
        cost: (n_sites + 1, n_sites + 1) cost of a stream; None where delays count, as costs are not stated of
            all pairs of sites that have hosts.
        no_cost: Why not, in a phrase; empty if no cost is stated at all, or all are.
        uplink: (n_sites + 1,) what each site may send and receive in all, bytes/s, infinite without a limit.
        bandwidth: (n_sites + 1, n_sites + 1) what may flow between two sites, likewise.
        joined: (n_sites + 1, n_sites + 1) whether two sites are neighbours: settings name their link, or none
            at all, or they are the same.
    """

    names: tuple[str, ...]
    site: IntArray
    cost: FloatArray | None
    no_cost: str
    uplink: FloatArray
    bandwidth: FloatArray
    joined: BoolArray

    @property
    def limited(self) -> bool:
        """Whether any bandwidth is."""
        return bool(np.isfinite(self.uplink).any() or len(self.limited_pairs))

    @cached_property
    def limited_pairs(self) -> IntArray:
        """(n_pairs, 2) the pairs of sites between which the bandwidth is limited, ascending."""
        limited = np.isfinite(self.bandwidth)
        # mostly none, and sites may be thousands
        pairs = np.argwhere(np.triu(limited, 1)) if limited.any() else np.zeros((0, 2))
        return pairs.astype(np.int64)

    @cached_property
    def limits(self) -> FloatArray:
        """(n_pairs,) the bandwidth of each of these pairs, bytes/s."""
        one, other = self.limited_pairs.T
        return np.asarray(self.bandwidth[one, other], dtype=np.float64)

    def of_hosts(self, hosts: Sequence[Host]) -> SiteLinks:
        """Return the same for other hosts of the same sites, such as some of them.

        Args:
            hosts: These hosts.
        """
        position = {name: k for k, name in enumerate(self.names)}
        site = [position.get(host.site or "", len(self.names)) for host in hosts]
        return replace(self, site=np.array(site, dtype=np.int64))

    def index(self, name: str) -> int:
        """Return the position of a site, the number of sites if it is not known."""
        return self.names.index(name) if name in self.names else len(self.names)


def gather_site_links(
    hosts: Sequence[Host], settings: NetworkSettings, measured: Mapping[frozenset[str], float]
) -> SiteLinks:
    """Put together what settings state, and what agents measured where these are silent.

    Args:
        hosts: Hosts of the round.
        settings: Sites and links.
        measured: Bandwidth between two sites, bytes/s, by their names: estimates, which count rounded down.
    """
    own, site = site_indices(hosts)
    site = np.where(site == len(own), -1, site)
    stated = [each.name for each in settings.site]
    ends = [name for each in settings.link for name in each.between]
    names = tuple(dict.fromkeys((*own, *stated, *ends)))
    count = len(names)
    position = {name: k for k, name in enumerate(names)}
    uplink = np.full(count + 1, np.inf)
    bandwidth = np.full((count + 1, count + 1), np.inf)
    cost = np.full((count + 1, count + 1), np.nan)
    joined = np.eye(count + 1, dtype=np.bool_) | (not settings.link)
    for each in settings.site:
        if each.uplink_bytes_per_s is not None:
            uplink[position[each.name]] = each.uplink_bytes_per_s
    for between, bytes_per_s in measured.items():
        if between <= position.keys():
            one, other = (position[name] for name in between)
            bandwidth[one, other] = bandwidth[other, one] = _steady(bytes_per_s)
    for link in settings.link:
        one, other = (position[name] for name in link.between)
        joined[one, other] = joined[other, one] = True
        if link.cost is not None:
            cost[one, other] = cost[other, one] = link.cost
        if link.bandwidth_bytes_per_s is not None:
            bandwidth[one, other] = bandwidth[other, one] = link.bandwidth_bytes_per_s
    np.fill_diagonal(cost, 0.0)
    no_cost = _why_no_cost(hosts, own, cost) if any(each.cost is not None for each in settings.link) else ""
    known = not no_cost and any(each.cost is not None for each in settings.link)
    return SiteLinks(
        names=names,
        site=np.where(site < 0, count, site),
        # what no host needs now stays open: an end outside the cluster may
        cost=np.nan_to_num(cost, nan=float(np.nanmax(cost))) if known else None,
        no_cost=no_cost,
        uplink=uplink,
        bandwidth=bandwidth,
        joined=joined,
    )


def _steady(bytes_per_s: float) -> float:
    """Return the preferred number, ten per decade, that a value is not below: noise then moves nothing."""
    return float(10.0 ** (math.floor(math.log10(bytes_per_s) * 10 + _ROUNDING) / 10))


def _why_no_cost(hosts: Sequence[Host], names: Sequence[str], cost: FloatArray) -> str:
    """Say which pair of sites lacks a cost; empty if none does. Sites of hosts come first in the matrix."""
    lost = next((host.name for host in hosts if host.site is None), None)
    if lost is not None:
        return f"{lost} has no site"
    for one, other in combinations(range(len(names)), 2):
        if np.isnan(cost[one, other]):
            return f"network.link states no cost between {names[one]} and {names[other]}"
    return ""
