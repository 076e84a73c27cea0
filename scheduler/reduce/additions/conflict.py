"""Which additions leave no placement, and against what; for people, after a search in vain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.contract.additions import Additions
from scheduler.exact.flows.by_flows import Found, best_by_flows
from scheduler.exact.flows.flow_form import flow_form
from scheduler.model.constraints.names import listed
from scheduler.reduce.additions.constrained import constrained

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.contract.strategy import Context
    from scheduler.exact.flows.flow_form import FlowForm
    from scheduler.model.problem import Problem


def conflict(problem: Problem, added: Additions, strategy: str, context: Context) -> str:
    """Return what conflicts, and whether there is a placement without the additions, in one sentence.

    Additions are left out one by one as long as there is no placement without them; what remains, unless the
    deadline comes first, is a set of which none can be missed.

    Args:
        problem: The problem without the additions.
        added: The additions, with which there is no placement.
        strategy: Name of who added them.
        context: Deadline, and children for the solver.
    """
    plain = _exists(problem, context)
    if plain is None or plain.at is None:
        known = "nor is there one without them" if plain and plain.proved else "perhaps none without them"
        return f"no placement meets what {strategy} adds, {known}"
    units = list(_units(problem, added))
    kept = [each for _, each in units]
    titles = [title for title, _ in units]
    for k in range(len(units)):
        fewer = [each for j, each in enumerate(kept) if j != k and each]
        if not context.deadline.expired() and _impossible(problem, fewer, context):
            kept[k] = Additions()
    named = [title for title, each in zip(titles, kept, strict=True) if each]
    against = _against(constrained(problem, _union([each for each in kept if each])), context)
    between = f"{listed(named)} ({strategy}) against {against}"
    return f"{between}; without what {strategy} adds there is a placement"


def _units(problem: Problem, added: Additions) -> Iterable[tuple[str, Additions]]:
    """Yield the additions, restrictions graph by graph, with their titles."""
    for operator, node in added.pinned.items():
        yield f"pin {operator}@{node}", Additions(pinned={operator: node})
    for pair in added.colocated:
        yield f"co-location {'+'.join(pair)}", Additions(colocated=(pair,))
    by_graph: dict[str, dict[str, tuple[str, ...]]] = {}
    for operator, nodes in added.allowed.items():
        graph = problem.application.operators[problem.application.index[operator]].graph
        by_graph.setdefault(graph, {})[operator] = nodes
    for graph, allowed in by_graph.items():
        names = {node for nodes in allowed.values() for node in nodes}
        tiers = sorted({str(node.tier) for node in problem.network.nodes if node.name in names})
        yield (
            f"restriction of graph {graph} to {' and '.join(tiers) or 'nothing'}",
            Additions(allowed=allowed),
        )


def _union(units: Iterable[Additions]) -> Additions:
    allowed: dict[str, tuple[str, ...]] = {}
    pinned: dict[str, str] = {}
    pairs: tuple[tuple[str, str], ...] = ()
    for each in units:
        allowed.update(each.allowed)
        pinned.update(each.pinned)
        pairs += each.colocated
    return Additions(allowed, pinned, pairs)


def _impossible(problem: Problem, units: list[Additions], context: Context) -> bool:
    """Return whether it is proved that no placement meets these additions."""
    within = constrained(problem, _union(units))
    found = _exists(within, context)
    return found is not None and found.at is None and found.proved


def _exists(problem: Problem, context: Context) -> Found | None:
    """Return any placement, or the proof that there is none; None where flows do not state the problem."""
    if problem.infeasibility is not None:
        return Found(None, np.inf, proved=True)
    form = flow_form(problem)
    return None if form is None else best_by_flows(_free(form), context)


def _free(form: FlowForm) -> FlowForm:
    """Return the form with nothing to pay."""
    return replace(form, unary=np.zeros(form.unary.shape), weight=np.zeros(form.weight.shape), constant=0.0)


def _against(problem: Problem, context: Context) -> str:
    """Return what leaves no placement: bandwidths of links of which none can be missed, or something else."""
    form = flow_form(problem)
    if form is None or form.by_pair:
        return "the other constraints"
    links = _narrow_links(_free(form), context)
    if links is None:
        return "what was not found in time"
    if not links:
        return "capacities and the other constraints"
    return " and ".join(f"bandwidth {form.underlay.links[k].title} {form.bandwidth[k]:g}" for k in links)


def _narrow_links(form: FlowForm, context: Context) -> list[int] | None:
    """Return links whose bandwidths together leave no placement, though no part of them does.

    From none on, those count that the placement within the others overfills, until there is none; then each
    is left out once. None are found if it is not bandwidths; None is returned if the deadline comes first.
    """

    def within(links: set[int]) -> Found:
        limited = np.isin(np.arange(len(form.bandwidth)), list(links))
        return best_by_flows(replace(form, bandwidth=np.where(limited, form.bandwidth, np.inf)), context)

    links: set[int] = set()
    while (at := (found := within(links)).at) is not None:
        over = set(form.overfull(at).tolist())
        if over <= links:
            return None
        links |= over
    if not found.proved:
        return None
    for link in sorted(links):
        fewer = within(links - {link})
        if fewer.at is None and fewer.proved:
            links.remove(link)
    return sorted(links)
