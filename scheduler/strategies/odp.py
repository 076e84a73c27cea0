"""`odp`: the optimal placement, with its proof (paper 000, section 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.exact.solve import solve_exact
from scheduler.strategy import Suggestion

if TYPE_CHECKING:
    from scheduler.problem import Problem
    from scheduler.strategy import Context


@dataclass(frozen=True)
class OdpParameters:
    """Settings of `odp`: there are none, it ends with the proof or at the deadline."""


def odp(problem: Problem, _parameters: OdpParameters, context: Context, /) -> Suggestion:
    """Return an optimal placement, or the best one known at the deadline with a bound on F.

    Complexity: exponential in the worst case; see `scheduler.exact.solve`.
    """
    exact = solve_exact(problem, None, context)
    return Suggestion(exact.placement, exact.reason, bound=exact.bound, proved=exact.proved)
