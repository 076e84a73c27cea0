"""A round in the daemon: check, plan, record and log one request."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from bridge.readings.fault_kinds import FaultKind
from bridge.record.record import RecordError, RoundRecord, versions
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.round.status import data_summary
from bridge.server.callbacks import RoundCallbacks, Unplanned
from bridge.server.fault_log import FaultLog
from bridge.server.reading_watch import ReadingWatch
from bridge.wire.contract import WireError, idl
from bridge.wire.encoding import encode_request, encode_response
from bridge.wire.request_decoding import request_from_thrift
from bridge.wire.structs import to_thrift
from scheduler.contract.children import INLINE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.record.record import RecordWriter
    from bridge.round.memory import Memory
    from bridge.round.round_report import Round
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest
    from formats.log import Log
    from scheduler.contract.children import Children


class RoundHandler:
    """Answers the calls of the service `PlacementDaemon`; safe to use from several threads.

    Args:
        settings: The daemon's settings.
        recorder: Where rounds are recorded, None if they are not.
        log: One event per round and per change of what is wrong.
        children: Runs what strategies leave to others, such as solvers.
        callbacks: Called for every round; nothing of it reaches a plan.
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
        self._recorder = recorder
        self._log = log
        self._children = children
        self._slots = threading.BoundedSemaphore(settings.server.max_rounds)
        self._lock = threading.Lock()
        self._fault_log = FaultLog()
        self._watch = ReadingWatch()
        self._fault_counts: Counter[FaultKind] = Counter()
        self._record_failures = 0
        self._memory = NOTHING
        self._memory_s = 0.0

    def plan(self, raw: Any) -> Any:
        """Plan one round; thrift struct in, thrift struct out.

        Raises:
            Refused: The thrift exception: a request of another version or against the contract, too many
                rounds at once, or a fault of the daemon (which is logged with its trace).
        """
        began_s, began_unix_s = time.monotonic(), time.time()
        try:
            request = request_from_thrift(raw)
        except WireError as error:
            self._log.warning("request refused", reason=str(error))
            self._callbacks.on_unplanned(Unplanned.REFUSED)
            raise idl.Refused(reason=str(error)) from error
        if not self._slots.acquire(timeout=max(request.deadline_ms, 0) / 1000.0):
            reason = f"{self._settings.server.max_rounds} rounds are being planned already"
            self._log.warning("request refused", round_id=request.round_id, reason=reason)
            self._callbacks.on_unplanned(Unplanned.BUSY)
            raise idl.Refused(reason=reason)
        try:
            with self._lock:
                # A clock that no one sets: stepping the wall clock must neither end nor prolong a cool-down.
                memory, planning_s = self._memory, time.monotonic()
            done = plan_round(
                request,
                self._settings,
                time.monotonic,
                began_s,
                self._children,
                memory=memory,
                now_s=planning_s,
            )
            with self._lock:
                if planning_s >= self._memory_s:
                    self._memory, self._memory_s = done.memory, planning_s
            planned_s = time.monotonic()
            timings_ms = {"wait": (planning_s - began_s) * 1000, "plan": (planned_s - planning_s) * 1000}
            self._record(request, done, timings_ms, time_s=began_unix_s, now_s=planning_s, memory=memory)
            self._log_round(request, done, timings_ms, planning_s)
            return to_thrift(done.response)
        except Exception as error:
            # The shim must get an answer: it then lets Storm's own scheduler do the round.
            self._log.exception("round failed", round_id=request.round_id)
            self._callbacks.on_unplanned(Unplanned.FAILED)
            reason = f"the daemon failed to plan: {type(error).__name__}: {error}"
            raise idl.Refused(reason=reason) from error
        finally:
            self._slots.release()

    def _record(
        self,
        request: PlanRequest,
        done: Round,
        timings_ms: Mapping[str, float],
        *,
        time_s: float,
        now_s: float,
        memory: Memory,
    ) -> None:
        if self._recorder is None:
            return
        record = RoundRecord(
            request=encode_request(request),
            response=encode_response(done.response),
            settings_json=self._settings.to_json(),
            settings_digest=self._settings.digest(),
            time_s=time_s,
            timings_ms={step: round(ms, 3) for step, ms in timings_ms.items()},
            timed_out=done.timed_out,
            versions=versions(),
            now_s=now_s,
            memory=memory,
        )
        try:
            self._recorder.append(record)
        except RecordError as error:
            with self._lock:
                self._record_failures += 1
            self._callbacks.on_record_failure()
            self._log.error(
                "round not recorded",
                round_id=request.round_id,
                reason=str(error),
                failures=self._record_failures,
            )

    def _log_round(
        self, request: PlanRequest, done: Round, timings_ms: Mapping[str, float], now_s: float
    ) -> None:
        for topology_id, trace in done.traces:
            self._log.error("planning a topology failed", topology=topology_id, trace=trace)
        for topology_id, reason in done.left_out:
            self._log.warning("topology left to Storm's own scheduler", topology=topology_id, reason=reason)
        with self._lock:
            odd = self._watch.observe(done.known.readings.by_host, now_s)
            counts = {
                **done.known.fault_counts,
                **{kind: len(found) for kind, found in odd.items()},
                FaultKind.TOPOLOGY_SETTINGS: sum(len(found) for _, found in done.setting_faults),
            }
            self._fault_counts.update(counts)
            totals = {kind: count for kind, count in sorted(self._fault_counts.items()) if count}
            news = self._fault_log.news(
                (
                    *done.known.named_faults,
                    *(phrase for found in odd.values() for phrase in found),
                    *(f"{topology}: {fault}" for topology, found in done.setting_faults for fault in found),
                ),
                now_s,
            )
        self._callbacks.on_round(done, counts, timings_ms["plan"] / 1000)
        if news is not None:
            # Every round would repeat them: only what is new is worth a line, and the end of all.
            self._log.warning("faults in readings, metadata or settings", faults=news)
        self._log.info(
            "round",
            round_id=request.round_id,
            executors=sum(topology.n_executors for topology in request.topologies),
            topologies=[
                {
                    "id": plan.topology_id,
                    "decision": plan.decision.name,
                    "strategy": plan.strategy,
                    "objective": plan.objective,
                    "response_time_ms": plan.response_time_ms,
                    "moves": 0 if plan.price is None else plan.price.executors_moved,
                    "status": plan.status,
                }
                for plan in done.response.plans
            ],
            moves=done.moves,
            data=data_summary(done.known),
            faults={kind: count for kind, count in counts.items() if count},
            faults_since_start=totals,
            timed_out=done.timed_out,
            record_failures=self._record_failures,
            **{f"{step}_ms": round(ms, 1) for step, ms in timings_ms.items()},
        )
