"""Draws a host's conclusions from its probes: no socket, no clock, no ZooKeeper in here.

All times are s of one clock that does not go back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.agent.availability import Availability
from monitoring.agent.bandwidth.train_targets import Destination
from monitoring.agent.directory import PeerDirectory
from monitoring.agent.latency_filter import LatencyFilter
from monitoring.agent.links import Links
from monitoring.agent.peers import PeerChooser
from monitoring.agent.vivaldi import Vivaldi, VivaldiParameters
from monitoring.reading import Outages

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    from formats.log import Log
    from monitoring.agent.availability import History
    from monitoring.agent.link_memory import LinkMemory
    from monitoring.coordinate import Coordinate
    from monitoring.reading import Address, Link
    from monitoring.zookeeper.peer_list import Listing

SILENT_AFTER = 5
"""Unanswered probes in a row after which a peer is called silent and its address is read again."""

SETTLED_ERROR = 0.25
UNSETTLED_ERROR = 0.5


class Measurements:
    """One host's view of itself and its peers.

    Args:
        rng: Source of all choices.
        now_s: Time of the start.
        log: Takes one line per change of state.
        coordinate: The last one before a restart.
        history: The host's past before a restart.
        links: Its links' past.
    """

    def __init__(
        self,
        rng: Random,
        now_s: float,
        log: Log,
        coordinate: Coordinate | None = None,
        history: History | None = None,
        *,
        links: Mapping[str, LinkMemory] | None = None,
    ) -> None:
        self._log = log
        self._vivaldi = Vivaldi(VivaldiParameters(), rng, coordinate)
        self._availability = Availability(now_s, history)
        self._filter = LatencyFilter()
        self._links = Links(self._filter)
        self._links.restore(links or {}, now_s)
        self._directory = PeerDirectory()
        self._chooser = PeerChooser(rng)
        self._partners: tuple[str, ...] = ()
        self._listed: frozenset[str] = frozenset()
        self._sites: Mapping[str, str] = {}
        self._silent: set[str] = set()
        self._settled = False

    @property
    def coordinate(self) -> Coordinate:
        """Where this host is now."""
        return self._vivaldi.coordinate

    @property
    def history(self) -> History:
        """Good and bad time and outages up to the last look."""
        return self._availability.history

    @property
    def peers(self) -> int:
        """Number of other hosts that publish a reading."""
        return len(self._listed)

    @property
    def silent_peers(self) -> int:
        """Number of those that leave probes without an answer."""
        return len(self._silent)

    def link_memory(self, now_s: float) -> dict[str, LinkMemory]:
        """Return what should outlive a restart of this host's links, by peer."""
        return self._links.memory(now_s)

    def next_peer(self, now_s: float) -> tuple[str, Address] | None:
        """Name whom to probe now and where; None if there is no peer."""
        self._forget(now_s)
        peer = self._chooser.choose(lambda candidate: self._distance_ms(candidate, now_s))
        if not peer:
            self._availability.alone()
            return None
        self._availability.note_probe(now_s)
        return peer, self._directory.address(peer)

    def knows(self, host: str) -> bool:
        """Say whether a numeric address is a known peer's."""
        return any(self._directory.address(peer).host == host for peer in self._directory.names())

    def elsewhere(self, site: str, now_s: float) -> dict[str, Destination]:
        """Return the peers that are known to be of another site than this and answer probes, by name."""
        self._forget(now_s)
        return {
            peer: Destination(there, self._directory.address(peer))
            for peer in self._links.fresh(now_s)
            if (there := self._sites.get(peer, site)) != site
            and peer in self._directory
            and not self._links.is_silent(peer)
        }

    def take_answer(self, peer: str, now_s: float, round_trip_ms: float, place: Coordinate) -> None:
        """Learn from an answer."""
        self._availability.note_answer(now_s)
        if peer not in self._directory:  # forgotten while the probe was on its way
            return
        if peer in self._silent:
            self._silent.discard(peer)
            self._log.info("peer-answers-again", peer=peer)
        delay_ms = self._filter.add(peer, now_s, round_trip_ms / 2)
        self._links.note_answer(peer, now_s)
        if not self._vivaldi.observe(delay_ms, place):
            return
        error = self._vivaldi.coordinate.error
        if self._settled != (error < (UNSETTLED_ERROR if self._settled else SETTLED_ERROR)):
            self._settled = not self._settled
            event = "coordinate-settled" if self._settled else "coordinate-unsettled"
            self._log.info(event, error=round(error, 3))

    def lost(self, peer: str, sent_s: float, now_s: float) -> bool:
        """Count a probe without an answer; say whether the peer's address should be read again."""
        if peer not in self._directory or peer in self._directory.missing():  # it left: no news of its link
            return False
        losses = self._links.lost(peer, sent_s, now_s)
        if losses == SILENT_AFTER:
            self._silent.add(peer)
            self._log.warning("peer-silent", peer=peer, lost=losses)
        return losses % SILENT_AFTER == 0

    def take_peers(self, listing: Listing, now_s: float) -> None:
        """Take a new list of peers."""
        for peer in self._directory.update(now_s, listing.names, listing.addresses):
            self._drop(peer)
        for peer in self._directory.missing():
            self._links.excuse(peer)
        self._chooser.update(self._directory.names())
        self._sites = listing.sites
        if self._listed != listing.names:
            for peer in set(self._links.unprobed()) - listing.names:
                self._drop(peer)  # it left while this agent was away
            self._listed = listing.names
            self._log.info("peers-changed", listed=len(listing.names))

    def take_partners(self, partners: tuple[str, ...]) -> None:
        """Take the hosts that exchange tuples with this one."""
        self._partners = partners
        self._chooser.favour(partners)
        self._log.info("partners-changed", partners=partners)

    def look(self, now_s: float) -> tuple[float, Outages, dict[str, Link]]:
        """Conclude: availability of this host, 0 to 1, its outages, and its links by peer."""
        self._forget(now_s)
        availability = self._availability.look(now_s, others_silent=self._everybody_silent())
        if self._availability.out:
            self._links.excuse_all()
        past = self._availability.history
        outages = Outages(past.outages, past.since_outage_s)
        return availability, outages, self._links.choose(now_s, self._partners)

    def _distance_ms(self, peer: str, now_s: float) -> float:
        delay = self._filter.look(peer, now_s)
        return float("inf") if delay is None else delay.delay_ms

    def _forget(self, now_s: float) -> None:
        for gone in self._directory.expire(now_s):
            self._chooser.update(self._directory.names())
            self._drop(gone)
            self._log.info("peer-forgotten", peer=gone)

    def _drop(self, peer: str) -> None:
        """Throw away what belongs to a peer's present run; its link's past is kept for a while."""
        self._links.excuse(peer)
        self._filter.forget(peer)
        self._silent.discard(peer)

    def _everybody_silent(self) -> bool:
        """Say whether each peer of the present round left its last probe without an answer."""
        probed = [peer for peer in self._chooser.members() if self._links.is_probed(peer)]
        return all(self._links.is_silent(peer) for peer in probed)
