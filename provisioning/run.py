"""The elastic loop as a process: rounds at intervals until it is asked to end, and what it logs of them."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Protocol

from formats.nimbus import NimbusError
from provisioning.lasting_reasons import LastingReasons
from provisioning.loop.memory import MemoryFileError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.record import RoundRecord
    from provisioning.loop.report import Report
    from provisioning.loop.seeing import Meters
    from provisioning.saying import Saying
    from provisioning.status import StatusFile

_SUMMARY_S = 300.0
"""What an advice would have saved is logged so often, s."""


_SHOWN = 10
_JUMP_S = 5.0
"""A clock that goes by more than so much against a steady one between two rounds was set, s."""
_TROUBLE = ("host-lost", "given-up", "kept")
_KNOWN_BY = 50
"""So many characters of a failure tell it from others."""
_VERDICTS = {"held": "waits", "limited": "wants-more"}


class Watcher(Protocol):
    """What counts rounds."""

    def on_report(self, mode: str, report: Report) -> None:
        """Take what came of a round."""

    def on_failure(self, mode: str, *, nimbus: bool = False) -> None:
        """Take a round of which nothing came, as Nimbus did not answer, or for a fault."""

    def on_end(self, round_s: float) -> None:
        """Take for how long a round of all modes took, s."""


class Loop(Protocol):
    """What a round is asked of: a loop that acts, or one that advises."""

    def round(self, look: ClusterLook, now_s: float) -> Report:
        """Carry out a round."""


@dataclass
class Rounds:
    """Rounds of loops that share a look at the cluster.

    Attributes:
        look: Asks Nimbus for the topologies of all loops; raises `NimbusError`.
        meters: Of tasks.
        loops: By mode.
        record: Takes each round in which a policy was asked.
        status: Takes each round.
        kind: Of the policy.
        saying: Takes one line per step, and per change of what is held, missing or limited.
        watcher: Counts; None: nothing does.
        clock: Seconds since 1970.
        steady: Seconds that no one sets.
    """

    look: Callable[[], ClusterLook]
    meters: Meters
    loops: Mapping[str, Loop]
    record: RoundRecord
    status: StatusFile
    kind: str
    saying: Saying
    watcher: Watcher | None = None
    clock: Callable[[], float] = time.time
    steady: Callable[[], float] = time.monotonic
    _offset_s: float | None = None
    _reasons: LastingReasons = field(default_factory=LastingReasons)
    _summed_s: float = 0.0

    def round(self) -> Sequence[Report]:
        """Carry out a round of each loop; without Nimbus nothing is decided, and nothing forgotten."""
        began_s = self.steady()
        try:
            look = self.look()
            self.saying.once("all", "nimbus-silent", "")
            reports = self._reports(look)
        except NimbusError as error:
            # who reads the line may look at the counts next
            reports = self._none(nimbus=True)
            self.saying.once("all", "nimbus-silent", str(error))
        except Exception as error:  # a fault of ours ends no loop that has hosts
            if self.saying.begins("all", "round-failed", repr(error)):
                self.saying.log.exception("round-failed", mode="all")
            reports = self._none()
        else:
            self.saying.once("all", "round-failed", "")
        if self.watcher is not None:
            self.watcher.on_end(self.steady() - began_s)
        return reports

    def _reports(self, look: ClusterLook) -> Sequence[Report]:
        if self._clock_jumped():
            self.meters.follow(())  # what was counted before is of another time
        self.meters.follow({each.topology_id for each in look.topologies.values()})
        reports = []
        for mode, loop in self.loops.items():
            try:
                report = loop.round(look, self.clock())
                self._log(mode, report)
                self._kept(mode, report)
            except MemoryFileError as error:
                self.saying.once(mode, "nothing-remembered", str(error))
                self._failed(mode)
                continue
            except Exception as error:  # what is to be is on the disk: the next round goes on from there
                if self.saying.begins(mode, "round-failed", repr(error)):
                    self.saying.log.exception("round-failed", mode=mode)
                self._failed(mode)
                continue
            self.saying.once(mode, "nothing-remembered", "")
            self.saying.once(mode, "round-failed", "")
            if self.watcher is not None:
                self.watcher.on_report(mode, report)
            reports.append(report)
        return reports

    def _kept(self, mode: str, report: Report) -> None:
        try:
            self.record.write(mode, self.kind, report)
            self.status.write(mode, report)
        except OSError as error:
            self.saying.once(mode, "not-kept", f"what came of the round cannot be written: {error.strerror}")
        else:
            self.saying.once(mode, "not-kept", "")

    def _none(self, *, nimbus: bool = False) -> Sequence[Report]:
        for mode in self.loops:
            self._failed(mode, nimbus=nimbus)
        return ()

    def _failed(self, mode: str, *, nimbus: bool = False) -> None:
        if self.watcher is not None:
            self.watcher.on_failure(mode, nimbus=nimbus)

    def _clock_jumped(self) -> bool:
        """Return whether the clock was set since the last round, and say so."""
        offset_s = self.clock() - self.steady()
        before_s, self._offset_s = self._offset_s, offset_s
        if before_s is None or abs(offset_s - before_s) < _JUMP_S:
            return False
        self.saying.log.warning("clock-jumped", by_s=round(offset_s - before_s, 1))
        return True

    def _log(self, mode: str, report: Report) -> None:
        log, now_s = self.saying.log, report.now_s
        silent = report.held_by == "provider"
        # what its program says may differ each time
        if self.saying.begins(mode, "held", "provider" if silent else report.held):
            log.info("held", mode=mode, why=report.held)
        if report.decision is not None:  # only a decision shows them
            limited = report.limited.split("; ") if report.limited else ()
            for event, sentences in (("limited", limited), ("unhelpful", report.unhelpful)):
                self.saying.lasting(mode, event, {each: each for each in sentences}, now_s)
        if not silent:  # nothing was looked at
            self.saying.lasting(mode, "missing", {each: each for each in report.faults}, now_s)
        self._log_reasons(mode, report)
        self._log_decision(mode, report)
        failed = {}
        for step in report.steps:
            if step.kind == "failed":
                # what follows may be the number of a call
                failed[step.about, step.why[:_KNOWN_BY]] = f"{step.about}: {step.why}"
                continue
            write = log.warning if step.kind in _TROUBLE else log.info
            figures = {name: round(value, 1) for name, value in step.figures.items()}
            write(step.kind, mode=mode, about=step.about, why=step.why, **figures)
        self.saying.lasting(mode, "failed", failed, now_s, ends=not silent)
        savings = report.savings
        if savings is not None and abs(now_s - self._summed_s) >= _SUMMARY_S:
            self._summed_s = now_s
            log.info("advice", **savings.figures())

    def _log_decision(self, mode: str, report: Report) -> None:
        decision = report.decision
        if decision is None or report.in_vain:
            return
        if decision.starts or decision.stops or decision.leases or decision.releases:
            price = {} if decision.price is None else {"price": asdict(decision.price)}
            self.saying.log.info(
                "would-change" if mode == "advise" else "decided",
                mode=mode,
                starts=Counter(each.component for each in decision.starts),
                stops=Counter(each.component for each in decision.stops),
                leases=len(decision.leases),
                releases=[each.host for each in decision.releases],
                why=sorted({f"{each.about}: {each.why}" for each in decision.reasons})[:_SHOWN],
                **price,
            )

    def _log_reasons(self, mode: str, report: Report) -> None:
        begun, over = self._reasons.taken(mode, report)
        for verdict, event in _VERDICTS.items():
            whys = sorted(f"{about}: {why}" for (_, kind, about, _), why in begun.items() if kind == verdict)
            if whys:
                more = [f"and {len(whys) - _SHOWN} more"] if len(whys) > _SHOWN else []
                self.saying.log.info(event, mode=mode, why=[*whys[:_SHOWN], *more])
            abouts = sorted({about for _, kind, about, _ in over if kind == verdict})
            if abouts:
                self.saying.log.info(f"{event}-no-more", mode=mode, about=abouts[:_SHOWN])


def run_until_asked(rounds: Rounds, interval_s: float) -> None:
    """Carry out rounds at intervals until SIGTERM or SIGINT; a round that has begun ends first."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    due_s = time.monotonic()
    while not stop.is_set():
        rounds.round()
        due_s = max(due_s + interval_s, time.monotonic())
        stop.wait(due_s - time.monotonic())
