"""The paper's heuristics and their combinations: added constraints, then the exact solver (002, section IV).

`inop-pin`, `inop-restrict`, `inop-colocate`; `inop-comb-1` pins and restricts the others, `inop-comb-2` pins
and co-locates among the others, `inop-comb-3` restricts and co-locates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from scheduler.contract.additions import Additions
from scheduler.contract.strategy import Context, NoParameters, Progress, StrategyEntry, Suggestion
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.exact.flows.placing import place_exactly
from scheduler.reduce.additions.colocation import SHARE, colocated
from scheduler.reduce.additions.conflict import conflict
from scheduler.reduce.additions.constrained import constrained
from scheduler.reduce.additions.pinning import pinned
from scheduler.reduce.additions.restriction import MIXED, Mixed, restricted
from scheduler.strategies.cloud_greedy import cloud_greedy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

OF_SOLVING = 0.7
"""Of the time left is for each but the last try; the rest is for what follows where it fails."""


@dataclass(frozen=True)
class Heuristic:
    """What a heuristic adds.

    Attributes:
        name: Of its strategy.
        pins: Whether it pins.
        restricts: Whether it restricts.
        colocates: Whether it co-locates.
        summary: In one line.
    """

    name: str
    summary: str
    pins: bool = False
    restricts: bool = False
    colocates: bool = False


@dataclass(frozen=True)
class HeuristicParameters:
    """Settings of the heuristics; each uses those of what it adds.

    Attributes:
        mixed: Tiers of graphs with ends at the edge and in the cloud: cloud and fog (``cloud``), edge and fog
            (``edge``), or ``all``.
        colocate_share: Pairs that share a node, per free operator (0 to 1).
        drop: Whether additions that leave no placement, or a worse one than `cloud-greedy`, are dropped:
            pins, then pairs, then restrictions. Otherwise they are the answer, as in the paper.
    """

    mixed: Mixed = "cloud"
    colocate_share: float = SHARE
    drop: bool = False

    def __post_init__(self) -> None:
        if self.mixed not in MIXED:
            raise ValueError(f"mixed: expected {', '.join(MIXED)}, got {self.mixed!r}")
        share = self.colocate_share
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            raise ValueError(f"colocate_share: expected a number from 0 to 1, got {share!r}")
        if not isinstance(self.drop, bool):
            # the command line states what a parameter refuses, whatever is wrong with it
            raise ValueError(f"drop: expected true or false, got {self.drop!r}")  # noqa: TRY004


def inop_heuristic(
    heuristic: Heuristic, problem: Problem, parameters: HeuristicParameters, context: Context, /
) -> Suggestion:
    """Return the best placement within what a heuristic adds; it is optimal within that only.

    Complexity: that of `inop-exact`, on fewer places.
    """
    if problem.infeasibility is not None:
        return Suggestion(None, problem.infeasibility, proved=True)
    added = _additions(heuristic, problem, parameters)
    found = _within(problem, added, context)
    if not parameters.drop:
        if found.placement is None and found.proved:
            return replace(found, reason=conflict(problem, added, heuristic.name, context), proved=False)
        return _stated(heuristic, found, added)
    return _dropping(heuristic, problem, added, found, context)


def _dropping(
    heuristic: Heuristic, problem: Problem, added: Additions, found: Suggestion, context: Context
) -> Suggestion:
    """Return what is found with as many additions as leave something better than `cloud-greedy`."""
    greedy = _greedy(problem, context)
    limit = math.inf if greedy is None else evaluate(problem, greedy).objective
    dropped = []
    for what, fewer in _steps(added):
        if found.placement is not None and _objective(problem, found) <= limit:
            break
        dropped.append(what)
        added, found = fewer, _within(problem, fewer, context)
    if greedy is not None and _objective(problem, found) > limit:
        return Suggestion(greedy, f"{heuristic.name} found nothing as good in time: that of cloud-greedy")
    stated = _stated(heuristic, found, added)
    if not dropped:
        return stated
    why = f"{' and '.join(dropped)} of {heuristic.name} left no placement, or one worse than cloud-greedy"
    return replace(stated, reason=f"{stated.reason}; {why}, and were dropped")


def _objective(problem: Problem, found: Suggestion) -> float:
    """Return F of what was found, infinite if nothing was."""
    return math.inf if found.placement is None else evaluate(problem, found.placement).objective


def _steps(added: Additions) -> Iterator[tuple[str, Additions]]:
    """Yield what is dropped and what is left, step by step."""
    for what, field in (("pins", "pinned"), ("pairs", "colocated"), ("restrictions", "allowed")):
        if getattr(added, field):
            added = replace(added, **{field: type(getattr(added, field))()})
            yield what, added


def _within(problem: Problem, added: Additions, context: Context) -> Suggestion:
    def unbounded(progress: Progress, /) -> None:
        context.report(replace(progress, bound=None))

    # a bound within additions is none of the problem
    report = unbounded if added else context.report
    part = replace(context, deadline=context.deadline.share(OF_SOLVING), report=report)
    return place_exactly(constrained(problem, added), part)


def _stated(heuristic: Heuristic, found: Suggestion, added: Additions) -> Suggestion:
    """Return what was found within additions, of which nothing is proved about the whole problem."""
    if not added:
        return replace(found, added=added)
    reason = f"optimal within what {heuristic.name} adds" if found.proved else found.reason
    return replace(found, reason=reason, bound=None, proved=False, added=added)


def _greedy(problem: Problem, context: Context) -> IntArray | None:
    """Return the placement of `cloud-greedy`, None if it has none that keeps to everything."""
    if all(node.tier != "cloud" for node in problem.network.nodes):
        return None
    greedy = cloud_greedy(problem, NoParameters(), context).placement
    return None if greedy is None or check(problem, greedy) else greedy


def _additions(heuristic: Heuristic, problem: Problem, parameters: HeuristicParameters) -> Additions:
    pins: dict[str, str] = {}
    if heuristic.pins and problem.network.underlay is not None:
        pins = pinned(problem, problem.network.underlay)
    allowed = restricted(problem, parameters.mixed, pins) if heuristic.restricts else {}
    pairs = colocated(problem, parameters.colocate_share, pins) if heuristic.colocates else ()
    return Additions(allowed, pins, pairs)


HEURISTICS = (
    Heuristic(
        "inop-restrict", "the exact solver on the tiers that suit the ends of each graph", restricts=True
    ),
    Heuristic("inop-pin", "the exact solver, the first operator of each graph near its sources", pins=True),
    Heuristic("inop-colocate", "the exact solver, light neighbours that send much together", colocates=True),
    Heuristic("inop-comb-1", "inop-pin, then inop-restrict for the others", pins=True, restricts=True),
    Heuristic("inop-comb-2", "inop-pin, then inop-colocate among the others", pins=True, colocates=True),
    Heuristic("inop-comb-3", "inop-restrict with inop-colocate", restricts=True, colocates=True),
)
"""The paper's three heuristics and three combinations of them."""

ENTRIES = tuple(
    StrategyEntry(
        name=each.name,
        solve=partial(inop_heuristic, each),
        parameters=HeuristicParameters,
        summary=each.summary,
        anytime=True,
        ends_with_proof=True,
        needs=("links", "tiers") if each.restricts else ("links",),
    )
    for each in HEURISTICS
)
