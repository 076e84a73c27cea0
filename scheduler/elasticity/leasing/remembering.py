"""What a round leaves to be remembered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.state import LeasingState


def remembered(state: LeasingState, draft: Draft, now_s: float, *, looked: bool) -> LeasingState:
    """Return the state after a round.

    Args:
        state: Before it.
        draft: Its outcome.
        now_s: Time of the decision, s.
        looked: Whether components were looked at for growing or shrinking.
    """
    decision = draft.decision
    started = [each.component for each in decision.starts]
    stopped = [each.component for each in decision.stops]
    changed = [*started, *stopped, *(each.component for each in decision.moves)]
    return replace(
        state,
        scalings=draft.scalings,
        changed_s={**state.changed_s, **dict.fromkeys(changed, now_s)},
        grown_s={**state.grown_s, **dict.fromkeys(started, now_s)},
        leased_s=now_s if decision.leases else state.leased_s,
        looked_at_s=now_s if looked else state.looked_at_s,
        requests=state.requests + len(decision.leases),
    )
