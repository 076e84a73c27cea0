"""A round in the daemon: check, plan, log and record one request."""

from __future__ import annotations

import threading
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bridge.readings.fault_kinds import FaultKind
from bridge.record.record_queue import AnsweredRound, RecordQueue
from bridge.round.carrying_out import carried_out
from bridge.round.malformed import name_malformed
from bridge.round.planner import plan_round
from bridge.round.status import data_summary
from bridge.server.afterwork import Afterwork
from bridge.server.callbacks import RoundCallbacks, Unplanned
from bridge.server.clusters import Clusters
from bridge.server.previews import Previews
from bridge.server.repeats import RepeatLog
from bridge.server.round_call import RoundCall
from bridge.server.round_line import measurement_fields, topology_fields
from bridge.wire.contract import OLDEST_VERSION, VERSION, VersionError, WireError, idl
from bridge.wire.request_decoding import request_from_thrift
from formats.counted import counted
from scheduler.contract.children import INLINE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bridge.record.record import RecordWriter
    from bridge.round.memory import Memory
    from bridge.round.round_report import Round
    from bridge.server.clusters import RememberedCluster, Shown
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest
    from bridge.wire.request_decoding import Received
    from formats.log import Log
    from scheduler.contract.children import Children

# No shim waits for so long, and a deadline of years must not keep a connection.
_LONGEST_WAIT_S = 60.0
# One fault of ours may hit every topology alike.
_MOST_TRACES = 10


