"""What the strategies should reach, and whether the measured rows reach it."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from benchmarks.placement.analysis import OPTIMAL, REFERENCE, at_best, gap
from benchmarks.placement.markdown import markdown, percent, seconds
from scheduler.instances.generators.paper import APPLICATIONS

if TYPE_CHECKING:
    import pandas as pd

    from benchmarks.placement.analysis import Study

CERTIFIED_WITHIN_S = 60.0
HARDEST_WITHIN_S = 120.0
HARDEST_GAP = 0.03
"""For the replicated application with equal weights, if it is not certified."""
LARGEST = 100
"""Nodes of the problems that the targets of time speak of."""
TIMES_S = {"greedy": 0.005, "local-search": 0.1, "tabu-search": 2.0}
"""For 20 operators on the largest network."""
QUICK, THOROUGH = "ils 2 s", "ils 10 s"
QUICK_EXCESS_PERCENT = 1.0
THOROUGH_SHARE = 0.9
TIMER_SLACK_S = 1.0
"""A deadline is met when the answer is there so soon after it."""


def targets(made: Study) -> str:
    """Return a table: target, what was measured, and whether it is reached."""
    body = [_certified(made), _hardest(made), *(_in_time(made, each) for each in TIMES_S)]
    body += [_quick(made), _thorough(made)]
    return markdown(["target", "measured", "reached"], body)


def searches(made: Study) -> str:
    """Return per cell of Table 4 how often `ils` and `portfolio` are at the optimum, and how far off."""
    variants = [each for each in made.variants if each.startswith(("ils", "portfolio"))]
    body = []
    for application, objective in product(APPLICATIONS, sorted(made.rows["objective"].unique())):
        if made.part(application=application, objective=objective).empty:
            continue
        line = [f"{application}, {objective}"]
        for variant in variants:
            own = made.part(application=application, objective=objective, variant=variant)
            proved = own[own["certified"]]
            worst_r = "-" if own.empty else f"{own['excess_r'].max():.2f}"
            line += [
                f"{at_best(proved).sum()} of {len(proved)}",
                "-" if own.empty else percent(own["degradation"].max()),
                worst_r if objective == "R" else "",
            ]
        body.append(line)
    head = ["application, objective"]
    for variant in variants:
        head += [f"{variant}: at certified optimum", "worst degradation", "worst % of R"]
    return markdown(head, body)


def _certified(made: Study) -> list[str]:
    """R, A and Z of all applications, and equal weights of the two easier ones."""
    own = made.part(variant=REFERENCE)
    own = own[(own["application"] != "replicated") | (own["objective"] != "equal")]
    good = (own["status"] == OPTIMAL) & (own["seconds"] <= CERTIFIED_WITHIN_S + TIMER_SLACK_S)
    slowest = f", slowest {seconds(own['seconds'].max())}" if len(own) else ""
    return [
        f"optimum certified in {CERTIFIED_WITHIN_S:g} s (all but replicated, equal)",
        f"{good.sum()} of {len(own)} problems{slowest}",
        _verdict(own, good.all(), needed_s=CERTIFIED_WITHIN_S),
    ]


def _hardest(made: Study) -> list[str]:
    own = made.part(variant=REFERENCE, application="replicated", objective="equal")
    left = gap(own)
    good = (left <= HARDEST_GAP) & (own["seconds"] <= HARDEST_WITHIN_S + TIMER_SLACK_S)
    certified = (own["status"] == OPTIMAL).sum()
    worst = (
        f"worst gap {percent(left.max())}" if left.notna().all() else f"{left.isna().sum()} without a bound"
    )
    return [
        f"replicated, equal: certified or gap <= {percent(HARDEST_GAP)} after {HARDEST_WITHIN_S:g} s",
        f"{certified} of {len(own)} certified, {worst}" if len(own) else "-",
        _verdict(own, good.all(), needed_s=HARDEST_WITHIN_S),
    ]


def _in_time(made: Study, strategy: str) -> list[str]:
    own, limit = made.part(variant=strategy, nodes=LARGEST)["seconds"], TIMES_S[strategy]
    return [
        f"{strategy}: 20 operators on {LARGEST} nodes in {seconds(limit)}",
        f"median {seconds(own.median())}, longest {seconds(own.max())}" if len(own) else "-",
        _verdict(made.part(variant=strategy, nodes=LARGEST), (own <= limit).all()),
    ]


def _quick(made: Study) -> list[str]:
    """The target speaks of 100 nodes; what smaller networks gave stands beside it."""
    every, own = (made.part(variant=QUICK, objective="R", **size) for size in ({}, {"nodes": LARGEST}))
    parts = [
        f"{(part['excess_r'] <= QUICK_EXCESS_PERCENT).sum()} of {len(part)} problems, "
        f"worst {part['excess_r'].max():.2f} %"
        for part in (own, every)
        if len(part)
    ]
    within = f"raw R within {QUICK_EXCESS_PERCENT:g} % of the best known"
    return [
        f"{QUICK}: 20 operators on {LARGEST} nodes, {within}",
        f"{parts[0]} (all sizes: {parts[-1]})" if len(own) else "-",
        _verdict(own, (own["excess_r"] <= QUICK_EXCESS_PERCENT).all()),
    ]


def _thorough(made: Study) -> list[str]:
    own = made.part(variant=THOROUGH)
    own = own[own["certified"]]
    good = at_best(own)
    share = good.mean() if len(own) else 0.0
    wanted = f"equal to the certified optimum in {percent(THOROUGH_SHARE)} of the certified problems"
    return [
        f"{THOROUGH}: {wanted}",
        f"{good.sum()} of {len(own)} ({percent(share)})" if len(own) else "-",
        _verdict(own, share >= THOROUGH_SHARE),
    ]


def _verdict(own: pd.DataFrame, reached: object, needed_s: float = 0.0) -> str:
    """Return yes or no, or why neither can be said; `needed_s` is the time that the target grants."""
    if own.empty:
        return "not measured"
    if reached:
        return "yes"
    granted = float(own["limit_s"].max())
    return f"open: only {granted:g} s granted" if granted < needed_s else "no"
