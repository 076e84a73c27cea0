"""The rates collector: looks at Nimbus' statistics again and again, and publishes rates of all topologies."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from monitoring.nimbus import NimbusError, TopologyGoneError, connect
from monitoring.rates_history import WindowParameters
from monitoring.rates_options import CollectorError
from monitoring.rates_reading import MAX_NAMED, to_json
from monitoring.rates_topology import TopologyRates
from monitoring.session import Session, SessionOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from monitoring.agent_figures import SessionFigures
    from monitoring.log import Log
    from monitoring.rates_counters import ExecutorLook, Shape
    from monitoring.rates_options import CollectorOptions

_MEASURED = "ACTIVE"
_PAUSED = "REBALANCING"
"""Its spouts rest and its executors move: the last reading stays, and no counters are taken."""


class Statistics(Protocol):
    """What is asked of Nimbus."""

    def topologies(self) -> dict[str, str]:
        """Return id -> status of every topology."""

    def shape(self, topology: str) -> Shape:
        """Return who subscribes to what in a topology."""

    def executors(self, topology: str, shape: Shape) -> tuple[ExecutorLook, ...]:
        """Return the executors that have a slot."""


class Nodes(Protocol):
    """Where readings are published."""

    def hold(self, path: str, content: bytes) -> None:
        """Have an ephemeral znode hold `content` soon."""

    def release(self, path: str) -> None:
        """Have it removed soon."""


@dataclass(frozen=True, slots=True)
class CollectorFigures:
    """A collector's counts since its start, and how it stands.

    Attributes:
        looks: Looks at Nimbus.
        failed_looks: Those that it did not answer.
        readings: Readings that were handed over to be published.
        faults: Executors with unusable statistics, over all looks, by kind of fault.
        missing: Topology -> executors without statistics in the last look; NaN if none has any.
        age_s: Topology -> time since its last reading, s; NaN before the first.
    """

    looks: int
    failed_looks: int
    readings: int
    faults: Mapping[str, int]
    missing: Mapping[str, float]
    age_s: Mapping[str, float]


@dataclass
class _Standing:
    """How a topology stands: executors without statistics, when its last reading came; NaN if not known."""

    missing: float = math.nan
    told_s: float = math.nan


class Collector:
    """Follows all topologies.

    Args:
        connect: Opens a connection to Nimbus; raises `NimbusError`, also within its block.
        nodes: Takes the readings.
        root: Path under which `rates` lives.
        log: Takes one line per change of state.
        clock: Seconds that do not go back.
        unix_time: Seconds since 1970.
        parameters: See `WindowParameters`.
    """

    def __init__(
        self,
        connect: Callable[[], AbstractContextManager[Statistics]],
        nodes: Nodes,
        root: str,
        log: Log,
        *,
        clock: Callable[[], float] = time.monotonic,
        unix_time: Callable[[], float] = time.time,
        parameters: WindowParameters | None = None,
    ) -> None:
        self._connect = connect
        self._nodes = nodes
        self._folder = f"{root}/rates"
        self._log = log
        self._clock = clock
        self._unix_time = unix_time
        self._parameters = parameters or WindowParameters()
        self._topologies: dict[str, TopologyRates] = {}
        self._missing: dict[str, bool] = {}
        self._standing: dict[str, _Standing] = {}
        self._trouble = ""
        self._sequence = 0
        self._looks = 0
        self._failed_looks = 0
        self._faults: Counter[str] = Counter()

    def figures(self) -> CollectorFigures:
        """Tell what was counted so far; may be called from any thread, and waits for nothing."""
        now_s, standing = self._clock(), dict(self._standing)
        return CollectorFigures(
            looks=self._looks,
            failed_looks=self._failed_looks,
            readings=self._sequence,
            faults=dict(self._faults),
            missing={topology: one.missing for topology, one in standing.items()},
            age_s={topology: now_s - one.told_s for topology, one in standing.items()},
        )

    def look(self) -> None:
        """Look at every topology once; without Nimbus nothing is forgotten and nothing published."""
        self._looks += 1
        try:
            with self._connect() as nimbus:
                statuses = nimbus.topologies()
                for topology in sorted(self._topologies.keys() - _kept(statuses)):
                    self._forget(topology)
                for topology in sorted(one for one, status in statuses.items() if status == _MEASURED):
                    self._look_at(nimbus, topology)
        except NimbusError as error:
            self._failed_looks += 1
            if not self._trouble:
                self._log.warning("nimbus-silent", reason=str(error))
            self._trouble = str(error)
            return
        if self._trouble:
            self._trouble = ""
            self._log.info("nimbus-answers-again")

    def _look_at(self, nimbus: Statistics, topology: str) -> None:
        try:
            rates = self._topologies.get(topology)
            if rates is None:
                rates = TopologyRates(nimbus.shape(topology), self._parameters)
                self._topologies[topology] = rates
            looks = nimbus.executors(topology, rates.shape)
        except TopologyGoneError:
            self._forget(topology)
            return
        step = rates.look(self._clock(), looks)
        self._faults.update(step.faulty)
        standing = self._standing.setdefault(topology, _Standing())
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
            self._tell_completeness(topology, step.missing)
        if step.rates is not None:
            self._sequence += 1
            standing.told_s = self._clock()
            content = to_json(topology, step.rates, self._unix_time(), self._sequence)
            self._nodes.hold(f"{self._folder}/{topology}", content)

    def _tell_completeness(self, topology: str, missing: tuple[str, ...]) -> None:
        if self._missing.get(topology) == bool(missing):
            return
        self._missing[topology] = bool(missing)
        if missing:
            self._log.warning(
                "rates-incomplete", topology=topology, missing=len(missing), named=missing[:MAX_NAMED]
            )
        else:
            self._log.info("rates-complete", topology=topology)

    def _forget(self, topology: str) -> None:
        self._nodes.release(f"{self._folder}/{topology}")
        self._topologies.pop(topology, None)
        self._missing.pop(topology, None)
        self._standing.pop(topology, None)


def _kept(statuses: dict[str, str]) -> set[str]:
    return {topology for topology, status in statuses.items() if status in (_MEASURED, _PAUSED)}


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
        on_start: Told how to ask for the figures of the collector and of its session, at any time.

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
    session = Session(
        SessionOptions(options.zookeeper, f"{options.root}/rates", auth=options.auth), log, _REASONS
    )
    window = WindowParameters(window_s=options.window_s)
    collector = Collector(lambda: connect(addresses), session, options.root, log, parameters=window)

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
        looks=counts.looks,
        failed_looks=counts.failed_looks,
        readings=counts.readings,
        unusable_statistics=sum(counts.faults.values()),
    )
    if not asked.is_set():
        raise CollectorError("the collector ended by a fault of its own, told above")


_REASONS = {
    "suspended": "connection lost; statistics are still read, readings are written again on return",
    "held": "a znode belongs to another session: a former run's until it expires, or a second collector's; "
    "waiting until it is gone",
}
