"""A round's time, and its outcome: the response, what the log says beyond it, what the next round needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.round.restart_budgets import NO_BUDGETS
from bridge.wire.messages import Decision

if TYPE_CHECKING:
    from collections.abc import Callable

    from bridge.round.memory import Memory
    from bridge.round.price.measuring import Measurement
    from bridge.round.restart_budgets import RestartBudgets
    from bridge.round.round_data import RoundData
    from bridge.round.small.stability import Wait
    from bridge.wire.messages import PlanResponse
    from scheduler.contract.children import Children

# Agents that appear, and settings that are loaded again, wait for so long at most.
HOLD_MS = 60_000


@dataclass(frozen=True, eq=False)
class Course:
    """Time and helpers of a round.

    Attributes:
        clock: Monotonic seconds.
        end_s: When the round's time is over, on that clock.
        now_s: Time of the round in seconds, on one clock for all rounds.
        children: Runs what strategies leave to others, such as solvers.
        unix_s: Time of the round in seconds since 1970, None if that is not known.
        budgets: What of sites and workers may still restart.
    """

    clock: Callable[[], float]
    end_s: float
    now_s: float
    children: Children
    unix_s: float | None = None
    budgets: RestartBudgets = NO_BUDGETS

    def half(self) -> Course:
        """Return a course of half of the time that is left."""
        now = self.clock()
        return replace(self, end_s=now + max(self.end_s - now, 0.0) / 2)

    def expired(self) -> bool:
        """Whether the round's time is over."""
        return self.clock() >= self.end_s


@dataclass(frozen=True)
class Round:
    """What came out of a round.

    Attributes:
        response: The plans.
        memory: What the next round has to know.
        known: What the round knew of the cluster.
        setting_faults: Bad settings by topology id.
        traces: Traceback by topology id of the topologies whose planning failed.
        left_out: Reason by topology id of those with missing executors that the response leaves to Storm's
            own scheduler, because planning them failed or time ran out before their turn.
        waits: Gains that wait, by topology id.
        moves: Running executors moved.
        restarts: Executors of the workers that restart.
        timed_out: True if the clock may have changed something: a repetition may come to another plan.
        unfinished: Whether topologies without a plan may find room if there is more time.
        on_drained_hosts: Executors that still run on hosts that are to be emptied.
        measured: Earlier plans that restarted executors, of which it is known now what they cost, or that it
            cannot be measured.
    """

    response: PlanResponse
    memory: Memory
    known: RoundData
    setting_faults: tuple[tuple[str, tuple[str, ...]], ...]
    traces: tuple[tuple[str, str], ...]
    left_out: tuple[tuple[str, str], ...]
    waits: tuple[tuple[str, Wait], ...]
    moves: int
    restarts: int
    timed_out: bool
    unfinished: bool = False
    on_drained_hosts: int = 0
    measured: tuple[Measurement, ...] = ()

    @property
    def served(self) -> int:
        """Number of topologies that have what they need."""
        return sum(plan.decision is not Decision.UNPLACEABLE for plan in self.response.plans)
