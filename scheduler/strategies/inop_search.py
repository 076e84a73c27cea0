"""`inop-search`: all graphs at once, by prices on what they share, with a bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import whole_number
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.flows.flow_form import flow_form
from scheduler.exact.flows.placing import place_exactly
from scheduler.exact.flows.searching import PASSES, PATIENCE, search

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

PROOF = 1e-8
"""How close the bound has to come, relative."""


@dataclass(frozen=True)
class InopSearchParameters:
    """Settings of `inop-search`.

    Attributes:
        passes: As of `inop-sequential`.
        patience: Sets of graphs that are placed again together without a gain, after which to stop (>= 1);
            None: only the deadline ends the search.
    """

    passes: int = PASSES
    patience: int | None = PATIENCE

    def __post_init__(self) -> None:
        whole_number("passes", self.passes, 0)
        if self.patience is not None:
            whole_number("patience", self.patience, 1)


def inop_search(problem: Problem, parameters: InopSearchParameters, context: Context, /) -> Suggestion:
    """Begin graph by graph, find prices, then place those together that compete for what is scarce.

    Prices give a lower bound of F. Where it meets the placement, that is optimal.
    """
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    form = flow_form(problem)
    if form is None or form.by_pair or form.limits or form.one_graph:
        return place_exactly(problem, context)
    incumbent = Incumbent(problem, context.report)

    def take(at: IntArray | None, bound: float) -> None:
        if at is not None:
            incumbent.offer(form.placement(at), "graphs")
        incumbent.raise_bound(bound, "prices")

    found = search(form, context, take, parameters.passes, parameters.patience)
    if found.at is None or incumbent.placement is None:
        return place_exactly(problem, context)
    proved = incumbent.bound >= incumbent.objective - PROOF * max(1.0, abs(incumbent.objective))
    reason = "its bound at prices proves it" if proved else "graphs that compete placed together, at prices"
    return incumbent.suggestion(reason, proved=proved)


ENTRY = StrategyEntry(
    name="inop-search",
    solve=inop_search,
    parameters=InopSearchParameters,
    summary="all graphs at once by prices on capacities and bandwidths, with a bound",
    anytime=True,
    ends_with_proof=True,
    needs=("links",),
    limits=("patience",),
)
