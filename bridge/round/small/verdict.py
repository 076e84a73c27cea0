"""What was decided about one topology in one round: keep, place or move."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from bridge.wire.messages import Price
from scheduler.evaluation.evaluate import OBJECTIVE_STEP

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from scheduler.contract.result import Result
    from scheduler.evaluation.evaluate import Evaluation


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a round decided about one topology.

    Attributes:
        kind: `placed` and `moved` bring a placement; `kept`, `unmet` (all executors run, but a pin or
            avoidance stays broken) and `unplaceable` (executors are missing) do not.
        reason: One phrase for the status line.
        placement: Host index per executor, None unless placed or moved.
        result: What the strategy answered, None if it was not asked.
        gain: Fraction of the objective saved, 0 unless moved.
        evaluation: Worth of the placement that holds after the verdict, None if it is not known.
        bound: Proved lower limit of the objective over all placements of the topology, None if not known.
        overload: Part of the hosts' soft capacities by which the placement may exceed them.
        least: Executors for which the placement takes each host to have room that states no number of them.
        optimal: True if it is proved that none of them is better than the one that holds.
        apart: Whether executors that move take free slots before they join workers.
        objective_before: F of staying; None unless moved, where executors were missing, and where the
            response time is all that is weighed.
        payback_s: Time after which a move has paid its price by the weights, infinite if it never has; None
            where they do not weigh the cost.
    """

    kind: Literal["kept", "placed", "moved", "unmet", "unplaceable"]
    reason: str
    placement: tuple[int, ...] | None = None
    result: Result | None = None
    gain: float = 0.0
    evaluation: Evaluation | None = None
    bound: float | None = None
    optimal: bool = False
    overload: float = 0.0
    apart: bool = False
    least: int = 0
    objective_before: float | None = None
    payback_s: float | None = None

    def first_start(self, reason: str) -> Verdict:
        """Return the verdict on a topology that did not run before: it has nothing to be compared with."""
        return replace(self, kind="placed", reason=reason, gain=0.0, objective_before=None, payback_s=None)

    def price(self, moves: int, restarted: Sequence[Collection[int]]) -> Price:
        """Return what is known by now of the price of carrying it out.

        Args:
            moves: Running executors that change their slot.
            restarted: Executors of each worker that ends or restarts.
        """
        return Price(
            self.gain,
            moves,
            len(restarted),
            sum(map(len, restarted)),
            objective_before=self.objective_before,
            payback_s=self.payback_s,
        )


def with_proof(verdict: Verdict) -> Verdict:
    """Add what the strategy proved about all placements of the topology to the verdict on one of them."""
    result, worth = verdict.result, verdict.evaluation
    if result is None or result.evaluation is None or worth is None:
        return verdict
    best = worth.objective <= result.evaluation.objective + OBJECTIVE_STEP
    return replace(verdict, bound=result.bound, optimal=best and result.status == "optimal")
