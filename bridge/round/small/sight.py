"""Which delays of a round are guesses, so that no gain that rests on them is believed.

A guess is a delay by the site table or the uniform one in a cluster whose delays are measured, or were in an
earlier round. Beside measured delays it makes a place look near of which nothing is known, or a healthy place
far because its readings are lost. A cluster that has never been measured goes by its site table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.delays import Provenance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Host
    from bridge.network.delays import Delays
    from bridge.problem.task import Task
    from bridge.readings.believed import Readings
    from scheduler.base.arrays import BoolArray
    from scheduler.model.problem import Problem

_PLACES_SHOWN = 3


@dataclass(frozen=True, eq=False)
class Sight:
    """What a round sees of the cluster.

    Attributes:
        hosts: Hosts of the round.
        live: Whether the shim is connected to ZooKeeper.
        remembered: Whether delays are measured in this round or were in one before.
        measured: Whether guesses are set apart from delays: that, or a reading is stale, which may hold one.
        stale: (n_hosts,) hosts whose reading is older than its lifetime.
        unread: (n_hosts,) hosts without a believed reading.
        blind: (n_hosts,) hosts without a measured delay to any other.
        vanished: (n_hosts,) unread hosts to which others still have a link: they had an agent until lately.
            No host is while readings are not live.
        guessed: (n_hosts, n_hosts) pairs whose delay is a guess.
    """

    hosts: Sequence[Host]
    live: bool
    remembered: bool
    measured: bool
    stale: BoolArray
    unread: BoolArray
    blind: BoolArray
    vanished: BoolArray
    guessed: BoolArray

    def why_not(self, problem: Problem, placement: Sequence[int]) -> str:
        """Say why the worth of a placement is not known; empty if it is.

        Args:
            problem: The topology's problem.
            placement: Host index per executor.
        """
        if not self.live:
            return "readings are not live"
        if not self.measured:
            return ""
        host = np.array(placement, dtype=np.int64)
        application = problem.application
        # what is outside Storm is no host: of the delay to it the settings may be all that is known
        inside = np.maximum(application.stream_source, application.stream_target) < len(host)
        source, target = host[application.stream_source[inside]], host[application.stream_target[inside]]
        guessed = self.guessed[source, target]
        missing = np.zeros(len(self.hosts), dtype=np.bool_)
        missing[source[guessed]] = missing[target[guessed]] = True
        if (missing & self.blind).any():
            missing &= self.blind
        if problem.objective.weights.get("availability"):
            missing[host] |= self.unread[host]
        if not missing.any():
            return ""
        for known, phrase in ((self.stale, "readings are stale"), (self.unread, "readings are missing")):
            if (missing & known).any():
                return f"{phrase} ({self._places(missing & known)})"
        return f"delays are not measured ({self._places(missing)})"

    def closed(self, task: Task) -> BoolArray:
        """(n_hosts,) hosts where no gain can be believed: a search among them would hide those that can."""
        closed = self.vanished.copy()
        if self.measured and not self.blind.all():
            closed |= self.blind
            if task.settings.weights.get("availability"):
                closed |= self.unread
        return closed

    def _places(self, hosts: BoolArray) -> str:
        """Name the sites of hosts, and hosts of unknown site themselves."""
        chosen = [self.hosts[host] for host in np.flatnonzero(hosts).tolist()]
        places = sorted({host.site or host.name for host in chosen})
        more = f" and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
        return ", ".join(places[:_PLACES_SHOWN]) + more


def look(hosts: Sequence[Host], readings: Readings, delays: Delays, *, measured_before: bool | None) -> Sight:
    """Find out which delays are guesses.

    Args:
        hosts: Hosts of the round.
        readings: Believed readings.
        delays: Delays between the hosts.
        measured_before: Whether delays were measured in an earlier round; None for rounds that were planned
            when guesses were not set apart from delays: they are not then.
    """
    count = len(hosts)
    known = delays.provenance < Provenance.SITE_TABLE
    np.fill_diagonal(known, val=False)
    blind: BoolArray = np.logical_not(known.any(axis=1))
    # What is configured for neighbours is no guess about a site that others can see.
    seen = np.where(blind, delays.n_sites, delays.site)
    neighbours = (seen[:, None] == seen) & (seen < delays.n_sites)
    guessed = ~(known | neighbours)
    np.fill_diagonal(guessed, val=False)
    stale = frozenset(readings.stale)
    # a round of old is planned as it was: nothing had vanished then
    links_live = readings.live and measured_before is not None
    remembered = bool(measured_before) or not blind.all()
    unread = np.fromiter((host.name not in readings.by_host for host in hosts), np.bool_, count)
    return Sight(
        hosts=hosts,
        live=readings.live or measured_before is None,
        remembered=remembered,
        measured=measured_before is not None and (remembered or bool(stale)),
        stale=np.fromiter((host.name in stale for host in hosts), np.bool_, count),
        unread=unread,
        blind=blind,
        vanished=unread & _find_linked(hosts, readings)
        if links_live and unread.any()
        else np.zeros_like(unread),
        guessed=guessed,
    )


def _find_linked(hosts: Sequence[Host], readings: Readings) -> BoolArray:
    """Return (n_hosts,) the hosts to which some believed reading has a link, whatever its age."""
    peers = frozenset[str]().union(*(reading.links for reading in readings.by_host.values()))
    return np.fromiter((host.name in peers for host in hosts), np.bool_, len(hosts))
