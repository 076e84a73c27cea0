"""`odp-timeout`: the exact solver stopped at a time limit (ODP+T, paper 000, section 7.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.base.checks import positive_number
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.solve import solve_exact
from scheduler.search.searched_start import searched_start

if TYPE_CHECKING:
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
        positive_number("time_limit_s", self.time_limit_s)


def odp_timeout(problem: Problem, parameters: OdpTimeoutParameters, context: Context, /) -> Suggestion:
    """Return the best placement that the exact solver has after the time limit, with a bound on F."""
    context = replace(context, deadline=context.deadline.within(parameters.time_limit_s))
    limit = context.deadline.otherwise(WORK_WITHOUT_CLOCK)
    first, longer = searched_start(problem, context)
    return solve_exact(problem, first, context, longer=longer, work_limit=limit)


ENTRY = StrategyEntry(
    name="odp-timeout",
    solve=odp_timeout,
    parameters=OdpTimeoutParameters,
    summary="the exact solver, stopped at a time limit",
    exact=True,
    anytime=True,
    never_worse_than_greedy=True,
)
