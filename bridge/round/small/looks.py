"""When gains of a topology are looked for, if not in each round: after a time, or on an event.

Events are a host that joins or leaves and other settings of the topology; a gain that is being watched, a
change that began and a limit that is broken are looked at in any case.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

from bridge.round.memory import Looked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from bridge.round.memory import TopologyMemory


class Looks:
    """The looks of one round, and those before it.

    Args:
        state: The cluster.
        past: What is remembered of each topology.
        now_s: Time of the round, on the clock of the memory.
    """

    def __init__(self, state: RoundState, past: Sequence[TopologyMemory], now_s: float) -> None:
        self._state = state
        self._now_s = now_s
        self._past = [each.looked for each in past]
        self._present = list(self._past)

    def why_not_yet(self, task: Task) -> str:
        """Return what the last look found if the next one is not due; empty if it is.

        Args:
            task: The topology.
        """
        interval_s, last = task.settings.replan_interval_secs, self._past[task.index]
        if interval_s is None:
            self._present[task.index] = None
            return ""
        if last is None or last.situation != self._situation(task) or self._now_s - last.time_s >= interval_s:
            return ""
        return last.reason

    def note(self, task: Task, reason: str) -> None:
        """Remember that gains were looked for.

        Args:
            task: The topology.
            reason: Why it is kept, for the rounds until the next look.
        """
        if task.settings.replan_interval_secs is not None:
            self._present[task.index] = Looked(self._now_s, self._situation(task), reason)

    def last(self, topology: int) -> Looked | None:
        """Return what the next round has to know."""
        return self._present[topology]

    def _situation(self, task: Task) -> str:
        return hashlib.sha256(f"{self._hosts}\n{task.topology.settings_json}".encode()).hexdigest()

    @cached_property
    def _hosts(self) -> str:
        return "\n".join(host.name for host in self._state.hosts.hosts if host.usable)
