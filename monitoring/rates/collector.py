"""The rates collector: reads Nimbus' statistics at intervals, and publishes rates of all topologies."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from formats.nimbus import NimbusError
from formats.rates_reading import LIFETIME_S, MAX_NAMED
from monitoring.rates.history import WINDOW_S
from monitoring.rates.nimbus import TopologyGoneError, connect
from monitoring.rates.nimbus_faults import ReplyError, lacking
from monitoring.rates.partner_shards import PartnerShards
from monitoring.rates.rates_figures import CollectorFigures
from monitoring.rates.rates_json import to_json
from monitoring.rates.rates_options import CollectorError
from monitoring.rates.rates_reading import source_rate
from monitoring.rates.topology_rates import TopologyRates
from monitoring.rates.week_file import WeekFile
from monitoring.rates.week_memory import name_of
from monitoring.zookeeper.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from formats.log import Log
    from monitoring.rates.nimbus import NimbusClient
    from monitoring.rates.rates_options import CollectorOptions
    from monitoring.rates.rates_reading import Rates
    from monitoring.rates.topology_rates import Step
    from monitoring.zookeeper.session_figures import SessionFigures

_MEASURED = "ACTIVE"
_LOOKED_AT = (_MEASURED, "")
"""The latter is a status that Nimbus left out: a fault, and no end of the topology."""
_PAUSED = "REBALANCING"
"""Its spouts rest and its executors move: the last reading stays, and no counters are taken."""


@dataclass
class _Standing:
    """How a topology stands.

    Attributes:
        rates: Follows it; None before its shape is known.
        missing: Executors without statistics; NaN if that is not known.
        published_s: When its last reading was published; NaN before the first.
        pairs: The pairs of hosts that it names, with the tuples/s between them.
        incomplete: Whether executors lack statistics, as the log said last; None before it said so.
        fault: Kind of what is wrong with Nimbus' replies about it; empty if nothing is.
    """

    rates: TopologyRates | None = None
    missing: float = math.nan
    published_s: float = math.nan
    pairs: tuple[tuple[str, str, float], ...] = ()
    incomplete: bool | None = None
    fault: str = ""


class Collector:
    """Follows all topologies.

    Args:
        connect: Opens a connection to Nimbus; raises `NimbusError`, also within its block.
        nodes: Holds the readings in ZooKeeper.
        root: Path under which `rates` and `partners` live.
        log: Takes one line per change of state.
        clock: Seconds that do not go back.
        unix_time: Seconds since 1970.
        window_s: Length of the window over which rates are taken, s.
        weeks: Keeps what is usual at each hour of the week; None: that is not known.
    """

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[NimbusClient]],
        nodes: Session,
        root: str,
        log: Log,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
        window_s: float = WINDOW_S,
        weeks: WeekFile | None = None,
    ) -> None:
        self._connect = connect
        self._nodes = nodes
        self._folder = f"{root}/rates"
        self._partners = PartnerShards(nodes, f"{root}/partners")
        self._log = log
        self._clock = clock
        self._unix_time = unix_time
        self._window_s = window_s
        self._weeks = weeks
        self._standing: dict[str, _Standing] = {}
        self._trouble = ""
        self._sequence = 0
        self._answered_looks = 0
        self._failed_looks = 0
        self._faults: Counter[str] = Counter()
        self._topology_faults: Counter[str] = Counter()

    def figures(self) -> CollectorFigures:
        """Return what was counted so far; may be called from any thread, and waits for nothing."""
        now_s, standing = self._clock(), dict(self._standing)
        return CollectorFigures(
            answered_looks=self._answered_looks,
            failed_looks=self._failed_looks,
            readings=self._sequence,
            faults=dict(self._faults),
            topology_faults=dict(self._topology_faults),
            missing={topology: one.missing for topology, one in standing.items()},
            age_s={topology: now_s - one.published_s for topology, one in standing.items()},
        )

    def look(self) -> None:
        """Look at every topology once; without Nimbus nothing is forgotten and nothing published."""
        try:
            with self._connect() as nimbus:
                statuses = nimbus.topologies()
                known = (*_LOOKED_AT, _PAUSED)
                followed = {topology for topology, status in statuses.items() if status in known}
                for topology in sorted(self._standing.keys() - followed):
                    self._forget(topology)
                for topology, status in sorted(statuses.items()):
                    if status in _LOOKED_AT:
                        self._look_at(nimbus, topology, status)
                self._publish_partners()
                if self._weeks is not None:
                    self._weeks.save_changes()
        except NimbusError as error:
            self._failed_looks += 1
            if not self._trouble:
                self._log.warning("nimbus-silent", reason=str(error))
            self._trouble = str(error)
            return
        # only now: a scrape in the middle of a look must not see it counted as answered
        self._answered_looks += 1
        if self._trouble:
            self._trouble = ""
            self._log.info("nimbus-answers-again")

    def _look_at(self, nimbus: NimbusClient, topology: str, status: str) -> None:
        standing = self._standing.setdefault(topology, _Standing())
        try:
            if not status:
                raise lacking("the status of a topology")
            if standing.rates is None:
                standing.rates = TopologyRates(nimbus.shape(topology), self._window_s)
            looks = nimbus.executors(topology, standing.rates.shape)
        except TopologyGoneError:
            self._forget(topology)
            return
        except ReplyError as error:
            standing.missing = math.nan
            self._topology_faults[error.kind] += 1
            if standing.fault != error.kind:
                standing.fault = error.kind
                self._log.warning("topology-unreadable", topology=topology, reason=str(error))
            return
        if standing.fault:
            standing.fault = ""
            self._log.info("topology-readable-again", topology=topology)
        self._take(topology, standing, standing.rates.look(self._clock(), looks))

    def _take(self, topology: str, standing: _Standing, step: Step) -> None:
        """Log and publish what a look at a topology has brought."""
        self._faults.update(step.faulty)
        standing.missing = math.nan if step.missing is None else len(step.missing)
        for fault, executors in step.faults.items():
            self._log.warning(
                "statistics-unusable",
                topology=topology,
                reason=fault,
                executors=len(executors),
                named=executors[:MAX_NAMED],
            )
        if step.missing is not None:
            self._log_completeness(topology, standing, step.missing)
        if step.rates is not None:
            self._sequence += 1
            standing.published_s, standing.pairs = self._clock(), step.rates.host_pairs
            now_s = self._unix_time()
            ahead = self._hours_ahead(topology, standing, step.rates, now_s)
            content = to_json(topology, step.rates, now_s, self._sequence, ahead)
            self._nodes.hold(f"{self._folder}/{topology}", content)

    def _hours_ahead(
        self, topology: str, standing: _Standing, rates: Rates, now_s: float
    ) -> tuple[float | None, ...]:
        """Take what the sources emit into the week, and return how busy the next hours usually are."""
        if self._weeks is None or standing.rates is None:
            return ()
        name = name_of(topology)
        if not rates.complete:
            # a torn reading says less about the hour than none
            return self._weeks.memory.ahead(name, now_s)
        return self._weeks.take(name, now_s, source_rate(rates, standing.rates.shape))

    def _publish_partners(self) -> None:
        """Publish which hosts exchange tuples by the readings that have not outlived themselves."""
        now_s = self._clock()
        fresh = (one for one in self._standing.values() if now_s - one.published_s <= LIFETIME_S)
        self._partners.update([pair for one in fresh for pair in one.pairs], now_s, self._unix_time())

    def _log_completeness(self, topology: str, standing: _Standing, missing: tuple[str, ...]) -> None:
        if standing.incomplete == bool(missing):
            return
        standing.incomplete = bool(missing)
        if missing:
            self._log.warning(
                "rates-incomplete", topology=topology, missing=len(missing), named=missing[:MAX_NAMED]
            )
        else:
            self._log.info("rates-complete", topology=topology)

    def _forget(self, topology: str) -> None:
        self._nodes.release(f"{self._folder}/{topology}")
        self._standing.pop(topology, None)


def run(
    options: CollectorOptions,
    log: Log,
    on_start: Callable[[Callable[[], CollectorFigures], Callable[[], SessionFigures]], None] = (
        lambda _collector, _session: None
    ),
) -> None:
    """Work until SIGTERM or SIGINT, then remove the znodes.

    Args:
        options: Checked settings.
        log: Takes one line per change of state.
        on_start: Receives two functions that return the figures of collector and session at any time.

    Raises:
        CollectorError: It ended without being asked to.
    """
    stop, asked = threading.Event(), threading.Event()

    def end(*_: object) -> None:
        asked.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    addresses = options.nimbus_addresses()
    folder = f"{options.root}/rates"
    session = Session(options.zookeeper, folder, log, auth=options.auth, reasons=_REASONS, on_fault=stop.set)
    weeks = None if options.state is None else WeekFile(options.state, log)
    collector = Collector(
        lambda: connect(addresses), session, options.root, log, window_s=options.window_s, weeks=weeks
    )

    def work() -> None:
        due_s = time.monotonic()
        try:
            while not stop.is_set():
                collector.look()
                due_s = max(due_s + options.interval_s, time.monotonic())
                stop.wait(due_s - time.monotonic())
        finally:
            stop.set()

    on_start(collector.figures, session.figures)
    log.info("collector-started", nimbus=options.nimbus, zookeeper=options.zookeeper)
    session.start()
    # a thread of its own: a reply that Nimbus owes must not delay the end
    threading.Thread(target=work, name="looks", daemon=True).start()
    stop.wait()
    session.stop()
    counts = collector.figures()
    log.info(
        "collector-stopped",
        looks=counts.answered_looks + counts.failed_looks,
        failed_looks=counts.failed_looks,
        readings=counts.readings,
        unusable_statistics=sum(counts.faults.values()),
        unreadable_topologies=sum(counts.topology_faults.values()),
    )
    if not asked.is_set():
        raise CollectorError("the collector ended by a fault of its own, logged above")


_REASONS = {
    "suspended": "connection lost; statistics are still read, readings are written again on return",
    "held": "a znode belongs to another session: a former run's until it expires, or a second collector's; "
    "waiting until it is gone",
}
