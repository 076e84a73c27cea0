"""What an operator manager asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduler.elasticity.managers import RequestVerdict


@dataclass(frozen=True)
class OperatorRequest:
    """Executors more or less, or none.

    Attributes:
        component: Whose; empty if nothing is known of it.
        action: How many more (> 0) or less (< 0); other than 0 only if the verdict is "asked". The paper's
            managers ask for one.
        verdict: Kind of the request.
        why: One sentence.
        score: Cost to come of the action, in the terms of the manager; 0 for those that know none.
        score_stay: Cost to come of changing nothing.
    """

    component: str
    action: int
    verdict: RequestVerdict
    why: str
    score: float = 0.0
    score_stay: float = 0.0
