"""The daemon's metrics: what rounds came to, and what the last one knew."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from prometheus_client import Counter, Gauge, Histogram

from bridge.network.delays import Provenance
from bridge.readings.fault_kinds import FaultKind
from bridge.server.callbacks import RoundCallbacks, Unplanned
from bridge.wire.messages import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from prometheus_client import CollectorRegistry

    from bridge.network.delays import Delays
    from bridge.round.round_data import RoundData
    from bridge.round.round_report import Round

# From a round that keeps all to the longest that the settings allow for.
_PLAN_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
# Up to what is given up.
_PAUSE_BUCKETS_S = (2.5, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 120.0, 300.0, 600.0)
_PLANNED, _TIMED_OUT = "planned", "timed_out"
_PREDICTED, _MEASURED, _NOT_MEASURED = "predicted", "measured", "not_measured"
_DECISIONS = {Decision.KEEP: "kept", Decision.ASSIGN: "assigned", Decision.UNPLACEABLE: "unplaceable"}
_LEFT_OUT = "left_out"
_UNKNOWN = float("nan")


class DaemonMetrics(RoundCallbacks):
    """Counts rounds; every method takes only the locks of the numbers that it changes.

    Args:
        registry: Where the metrics are to be found.
        unix_time: Seconds since 1970.
    """

    def __init__(self, registry: CollectorRegistry, unix_time: Callable[[], float] = time.time) -> None:
        self._unix_time = unix_time
        counter, gauge = partial(Counter, registry=registry), partial(Gauge, registry=registry)
        self._rounds = counter("stormplace_daemon_rounds", "Requests for a plan, by outcome.", ["outcome"])
        self._plan_s = Histogram(
            "stormplace_daemon_plan_duration_seconds",
            "Time from the beginning of planning to the plan.",
            buckets=_PLAN_BUCKETS_S,
            registry=registry,
        )
        self._faults = counter(
            "stormplace_daemon_faults",
            "Faulty inputs, each counted in every round that meets it, by kind.",
            ["kind"],
        )
        self._topologies = counter(
            "stormplace_daemon_topologies",
            "Topologies decided about, each counted in every round, by decision.",
            ["decision"],
        )
        self._moves = counter("stormplace_daemon_executors_moved", "Running executors that plans moved.")
        self._restarts = counter(
            "stormplace_daemon_executors_restarted", "Running executors that plans restarted."
        )
        self._measured = counter(
            "stormplace_daemon_moves_measured",
            "Plans that restarted executors, by whether it was measured what they cost.",
            ["outcome"],
        )
        self._pause_s = Histogram(
            "stormplace_daemon_move_pause_seconds",
            "Pauses of executors that plans restarted, of plans that were measured.",
            ["kind"],
            buckets=_PAUSE_BUCKETS_S,
            registry=registry,
        )
        self._unrecorded = counter(
            "stormplace_daemon_record_failures", "Rounds that were planned but could not be recorded."
        )
        self._pairs = gauge(
            "stormplace_daemon_delay_pairs",
            "Pairs of hosts in the last round, by the source of their delay.",
            ["source"],
        )
        self._outdated = gauge(
            "stormplace_daemon_outdated_pairs",
            "Pairs of hosts in the last round whose direct link is outdated by fresher ones of its sites.",
        )
        self._hosts = gauge(
            "stormplace_daemon_hosts",
            "Hosts in the last round, by what became of their reading.",
            ["reading"],
        )
        self._rated = gauge(
            "stormplace_daemon_rated_topologies",
            "Topologies in the last round, by whether their rates are measured.",
            ["rates"],
        )
        self._embedding_error = gauge(
            "stormplace_daemon_embedding_error_ratio",
            "Median relative error of coordinates against direct links in the last round; NaN without any.",
        )
        self._last_s = gauge(
            "stormplace_daemon_last_round_timestamp_seconds",
            "Unix time of the last round that was planned; NaN before the first.",
        )
        for unknown in (self._outdated, self._embedding_error, self._last_s):
            unknown.set(_UNKNOWN)
        self._begin_with_all_labels()

    def on_round(self, done: Round, faults: Mapping[FaultKind, int], plan_s: float) -> None:
        """Count a round and keep what it knew."""
        self._rounds.labels(_TIMED_OUT if done.timed_out else _PLANNED).inc()
        self._plan_s.observe(plan_s)
        for kind, count in faults.items():
            self._faults.labels(kind).inc(count)
        for plan in done.response.plans:
            self._topologies.labels(_DECISIONS[plan.decision]).inc()
        self._topologies.labels(_LEFT_OUT).inc(len(done.left_out))
        self._moves.inc(done.moves)
        self._restarts.inc(done.restarts)
        for each in done.measured:
            self._measured.labels(_NOT_MEASURED if each.why_not else _MEASURED).inc()
            if each.measured_pause_s is not None:
                self._pause_s.labels(_PREDICTED).observe(each.pause_s)
                self._pause_s.labels(_MEASURED).observe(each.measured_pause_s)
        self._keep(done.known, len(done.response.plans) + len(done.left_out))

    def on_unplanned(self, why: Unplanned) -> None:
        """Count a request without a plan."""
        self._rounds.labels(why).inc()

    def on_record_failure(self) -> None:
        """Count a round that was not recorded."""
        self._unrecorded.inc()

    def _begin_with_all_labels(self) -> None:
        """Have every counter at 0, so that the first event is an increase."""
        for outcome in (_PLANNED, _TIMED_OUT, *Unplanned):
            self._rounds.labels(outcome)
        for kind in FaultKind:
            self._faults.labels(kind)
        for decision in (*_DECISIONS.values(), _LEFT_OUT):
            self._topologies.labels(decision)
        for outcome in (_MEASURED, _NOT_MEASURED):
            self._measured.labels(outcome)
        for pause in (_PREDICTED, _MEASURED):
            self._pause_s.labels(pause)

    def _keep(self, known: RoundData, topologies: int) -> None:
        for source, pairs in _pairs_by_source(known.delays).items():
            self._pairs.labels(source).set(pairs)
        self._outdated.set(known.delays.outdated_pairs)
        believed, stale = len(known.readings.by_host), len(known.readings.stale)
        self._hosts.labels("believed").set(believed)
        self._hosts.labels("stale").set(stale)
        self._hosts.labels("none").set(len(known.hosts.hosts) - believed - stale)
        rated = len(known.rates.by_topology)
        self._rated.labels("measured").set(rated)
        self._rated.labels("not_measured").set(topologies - rated)
        error = known.delays.embedding.error
        self._embedding_error.set(_UNKNOWN if error is None else error)
        self._last_s.set(self._unix_time())


def _pairs_by_source(delays: Delays) -> dict[str, int]:
    """Count pairs of hosts, each once, by the source of their delay."""
    counts = np.bincount(delays.provenance.ravel(), minlength=len(Provenance))
    # The diagonal is no pair, and stands as measured.
    counts[Provenance.MEASURED] -= len(delays.provenance)
    return {source.name.lower(): int(counts[source]) // 2 for source in Provenance}
