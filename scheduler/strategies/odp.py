"""`odp`: the optimal placement, with its proof (paper 000, section 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.contract.strategy import Suggestion
from scheduler.exact.solve import solve_exact

if TYPE_CHECKING:
    from scheduler.contract.strategy import Context
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class OdpParameters:
    """Settings of `odp`.

    Attributes:
        work_limit: Work after which the general search ends without a proof, in partial placements times
            nodes (> 0), some million per second; None: only the proof or the deadline ends it.
    """

    work_limit: float | None = 2e6

    def __post_init__(self) -> None:
        limit = self.work_limit
        if limit is None:
            return
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not 0 < limit < math.inf:
            raise ValueError(f"work_limit: expected a number > 0 or None, got {limit!r}")


def tireless(_parameters: OdpParameters) -> OdpParameters:
    """Return the parameters with which only the proof or the deadline ends the search."""
    return OdpParameters(None)


def odp(problem: Problem, parameters: OdpParameters, context: Context, /) -> Suggestion:
    """Return an optimal placement, or the best one known at the end with a bound on F.

    Complexity: exponential in the worst case; see `scheduler.exact.solve`.
    """
    limit = math.inf if parameters.work_limit is None else parameters.work_limit
    exact = solve_exact(problem, None, context, work_limit=limit)
    return Suggestion(exact.placement, exact.reason, bound=exact.bound, proved=exact.proved)
