"""`odp`: the optimal placement, with its proof (paper 000, section 4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import positive_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.solve import solve_exact
from scheduler.search.searched_start import searched_start

if TYPE_CHECKING:
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
        if self.work_limit is not None:
            positive_number("work_limit", self.work_limit, expected="a number > 0 or None")


def odp(problem: Problem, parameters: OdpParameters, context: Context, /) -> Suggestion:
    """Return an optimal placement, or the best one known at the end with a bound on F.

    Complexity: exponential in the worst case; see `scheduler.exact.solve`.
    """
    limit = math.inf if parameters.work_limit is None else parameters.work_limit
    first, longer = searched_start(problem, context)
    return solve_exact(problem, first, context, longer=longer, work_limit=limit)


ENTRY = StrategyEntry(
    name="odp",
    solve=odp,
    parameters=OdpParameters,
    summary="the optimal placement with its proof",
    exact=True,
    anytime=True,
    never_worse_than_greedy=True,
    limits=("work_limit",),
    ends_with_proof=True,
)
