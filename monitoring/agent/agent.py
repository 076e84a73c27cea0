"""The agent: probes peers, follows its coordinate and publishes what it found, on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from typing import TYPE_CHECKING

from monitoring.agent.agent_figures import AgentFigures
from monitoring.agent.agent_options import AgentError, advertised_address
from monitoring.agent.bandwidth.trains import Trains
from monitoring.agent.load import LoadMeter
from monitoring.agent.measurements import Measurements
from monitoring.agent.pace import Pace
from monitoring.agent.probe import Refusal
from monitoring.agent.prober import Prober
from monitoring.agent.state import State
from monitoring.agent.state_keeper import StateKeeper
from monitoring.agent.timetable import Timetable
from monitoring.agent.vivaldi import VivaldiParameters
from monitoring.agent.worker_cpu import LOOK_S, WorkerMeter
from monitoring.ip_addresses import is_loopback
from monitoring.reading import Address, Reading, to_json
from monitoring.zookeeper.publisher import Publisher, PublisherOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from formats.log import Log
    from monitoring.agent.agent_options import AgentOptions
    from monitoring.agent.bandwidth.bandwidth_meter import BandwidthMeter
    from monitoring.coordinate import Coordinate
    from monitoring.zookeeper.peer_list import Listing

LIFETIME_S = 30.0
PUBLISH_S = 5.0
SAVE_S = 60.0


class Agent:
    """One host's agent.

    Args:
        options: Checked settings.
        log: Takes one line per change of state.
        clock_s: A clock that does not go back, in s.

    Raises:
        AgentError: If this host's own address cannot be found.
    """

    def __init__(
        self, options: AgentOptions, log: Log, clock_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._options = options
        self._log = log
        self._clock_s = clock_s
        self._address = Address(advertised_address(options), options.port)
        rng = random.Random(options.host)  # noqa: S311 - spreads load; nothing secret depends on it
        self._state_file = StateKeeper(options.state, log)
        before = self._state_file.restore(VivaldiParameters().dimensions, time.time())
        self._measurements = Measurements(
            rng,
            clock_s(),
            log,
            before.coordinate if before else None,
            before.history if before else None,
            links=before.links if before else None,
        )
        self._pace = Pace(options.interval_ms / 1000, rng)
        self._load = LoadMeter(options.slot_ports)
        self._workers = WorkerMeter()
        self._trains = Trains.of_share(
            options.bandwidth_share,
            rng,
            log,
            knows=self._measurements.knows,
            on_measured=self._keep_fresh,
        )
        self._prober = Prober(
            lambda: self._measurements.coordinate,
            self._on_answer,
            self._lost,
            clock_s=clock_s,
            on_refusal=self._on_refusal,
            trains=self._trains,
        )
        # late answers are no news, nor hosts of a large cluster that happen not to be among this one's peers
        self._refusals_logged: set[Refusal] = {Refusal.UNASKED, Refusal.STRANGER}
        self._sequence = 0
        self._publisher = Publisher(
            PublisherOptions(
                options.zookeeper,
                options.root,
                options.host,
                options.auth,
                loopback=is_loopback(self._address.host),
            ),
            lambda listing: self._hand_over(self._on_peers, listing),
            lambda partners: self._hand_over(self._measurements.take_partners, partners),
            log,
            on_fault=lambda: self._hand_over(self._end.set),
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._asked_to_end = False
        # each has a deadline of its own: a slow pace of probes must not make readings stale
        jobs = [self._probe, self._publish, self._save, self._look]
        if (meter := self._trains.meter) is not None:
            jobs.append(lambda now_s: self._send_train(meter, now_s))
        self._jobs = Timetable(clock_s(), jobs)

    async def run(self) -> None:
        """Work until SIGTERM or SIGINT, then remove the znode.

        Raises:
            AgentError: If the UDP port cannot be bound, or the agent ended without being asked to.
        """
        self._loop = asyncio.get_running_loop()
        local = (self._options.bind, self._options.port)
        try:
            transport, _ = await self._loop.create_datagram_endpoint(lambda: self._prober, local_addr=local)
        except OSError as error:
            raise AgentError(f"cannot bind UDP {local[0]}:{local[1]}: {error.strerror or error}") from error
        for number in (signal.SIGTERM, signal.SIGINT):
            self._loop.add_signal_handler(number, self._ask_to_end)
        self._log.info("agent-started", probe=str(self._address), zookeeper=self._options.zookeeper)
        self._publisher.start()
        try:
            await self._work()
        finally:
            await asyncio.to_thread(self._publisher.stop)
            transport.close()
            # whatever ended the agent unasked is an outage of its host
            await self._state_file.save(self._state(self._clock_s(), clean=self._asked_to_end))
            self._log.info(
                "agent-stopped",
                answered=self._prober.answered,
                refused=self._prober.refusals.total(),
                sent_bytes=self._prober.sent_bytes,
                train_bytes=self._trains.figures().sent_bytes,
            )
        if not self._asked_to_end:
            raise AgentError("the agent ended by a fault of its own, logged above")

    def figures(self) -> AgentFigures:
        """Return what was counted so far; may be called from any thread, and waits for nothing."""
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
            trains=self._trains.figures(),
        )

    def turn(self) -> float:
        """Probe, publish and save, each if it is due.

        Returns:
            The time of the clock at which something is due next, s.
        """
        self._prober.expire()
        due_s = self._jobs.turn(self._clock_s())
        return min(due_s, self._prober.due_s())

    async def _work(self) -> None:
        """Take turns until the end."""
        while not self._end.is_set():
            due_s = self.turn()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._end.wait(), due_s - self._clock_s())

    def _ask_to_end(self) -> None:
        self._asked_to_end = True
        self._end.set()

    def _probe(self, now_s: float) -> float:
        chosen = self._measurements.next_peer(now_s)
        if chosen is not None:
            self._prober.probe(*chosen)
        return self._pace.next_delay_s(sent=chosen is not None)

    def _publish(self, now_s: float) -> float:
        self._publisher.publish(to_json(self._reading(now_s)))
        return PUBLISH_S

    def _save(self, now_s: float) -> float:
        self._state_file.save_soon(self._state(now_s, clean=False))
        return SAVE_S

    def _look(self, now_s: float) -> float:
        if self._loop is not None:
            self._workers.look_soon(now_s)
        return LOOK_S

    def _send_train(self, meter: BandwidthMeter, now_s: float) -> float:
        peers = self._measurements.elsewhere(self._options.site or "", now_s)
        asked = meter.turn(peers, now_s)
        if asked is not None:
            datagram, address = asked
            self._prober.send([(datagram, (address.host, address.port))])
        return meter.wait_s(peers, now_s)

    def _keep_fresh(self, peer: str, address: Address) -> None:
        """Probe a peer whose bandwidth was measured, as it is published with the delay (called by trains)."""
        self._prober.probe(peer, address)

    def _on_answer(self, peer: str, round_trip_ms: float, place: Coordinate) -> None:
        """Pass an answer on (called by the prober)."""
        self._measurements.take_answer(peer, self._clock_s(), round_trip_ms, place)

    def _lost(self, peer: str, sent_s: float) -> None:
        """Pass the loss of a probe on (called by the prober)."""
        if self._measurements.lost(peer, sent_s, self._clock_s()):
            self._publisher.refresh(peer)

    def _on_refusal(self, sender: str, refusal: Refusal, reason: str) -> None:
        """Log the first datagram that is refused for a reason (called by the prober)."""
        if refusal not in self._refusals_logged:
            self._refusals_logged.add(refusal)
            self._log.warning("datagram-refused", sender=sender, refusal=refusal, reason=reason)

    def _hand_over(self, take: Callable[..., None], *news: object) -> None:
        """Pass news on to the event loop (called from the publisher's thread)."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(take, *news)

    def _on_peers(self, listing: Listing) -> None:
        self._measurements.take_peers(listing, self._clock_s())

    def _reading(self, now_s: float) -> Reading:
        self._sequence += 1
        availability, outages, links = self._measurements.look(now_s)
        if self._trains.meter is not None:
            links = self._trains.meter.add_to(links, now_s)
        return Reading(
            time_s=time.time(),
            sequence=self._sequence,
            lifetime_s=LIFETIME_S,
            host=self._options.host,
            site=self._options.site,
            tier=self._options.tier,
            coordinate=self._measurements.coordinate,
            availability=availability,
            outages=outages,
            load=self._load.read(),
            links=links,
            probe=self._address,
            workers=self._workers.found,
        )

    def _state(self, now_s: float, *, clean: bool) -> State:
        measurements = self._measurements
        return State(
            time.time(), clean, measurements.coordinate, measurements.history, measurements.link_memory(now_s)
        )
