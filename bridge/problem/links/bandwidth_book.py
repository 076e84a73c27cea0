"""One book of a round: what topologies send between sites, and what they leave to one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.links.traffic import NO_TRAFFIC, Sending, Traffic, traffic
from bridge.wire.messages import UNASSIGNED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from bridge.network.site_links import SiteLinks
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class BandwidthLeft:
    """What is left of bandwidths, bytes/s, never below 0.

    Attributes:
        uplink: (n_sites + 1,) into and out of each site, infinite without a limit.
        pairs: (n_pairs, 2) the pairs of sites between which a bandwidth is limited, the first site before the
            second.
        between: (n_pairs,) of each of these pairs.
    """

    uplink: FloatArray
    pairs: IntArray
    between: FloatArray


@dataclass(frozen=True, eq=False)
class Elsewhere:
    """What topologies send that are not in a request, such as those beside a close-up.

    Attributes:
        uplink: (n_sites + 1,) into and out of each site, bytes/s.
        between: (n_pairs,) between the pairs of sites whose bandwidth is limited, bytes/s.
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

    What a topology sends is worked out once for where its executors run, and the sum over all topologies is
    kept: it is asked for with each question and each status line, and topologies may be thousands.

    Args:
        links: The ways between sites.
        host_of_supervisor: Host of each supervisor.
        count: Number of topologies.
        supervisors_of: Where the executors of a topology run by now, by its position in the request:
            supervisor of each, `UNASSIGNED` for none.
        sending_of: What a topology sends, likewise.
        ends_outside: Whether it has ends outside Storm, likewise.
        changed: Positions of topologies in the order in which it was decided about them; it only grows.
        elsewhere: What topologies send that are not in the request; None: there are none.
    """

    def __init__(
        self,
        links: SiteLinks,
        host_of_supervisor: Sequence[int],
        count: int,
        supervisors_of: Callable[[int], tuple[int, ...]],
        sending_of: Callable[[int], Sending],
        *,
        ends_outside: Callable[[int], bool],
        changed: Sequence[int],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self._links = links
        self._count = count
        # behind the hosts: for executors without one
        self._site = np.append(links.site[list(host_of_supervisor)], len(links.names) + 1)
        self._supervisors_of = supervisors_of
        self._sending_of = sending_of
        self._ends_outside = ends_outside
        self._changed = changed
        self._elsewhere = elsewhere
        self._seen = 0
        self._traffic: list[Traffic] = []
        self._between = np.zeros(0)
        self._uplink = np.zeros(0)

    def sent_by_others(self, topology: int) -> Elsewhere | None:
        """Return what all other topologies send; None if no bandwidth is limited.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return None
        self._catch_up()
        own, n_sites = self._traffic[topology], len(links.names)
        return Elsewhere(
            uplink=np.maximum(self._uplink - own.of_uplinks(n_sites), 0.0),
            between=np.maximum(self._between - own.of_pairs(links.limited_pairs, n_sites), 0.0),
        )

    def left_by_others(self, topology: int) -> BandwidthLeft | None:
        """Return what all other topologies leave; None if no bandwidth is limited.

        Args:
            topology: Position of the topology in the request.
        """
        links, others = self._links, self.sent_by_others(topology)
        if others is None:
            return None
        return BandwidthLeft(
            uplink=np.maximum(links.uplink - others.uplink, 0.0),
            pairs=links.limited_pairs,
            between=np.maximum(links.limits - others.between, 0.0),
        )

    def loads(self, topology: int) -> tuple[LinkLoad, ...]:
        """Return the limited ways between sites that a topology's streams take, the fullest first.

        Args:
            topology: Position of the topology in the request.
        """
        links = self._links
        if not links.limited:
            return ()
        self._catch_up()
        own, names = self._traffic[topology], links.names
        over = np.isfinite(links.uplink) & (own.of_uplinks(len(names)) > 0)
        found = [
            LinkLoad(f"uplink {names[k]}", float(self._uplink[k]), float(links.uplink[k]))
            for k in np.flatnonzero(over).tolist()
        ]
        for k in np.flatnonzero(own.of_pairs(links.limited_pairs, len(names)) > 0).tolist():
            one, other = links.limited_pairs[k].tolist()
            what = f"link {names[one]} - {names[other]}"
            found.append(LinkLoad(what, float(self._between[k]), float(links.limits[k])))
        return tuple(sorted(found, key=lambda each: -each.part))

    def _catch_up(self) -> None:
        """Bring the sums up to what was decided by now."""
        pairs, n_sites = self._links.limited_pairs, len(self._links.names)
        again = sorted({*self._changed[self._seen :]})
        if not self._traffic:
            self._uplink, self._between = np.zeros(n_sites + 1), np.zeros(len(pairs))
            if self._elsewhere is not None:
                self._uplink += self._elsewhere.uplink
                self._between += self._elsewhere.between
            self._traffic = [NO_TRAFFIC] * self._count
            again = [*range(self._count)]
        self._seen = len(self._changed)
        for topology in again:
            before, now = self._traffic[topology], self._sent(topology)
            if now is before:
                continue
            self._traffic[topology] = now
            self._uplink += now.of_uplinks(n_sites) - before.of_uplinks(n_sites)
            self._between += now.of_pairs(pairs, n_sites) - before.of_pairs(pairs, n_sites)

    def _sent(self, topology: int) -> Traffic:
        supervisors = np.array(self._supervisors_of(topology), dtype=np.int64)
        site = self._site[np.where(supervisors == UNASSIGNED, -1, supervisors)].astype(np.int64)
        if len(set(site.tolist())) < 2 and not self._ends_outside(topology):
            return NO_TRAFFIC
        try:
            return traffic(self._sending_of(topology), site, self._links)
        except Exception:  # noqa: BLE001  # one topology's fault must not cost the others their plan
            return NO_TRAFFIC


def book_of(
    state: RoundState,
    links: SiteLinks,
    wishes: Sequence[Wishes],
    task_of: Callable[[int], Task],
    elsewhere: Elsewhere | None,
) -> BandwidthBook:
    """Return the book of a round that is planned executor by executor.

    Args:
        state: The cluster as decisions are taken.
        links: The ways between sites.
        wishes: What each topology asks for.
        task_of: What is known of a topology, by its position in the request.
        elsewhere: What topologies send that are not in the request; None: there are none.
    """

    def sending_of(topology: int) -> Sending:
        task = task_of(topology)
        return Sending(task.flows, task.terminals)

    hosts, count = state.hosts.host_of_supervisor, len(state.request.topologies)
    return BandwidthBook(
        links,
        hosts,
        count,
        state.supervisors,
        sending_of,
        ends_outside=lambda topology: wishes[topology].own.ends_outside,
        changed=state.changed,
        elsewhere=elsewhere,
    )
