"""The calls that the handler of rounds makes to its listeners, such as metrics."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.readings.fault_kinds import FaultKind
    from bridge.round.round_report import Round


class Unplanned(StrEnum):
    """Why a request got no plan."""

    REFUSED = "refused"
    """It breaks the contract or is of another version."""
    BUSY = "busy"
    """Too many rounds were being planned until its deadline."""
    FAILED = "failed"
    """A fault of the daemon, which the log states with its trace."""


class RoundCallbacks:
    """Receives rounds and does nothing; called from the threads that plan, several at a time."""

    def on_round(self, done: Round, faults: Mapping[FaultKind, int], plan_s: float) -> None:
        """Receive a round that was planned.

        Args:
            done: What came out of it.
            faults: Number of faulty inputs by kind.
            plan_s: Time that planning took, s.
        """

    def on_unplanned(self, why: Unplanned) -> None:
        """Receive the reason why a request got no plan."""

    def on_record_failure(self) -> None:
        """Receive a round that was planned but could not be recorded."""
