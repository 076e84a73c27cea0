"""`inop-sequential`: one graph after the other, each exactly in what the former ones leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import whole_number
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, StrategyEntry, Suggestion
from scheduler.exact.flows.flow_form import FlowForm, flow_form
from scheduler.exact.flows.placing import place_exactly
from scheduler.exact.flows.searching import PASSES
from scheduler.exact.flows.sequential import one_after_the_other, placed_again

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


@dataclass(frozen=True)
class SequentialParameters:
    """Settings of `inop-sequential`.

    Attributes:
        order: Names of graphs, separated by commas, that go first; the others follow as they come.
        passes: How often every graph is taken out and placed again at most, as long as that gains (>= 0).
    """

    order: str = ""
    passes: int = PASSES

    def __post_init__(self) -> None:
        whole_number("passes", self.passes, 0)


def inop_sequential(problem: Problem, parameters: SequentialParameters, context: Context, /) -> Suggestion:
    """Place graph by graph; one that finds no room goes first, and if no order helps, all are placed at once.

    Complexity: an exact solution per graph, and one more per graph and pass.
    """
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    form = flow_form(problem)
    if form is None:
        return place_exactly(problem, context)
    names = problem.application.graphs.names
    first = [each.strip() for each in parameters.order.split(",") if each.strip()]
    unknown = [each for each in first if each not in names]
    if unknown:
        return Suggestion(None, f"order: {unknown[0]} is no graph; the graphs are {', '.join(names)}")
    at = None
    if not form.one_graph:
        at = one_after_the_other(form, context, _order(problem, form, first))
    if at is None:
        return place_exactly(problem, context)
    at = placed_again(form, context, at, parameters.passes)
    incumbent = Incumbent(problem, context.report)
    incumbent.offer(form.placement(at), "graph by graph")
    if incumbent.placement is None:
        return place_exactly(problem, context)
    return incumbent.suggestion("graph by graph, each exactly in what the others leave")


def _order(problem: Problem, form: FlowForm, first: list[str]) -> list[int]:
    """Return all graphs of a form, those named first."""
    member, names = problem.application.graphs.member, problem.application.graphs.names
    of_name = {
        names[int(member[i])]: int(graph)
        for operators, graph in zip(form.members, form.graph, strict=True)
        for i in operators.tolist()
    }
    order = [of_name[each] for each in first]
    return list(dict.fromkeys([*order, *range(int(form.graph.max()) + 1)]))


ENTRY = StrategyEntry(
    name="inop-sequential",
    solve=inop_sequential,
    parameters=SequentialParameters,
    summary="graph by graph, each exactly in the capacity and bandwidth that the others leave",
    anytime=True,
    ends_with_proof=True,
    needs=("links",),
)
