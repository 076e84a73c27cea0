"""One book of a round: what topologies send between sites, and what they leave of bandwidths to one another.

Flows are those of the executors' streams, by measured rates and sizes of tuples as far as there are any, and
those to and from ends outside Storm. Both directions count together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.network.site_links import SiteLinks
    from bridge.problem.assignment import Assignment
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class BandwidthLeft:
    """What is left of bandwidths, bytes/s, never below 0, infinite without a limit.

    Attributes:
        uplink: (n_sites + 1,) into and out of each site.
        between: (n_sites + 1, n_sites + 1) between two sites, symmetric.
    """

    uplink: FloatArray
    between: FloatArray


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """What all topologies send over a limited way between sites.

    Attributes:
        what: The way.
        bytes_per_s: Both directions together.
        most: What it carries, bytes/s.
    """

    what: str
    bytes_per_s: float
    most: float

    @property
    def part(self) -> float:
        """Of what it carries."""
        return self.bytes_per_s / self.most


class BandwidthBook:
    """The book of one round.

    Args:
        state: The cluster so far: where executors run after the decisions taken.
        links: The ways between sites.
        task_of: What is known of a topology, by its position in the request.
    """

    def __init__(self, state: RoundState, links: SiteLinks, task_of: Callable[[int], Task]) -> None:
        self._state = state
        self._links = links
        self._task_of = task_of
        self._known: dict[int, tuple[Assignment, FloatArray]] = {}

    def left_by_others(self, topology: int) -> BandwidthLeft | None:
        """Return what all other topologies leave; None if no bandwidth is limited.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return None
        used = np.zeros(links.bandwidth.shape)
        for other in range(len(self._state.request.topologies)):
            if other != topology:
                used += self._traffic(other)
        return BandwidthLeft(
            uplink=np.maximum(links.uplink - through_uplinks(used), 0.0),
            between=np.maximum(links.bandwidth - used, 0.0),
        )

    def loads(self, topology: int) -> tuple[LinkLoad, ...]:
        """Return the limited ways between sites that a topology's streams take, the fullest first.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return ()
        own = self._traffic(topology)
        every = sum((self._traffic(each) for each in range(len(self._state.request.topologies))), 0.0 * own)
        limits = [
            (f"uplink {links.names[k]}", own_k, all_k, most)
            for k, (own_k, all_k, most) in enumerate(
                zip(through_uplinks(own), through_uplinks(every), links.uplink, strict=True)
            )
            if np.isfinite(most)
        ]
        limits += [
            (f"link {links.names[a]} - {links.names[b]}", own[a, b], every[a, b], links.bandwidth[a, b])
            for a, b in np.argwhere(np.triu(np.isfinite(links.bandwidth), 1)).tolist()
        ]
        found = [
            LinkLoad(what, float(all_k), float(most)) for what, own_k, all_k, most in limits if own_k > 0
        ]
        return tuple(sorted(found, key=lambda each: -each.part))

    def _traffic(self, topology: int) -> FloatArray:
        """Return what a topology sends between sites where it runs by now; worked out once per assignment."""
        assignment = self._state.assignment(topology)
        known = self._known.get(topology)
        if known is None or known[0] is not assignment:
            known = assignment, traffic(self._task_of(topology), self._state, self._links)
            self._known[topology] = known
        return known[1]


def through_uplinks(between: FloatArray) -> FloatArray:
    """Return (n_sites + 1,) what leaves and enters each site of flows between sites, symmetric."""
    return np.asarray(between.sum(axis=1) - np.diagonal(between), dtype=np.float64)


def traffic(task: Task, state: RoundState, links: SiteLinks) -> FloatArray:
    """Return (n_sites + 1, n_sites + 1) what a topology sends between sites, bytes/s, symmetric.

    What flows within a site is left out, and so are streams of executors without a slot.

    Args:
        task: The topology.
        state: Knows where its executors run.
        links: Knows the sites.
    """
    n_sites = len(links.names)
    total = np.zeros(links.bandwidth.shape)
    hosts = state.hosts_of(state.assignment(task.index))
    if all(host is None for host in hosts):
        return total
    site = {
        name: n_sites + 1 if host is None else int(links.site[host])
        for name, host in zip(task.graph.names, hosts, strict=True)
    }
    site.update({each.name: links.index(each.site) for each in task.terminals})
    streams = [*task.graph.streams, *(stream for each in task.terminals for stream in each.streams)]
    start = np.array([site[each.source] for each in streams], dtype=np.int64)
    end = np.array([site[each.target] for each in streams], dtype=np.int64)
    sent = np.array([each.rate * each.tuple_bytes for each in streams], dtype=np.float64)
    there = (start != end) & (start <= n_sites) & (end <= n_sites)
    np.add.at(total, (start[there], end[there]), sent[there])
    return total + total.T
