"""What one round may restart and move of a topology for a gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.round.restart_budgets import NO_BUDGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.round.restart_budgets import RestartBudgets


@dataclass(frozen=True)
class RoundLimits:
    """The limits of one round.

    Attributes:
        restarts: Running executors that may restart, of the topology alone.
        in_all: Running executors that may restart in a round, of all topologies.
        moves: Running executors of the topology that may move; None: any number.
        workers: Workers of it that may restart; likewise.
        budgets: What of sites and workers may still restart.
    """

    restarts: int
    in_all: int
    moves: int | None = None
    workers: int | None = None
    budgets: RestartBudgets = NO_BUDGETS

    @property
    def spent(self) -> str:
        """That this round may restart no more executors, as the end of a sentence."""
        most = f"{self.in_all} in all{self.budgets.because}"
        return f"restarts more executors than may still restart in this round, {most}"

    def why_not(self, state: RoundState, topology: int, assignment: Sequence[Slot]) -> str:
        """Say which limit an assignment exceeds, as the end of a sentence; empty if none.

        Args:
            state: The cluster when the round began, and after the decisions so far.
            topology: Index of the topology.
            assignment: Slot per executor.
        """
        restarted = state.restarted_workers(topology, assignment)
        moved = sum(
            before is not None and before != after
            for before, after in zip(state.initial(topology), assignment, strict=True)
        )
        if sum(map(len, restarted)) > self.restarts:
            return self.spent
        if self.moves is not None and moved > self.moves:
            return f"moves more executors than the {self.moves} that may move in a round (replan.moves.max)"
        if self.workers is not None and len(restarted) > self.workers:
            most = f"the {self.workers} that may restart in a round"
            return f"restarts more workers than {most} (replan.workers.max)"
        return self.budgets.why_over(state, topology, assignment)
