"""The agent: probes peers, follows its coordinate and publishes what it found, on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from typing import TYPE_CHECKING, Any

from monitoring import state
from monitoring.agent_figures import AgentFigures
from monitoring.availability import AvailabilityParameters
from monitoring.load import LoadMeter
from monitoring.measurements import Measurements
from monitoring.options import AgentError, advertised_address
from monitoring.pace import Pace
from monitoring.probe import Refusal
from monitoring.prober import Prober
from monitoring.publisher import Publisher, PublisherOptions
from monitoring.reading import Address, Reading, to_json
from monitoring.vivaldi import VivaldiParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitoring.coordinate import Coordinate
    from monitoring.log import Log
    from monitoring.options import AgentOptions
    from monitoring.peer_list import Listing

LIFETIME_S = 30.0
PUBLISH_S = 5.0
SAVE_S = 60.0


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
        before = self._restored(VivaldiParameters().dimensions)
        self._measurements = Measurements(
            rng,
            time.monotonic(),
            log,
            before.coordinate if before else None,
            before.history if before else None,
            links=before.links if before else None,
        )
        self._pace = Pace(options.interval_ms / 1000, rng)
        self._load = LoadMeter(options.slot_ports)
        self._prober = Prober(
            lambda: self._measurements.coordinate, self._answered, self._lost, on_refusal=self._refused
        )
        self._refusals_told: set[Refusal] = {Refusal.UNASKED}  # late answers are no news
        self._sequence = 0
        self._state_trouble = ""
        self._publisher = Publisher(
            PublisherOptions(options.zookeeper, options.root, options.host, options.auth),
            lambda listing: self._hand_over(self._peers_changed, listing),
            lambda partners: self._hand_over(self._measurements.partners_changed, partners),
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
                refused=self._prober.refusals.total(),
                sent_bytes=self._prober.sent_bytes,
            )

    def figures(self) -> AgentFigures:
        """Tell what was counted so far; may be called from any thread, and waits for nothing."""
        prober, measurements = self._prober, self._measurements
        return AgentFigures(
            sent=prober.sent,
            returned=prober.returned,
            lost=prober.lost,
            answered=prober.answered,
            refusals={str(refusal): count for refusal, count in dict(prober.refusals).items()},
            sent_bytes=prober.sent_bytes,
            error=measurements.coordinate.error,
            peers=measurements.peers,
            silent_peers=measurements.silent_peers,
            unreadable=self._publisher.unreadable(),
            session=self._publisher.figures(),
        )

    async def _work(self, stop: asyncio.Event) -> None:
        """Probe, publish and save, each when it is due."""
        publish_due_s = save_due_s = time.monotonic()
        while not stop.is_set():
            now_s = time.monotonic()
            self._prober.expire()
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
        chosen = self._measurements.next_peer(now_s)
        if chosen is None:
            return False
        self._prober.probe(*chosen)
        return True

    def _answered(self, peer: str, round_trip_ms: float, place: Coordinate) -> None:
        """Pass an answer on (called by the prober)."""
        self._measurements.answered(peer, time.monotonic(), round_trip_ms, place)

    def _lost(self, peer: str, sent_s: float) -> None:
        """Pass the loss of a probe on (called by the prober)."""
        if self._measurements.lost(peer, sent_s, time.monotonic()):
            self._publisher.refresh(peer)

    def _refused(self, sender: str, refusal: Refusal, reason: str) -> None:
        """Tell the first datagram that is refused for a reason (called by the prober)."""
        if refusal not in self._refusals_told:
            self._refusals_told.add(refusal)
            self._log.warning("datagram-refused", sender=sender, refusal=refusal, reason=reason)

    def _hand_over(self, take: Callable[[Any], None], news: object) -> None:
        """Pass news on to the event loop (called from the publisher's thread)."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(take, news)

    def _peers_changed(self, listing: Listing) -> None:
        self._measurements.peers_changed(listing, time.monotonic())

    def _reading(self, now_s: float) -> Reading:
        self._sequence += 1
        availability, outages, links = self._measurements.look(now_s)
        return Reading(
            time_s=time.time(),
            sequence=self._sequence,
            lifetime_s=LIFETIME_S,
            host=self._options.host,
            site=self._options.site,
            coordinate=self._measurements.coordinate,
            availability=availability,
            outages=outages,
            load=self._load.read(),
            links=links,
            probe=self._address,
        )

    def _restored(self, dimensions: int) -> state.State | None:
        """Read the state file; a missing or damaged one means a start from nothing."""
        path = self._options.state
        if path is None:
            return None
        try:
            saved = state.load(
                path,
                dimensions,
                lambda reason: self._log.warning("state-links-unreadable", file=str(path), reason=reason),
            )
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
        now = state.State(
            time.time(),
            clean,
            self._measurements.coordinate,
            self._measurements.history,
            self._measurements.link_memory(time.monotonic()),
        )
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
