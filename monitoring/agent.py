"""The agent: probes peers, follows its coordinate and publishes what it found, on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from typing import TYPE_CHECKING, Any

from monitoring import state
from monitoring.availability import Availability, AvailabilityParameters
from monitoring.directory import PeerDirectory
from monitoring.latency_filter import LatencyFilter
from monitoring.links import LinkParameters, Links
from monitoring.load import LoadMeter
from monitoring.options import AgentError, advertised_address
from monitoring.pace import Pace
from monitoring.peers import PeerChooser
from monitoring.prober import Prober
from monitoring.publisher import Publisher, PublisherOptions
from monitoring.reading import Address, Outages, Reading, to_json
from monitoring.vivaldi import Outcome, Vivaldi, VivaldiParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.coordinate import Coordinate
    from monitoring.log import Log
    from monitoring.options import AgentOptions
    from monitoring.peer_list import Listing

LIFETIME_S = 30.0
PUBLISH_S = 5.0
SAVE_S = 60.0
SILENT_AFTER = 5
"""Unanswered probes in a row after which a peer is called silent and its address is read again."""

SETTLED_ERROR = 0.25
UNSETTLED_ERROR = 0.5


class Agent:
    """One host's agent.

    Args:
        options: Checked settings.
        log: Takes one line per change of state.

    Raises:
        AgentError: If this host's own address cannot be told.
    """

    def __init__(self, options: AgentOptions, log: Log) -> None:
        self._options = options
        self._log = log
        self._address = Address(advertised_address(options), options.port)
        rng = random.Random(options.host)  # noqa: S311 - spreads load; nothing secret depends on it
        parameters = VivaldiParameters()
        before = self._restored(parameters.dimensions)
        self._vivaldi = Vivaldi(parameters, rng, before.coordinate if before else None)
        history = before.history if before else None
        self._availability = Availability(AvailabilityParameters(), time.monotonic(), history)
        self._filter = LatencyFilter()
        self._links = Links(LinkParameters(), self._filter)
        self._partners: tuple[str, ...] = ()
        self._directory = PeerDirectory()
        self._chooser = PeerChooser(rng)
        self._pace = Pace(options.interval_ms / 1000, rng)
        self._load = LoadMeter(options.slot_ports)
        self._prober = Prober(lambda: self._vivaldi.coordinate, self._answered, self._lost)
        self._silent: set[str] = set()
        self._sequence = 0
        self._settled = False
        self._listed: frozenset[str] = frozenset()
        self._state_trouble = ""
        self._publisher = Publisher(
            PublisherOptions(options.zookeeper, options.root, options.host, options.auth),
            lambda listing: self._hand_over(self._peers_changed, listing),
            lambda partners: self._hand_over(self._partners_changed, partners),
            log,
        )
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then remove the znode.

        Raises:
            AgentError: If the UDP port cannot be bound.
        """
        self._loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        local = (self._options.bind, self._options.port)
        try:
            transport, _ = await self._loop.create_datagram_endpoint(lambda: self._prober, local_addr=local)
        except OSError as error:
            raise AgentError(f"cannot bind UDP {local[0]}:{local[1]}: {error.strerror or error}") from error
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, stop.set)
        self._log.info("agent-started", probe=str(self._address), zookeeper=self._options.zookeeper)
        self._publisher.start()
        try:
            await self._work(stop)
        finally:
            await asyncio.to_thread(self._publisher.stop)
            transport.close()
            self._save(clean=True)
            self._log.info(
                "agent-stopped",
                answered=self._prober.answered,
                refused=self._prober.refused,
                sent_bytes=self._prober.sent_bytes,
            )

    async def _work(self, stop: asyncio.Event) -> None:
        """Probe, publish and save, each when it is due."""
        publish_due_s = save_due_s = time.monotonic()
        while not stop.is_set():
            now_s = time.monotonic()
            self._prober.expire()
            for peer in self._directory.expire(now_s):
                self._forget(peer)
            sent = self._probe_next(now_s)
            if now_s >= publish_due_s:
                publish_due_s = now_s + PUBLISH_S
                self._publisher.publish(to_json(self._reading(now_s)))
            if now_s >= save_due_s:
                save_due_s = now_s + SAVE_S
                self._save(clean=False)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._pace.next_delay_s(sent=sent))

    def _probe_next(self, now_s: float) -> bool:
        """Send one probe; say whether there was a peer to send it to."""
        peer = self._chooser.choose(self._distance_ms)
        if not peer:
            self._availability.alone()
            return False
        self._availability.asked(now_s)
        self._prober.probe(peer, self._directory.address(peer))
        return True

    def _distance_ms(self, peer: str) -> float:
        delay = self._filter.look(peer)
        return float("inf") if delay is None else delay.delay_ms

    def _answered(self, peer: str, round_trip_ms: float, place: Coordinate) -> None:
        """Learn from an answer (called by the prober)."""
        now_s = time.monotonic()
        self._availability.heard(now_s)
        if peer not in self._directory:  # forgotten while the probe was on its way
            return
        if peer in self._silent:
            self._silent.discard(peer)
            self._log.info("peer-answers-again", peer=peer)
        delay_ms = self._filter.add(peer, now_s, round_trip_ms / 2)
        self._links.answered(peer, now_s)
        if self._vivaldi.observe(delay_ms, place) is not Outcome.MOVED:
            return
        error = self._vivaldi.coordinate.error
        if self._settled != (error < (UNSETTLED_ERROR if self._settled else SETTLED_ERROR)):
            self._settled = not self._settled
            event = "coordinate-settled" if self._settled else "coordinate-unsettled"
            self._log.info(event, error=round(error, 3))

    def _lost(self, peer: str, sent_s: float) -> None:
        """Count a probe without an answer (called by the prober)."""
        if peer not in self._directory or peer in self._directory.missing():  # it left: no news of its link
            return
        losses = self._links.lost(peer, sent_s, time.monotonic())
        if losses == SILENT_AFTER:
            self._silent.add(peer)
            self._log.warning("peer-silent", peer=peer, lost=losses)
        if losses % SILENT_AFTER == 0:
            self._publisher.refresh(peer)

    def _hand_over(self, take: Callable[[Any], None], news: object) -> None:
        """Pass news on to the event loop (called from the publisher's thread)."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(take, news)

    def _peers_changed(self, listing: Listing) -> None:
        for peer in self._directory.update(time.monotonic(), listing.names, listing.addresses):
            self._drop(peer)
        for peer in self._directory.missing():
            self._links.excuse(peer)
        self._chooser.update(self._directory.names())
        if self._listed != listing.names:
            self._listed = listing.names
            self._log.info("peers-changed", listed=len(listing.names))

    def _partners_changed(self, partners: tuple[str, ...]) -> None:
        self._partners = partners
        self._chooser.favour(partners)
        self._log.info("partners-changed", partners=partners)

    def _forget(self, peer: str) -> None:
        self._chooser.update(self._directory.names())
        self._drop(peer)
        self._log.info("peer-forgotten", peer=peer)

    def _drop(self, peer: str) -> None:
        """Throw away what belongs to a peer's present run; its link's past is kept for a while."""
        self._links.excuse(peer)
        self._filter.forget(peer)
        self._silent.discard(peer)

    def _everybody_silent(self) -> bool:
        """Say whether each peer of the present round left its last probe without an answer."""
        asked = [peer for peer in self._chooser.members() if self._links.probed(peer)]
        return all(self._links.silent(peer) for peer in asked)

    def _reading(self, now_s: float) -> Reading:
        self._sequence += 1
        availability = self._availability.look(now_s, others_silent=self._everybody_silent())
        if self._availability.out:
            self._links.excuse_all()
        past = self._availability.history
        return Reading(
            time_s=time.time(),
            sequence=self._sequence,
            lifetime_s=LIFETIME_S,
            host=self._options.host,
            site=self._options.site,
            coordinate=self._vivaldi.coordinate,
            availability=availability,
            outages=Outages(past.outages, past.since_outage_s),
            load=self._load.read(),
            links=self._links.published(now_s, self._partners),
            probe=self._address,
        )

    def _restored(self, dimensions: int) -> state.State | None:
        """Read the state file; a missing or damaged one means a start from nothing."""
        path = self._options.state
        if path is None:
            return None
        try:
            saved = state.load(path, dimensions)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            self._log.warning("state-unreadable", file=str(path), reason=str(error))
            return None
        return state.resumed(saved, time.time(), AvailabilityParameters())

    def _save(self, *, clean: bool) -> None:
        path = self._options.state
        if path is None:
            return
        now = state.State(time.time(), clean, self._vivaldi.coordinate, self._availability.history)
        trouble = ""
        try:
            state.save(path, now)
        except OSError as error:
            trouble = str(error)
        if trouble != self._state_trouble:
            self._state_trouble = trouble
            if trouble:
                self._log.warning("state-unwritable", file=str(path), reason=trouble)
            else:
                self._log.info("state-written-again", file=str(path))
