"""`odp-timeout`: the exact solver stopped at a time limit (ODP+T, paper 000, section 7.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.contract.strategy import Suggestion
from scheduler.exact.solve import solve_exact

if TYPE_CHECKING:
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem

WORK_WITHOUT_CLOCK = 2e6


@dataclass(frozen=True)
class OdpTimeoutParameters:
    """Settings of `odp-timeout`.

    Attributes:
        time_limit_s: Seconds on the deadline's clock after which to stop (> 0). Without a deadline there is
            no clock, and the search ends after the work that takes some seconds, as that of `odp`.
    """

    time_limit_s: float = 300.0

    def __post_init__(self) -> None:
        limit = self.time_limit_s
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < math.inf:
            raise ValueError(f"time_limit_s: expected a number > 0, got {limit!r}")


def odp_timeout(problem: Problem, parameters: OdpTimeoutParameters, context: Context, /) -> Suggestion:
    """Return the best placement that the exact solver has after the time limit, with a bound on F."""
    limit = WORK_WITHOUT_CLOCK if context.deadline.unlimited else math.inf
    exact = solve_exact(problem, None, context, time_limit_s=parameters.time_limit_s, work_limit=limit)
    return Suggestion(exact.placement, exact.reason, bound=exact.bound, proved=exact.proved)