class RoundHandler:
    """Answers the calls of the service `PreviewDaemon`; safe to use from several threads.

    Args:
        settings: The daemon's settings.
        recorder: Where rounds are recorded, None if they are not.
        log: One event per round and per change of what is wrong.
        children: Runs what strategies leave to others, such as solvers.
        callbacks: Called for every round; nothing of it reaches a plan.

    Attributes:
        previews: Answers looks at what a plan would do.
    """

    def __init__(
        self,
        settings: Settings,
        recorder: RecordWriter | None,
        log: Log,
        children: Children = INLINE,
        callbacks: RoundCallbacks | None = None,
    ) -> None:
        self._callbacks = callbacks or RoundCallbacks()
        self._settings = settings
        self._records = None if recorder is None else RecordQueue(recorder, self._not_recorded)
        self._log = log
        self._repeats = RepeatLog(log)
        self._children = children
        self._slots = threading.BoundedSemaphore(settings.server.max_rounds)
        self._lock = threading.Lock()
        self._clusters = Clusters()
        self.previews = Previews(self._last_round, lambda: self._settings, children, log)
        self._fault_counts: Counter[FaultKind] = Counter()
        self._record_failures = 0

    @property
    def settings(self) -> Settings:
        """The settings by which the next round is planned."""
        return self._settings

    def use(self, settings: Settings) -> None:
        """Plan by other settings from the next round on; what serves connections keeps its own."""
        self._settings = settings

    def call(self, began_s: float | None = None) -> RoundCall:
        """Return what answers one call.

        Args:
            began_s: When its first byte came, monotonic s; None means now.
        """
        return RoundCall(self, time.monotonic() if began_s is None else began_s)

    def close(self) -> None:
        """Record the rounds that wait for it; what is planned on for the next ones is given up."""
        with self._lock:
            for cluster in self._clusters:
                if cluster.afterwork is not None:
                    cluster.afterwork.stop()
        if self._records is not None:
            self._records.close()

    def record(self, answered: AnsweredRound) -> None:
        """Have a round recorded, without waiting for it."""
        if self._records is not None:
            self._records.put(answered)

    def answer(self, raw: Any, began_s: float) -> AnsweredRound:
        """Plan one round.

        Args:
            raw: The request's thrift struct.
            began_s: When its first byte came, monotonic s: its deadline counts from then.

        Raises:
            Refused: The thrift exception: a request of another version or against the contract, too many
                rounds at once, or a fault of the daemon (which is logged with its trace).
        """
        settings = self._settings
        began_unix_s = time.time() - (time.monotonic() - began_s)
        try:
            received = request_from_thrift(raw)
        except WireError as error:
            raise self._refusal(error) from error
        request = received.request
        margin_ms = settings.plan.deadline_margin_ms
        if request.deadline_ms <= margin_ms:
            reason = f"the deadline of {request.deadline_ms} ms is within plan.deadline_margin_ms {margin_ms}"
            self._repeats.warning("no time to plan", round_id=request.round_id, reason=reason)
        wait_s = began_s + request.deadline_ms / 1000.0 - time.monotonic()
        if not self._slots.acquire(timeout=min(max(wait_s, 0.0), _LONGEST_WAIT_S)):
            rounds = counted(settings.server.max_rounds, "round is", "rounds are")
            reason = f"{rounds} being planned already"
            self._repeats.warning("request not planned", round_id=request.round_id, reason=reason)
            self._callbacks.on_unplanned(Unplanned.BUSY)
            raise idl.Refused(reason=reason)
        try:
            with self._lock:
                cluster = self._clusters.of(request.cluster)
                if cluster.afterwork is not None:
                    cluster.afterwork.stop()
                    cluster.afterwork = None
                # A clock that no one sets: stepping the wall clock must neither end nor prolong a cool-down.
                memory, planning_s = cluster.memory, time.monotonic()
            done = plan_round(
                request,
                settings,
                time.monotonic,
                began_s,
                self._children,
                memory=memory,
                now_s=planning_s,
                unix_s=began_unix_s,
            )
            with self._lock:
                if planning_s >= cluster.memory_s:
                    cluster.memory, cluster.memory_s = done.memory, planning_s
                    cluster.request = carried_out(request, done.response.plans)
                    cluster.afterwork = self._afterwork(request, done, settings, cluster)
            planned_s = time.monotonic()
            timings_ms = {"wait": (planning_s - began_s) * 1000, "plan": (planned_s - planning_s) * 1000}
            done = replace(done, response=name_malformed(done.response, received.malformed))
            self._log_round(received, done, timings_ms, cluster, planning_s)
            return AnsweredRound(
                request=raw,
                response=done.response,
                settings=settings,
                time_s=began_unix_s,
                timings_ms=timings_ms,
                timed_out=done.timed_out,
                now_s=planning_s,
                memory=memory,
                measured=tuple(map(measurement_fields, done.measured)),
            )
        except Exception as error:
            # The shim must get an answer: it then lets Storm's own scheduler do the round.
            self._log.exception("round failed", round_id=request.round_id)
            self._callbacks.on_unplanned(Unplanned.FAILED)
            reason = f"the daemon failed to plan: {type(error).__name__}: {error}"
            raise idl.Refused(reason=reason) from error
        finally:
            self._slots.release()

    def go_on(self, name: str | None) -> None:
        """Plan what the last round of a cluster left over, until it asks again.

        Args:
            name: The cluster, as in its request.
        """
        with self._lock:
            afterwork = self._clusters.of(name).afterwork
        if afterwork is not None:
            afterwork.start()

    def _last_round(self, name: str | None) -> Shown:
        with self._lock:
            return self._clusters.last(name)

    def _afterwork(
        self, request: PlanRequest, done: Round, settings: Settings, cluster: RememberedCluster
    ) -> Afterwork | None:
        if not done.unfinished:
            return None

        def hand_over(change: Callable[[Memory], Memory]) -> None:
            with self._lock:
                if cluster.afterwork is afterwork:
                    cluster.memory = change(cluster.memory)

        afterwork = Afterwork(request, done.response, settings, hand_over, self._log)
        return afterwork

    def _refusal(self, error: WireError) -> Any:
        """Return what refuses a request; the shim may ask again in a version that it names."""
        self._repeats.warning("request refused", reason=str(error))
        self._callbacks.on_unplanned(Unplanned.REFUSED)
        if isinstance(error, VersionError):
            return idl.Refused(reason=str(error), oldest_version=OLDEST_VERSION, newest_version=VERSION)
        return idl.Refused(reason=str(error))

    def _not_recorded(self, round_id: str, reason: str) -> None:
        with self._lock:
            self._record_failures += 1
            failures = self._record_failures
        self._callbacks.on_record_failure()
        self._log.error("round not recorded", round_id=round_id, reason=reason, failures=failures)

    def _log_round(
        self,
        received: Received,
        done: Round,
        timings_ms: Mapping[str, float],
        cluster: RememberedCluster,
        now_s: float,
    ) -> None:
        request = received.request
        for topology_id, trace in done.traces[:_MOST_TRACES]:
            self._log.error(
                "planning a topology failed",
                topology=topology_id,
                trace=trace,
                in_round=len(done.traces),
            )
        for topology_id, reason in done.left_out:
            # The same ones may be left out in every round; the round's own line has the names.
            self._repeats.warning(
                "topology left to Storm's own scheduler", topology=topology_id, reason=reason
            )
        with self._lock:
            odd = cluster.watch.observe(done.known.readings.by_host, now_s)
            counts = {
                **done.known.fault_counts,
                **{kind: len(found) for kind, found in odd.items()},
                FaultKind.TOPOLOGY_SETTINGS: sum(len(found) for _, found in done.setting_faults),
                FaultKind.TOPOLOGY_MALFORMED: len(received.malformed),
            }
            self._fault_counts.update(counts)
            totals = {kind: count for kind, count in sorted(self._fault_counts.items()) if count}
            news = cluster.fault_log.news(
                (
                    *done.known.named_faults,
                    *(phrase for found in odd.values() for phrase in found),
                    *(f"{topology}: {fault}" for topology, found in done.setting_faults for fault in found),
                    *(f"{each.id} is malformed ({each.reason})" for each in received.malformed),
                ),
                now_s,
            )
        self._callbacks.on_round(done, counts, timings_ms["plan"] / 1000)
        for each in done.measured:
            line = self._log.warning if each.why_not else self._log.info
            line("move not measured" if each.why_not else "move measured", **measurement_fields(each))
        if news is not None:
            # Every round would repeat them: only what is new is worth a line, and the end of all.
            self._log.warning("faults in readings, metadata or settings", faults=news)
        self._log.info(
            "round",
            round_id=request.round_id,
            cluster=request.cluster,
            executors=sum(topology.n_executors for topology in request.topologies),
            **topology_fields(done),
            moves=done.moves,
            restarts=done.restarts,
            on_drained_hosts=done.on_drained_hosts,
            data=data_summary(done.known),
            faults={kind: count for kind, count in counts.items() if count},
            faults_since_start=totals,
            timed_out=done.timed_out,
            record_failures=self._record_failures,
            **{f"{step}_ms": round(ms, 1) for step, ms in timings_ms.items()},
        )
