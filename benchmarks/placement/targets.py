"""What the strategies should reach, and whether the measured rows reach it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.placement.analysis import OPTIMAL, REFERENCE, at_best
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
    rows = made.rows
    body = [_certified(rows), _hardest(rows), *(_in_time(rows, each) for each in TIMES_S)]
    body += [_quick(rows), _thorough(rows)]
    return markdown(["target", "measured", "reached"], body)


def searches(made: Study) -> str:
    """Return per cell of Table 4 how often `ils` and `portfolio` are at the optimum, and how far off."""
    variants = [each for each in made.variants if each.startswith(("ils", "portfolio"))]
    body = []
    for application in APPLICATIONS:
        for objective in sorted(made.rows["objective"].unique()):
            cell = made.rows[
                (made.rows["application"] == application) & (made.rows["objective"] == objective)
            ]
            if cell.empty:
                continue
            line = [f"{application}, {objective}"]
            for variant in variants:
                own = cell[cell["variant"] == variant]
                proved = own[own["certified"]]
                line += [
                    f"{at_best(proved).sum()} of {len(proved)}",
                    "-" if own.empty else percent(own["degradation"].max()),
                    _worst_response(own) if objective == "R" else "",
                ]
            body.append(line)
    head = ["application, objective"]
    for variant in variants:
        head += [f"{variant}: at certified optimum", "worst degradation", "worst % of R"]
    return markdown(head, body)


def _worst_response(own: pd.DataFrame) -> str:
    return "-" if own.empty else f"{own['excess_r'].max():.2f}"


def _certified(rows: pd.DataFrame) -> list[str]:
    """R, A and Z of all applications, and equal weights of the two easier ones."""
    hard = (rows["application"] == "replicated") & (rows["objective"] == "equal")
    own = rows[(rows["variant"] == REFERENCE) & ~hard]
    good = (own["status"] == OPTIMAL) & (own["seconds"] <= CERTIFIED_WITHIN_S + TIMER_SLACK_S)
    slowest = f", slowest {seconds(own['seconds'].max())}" if len(own) else ""
    text = f"{good.sum()} of {len(own)} problems{slowest}"
    return [
        f"optimum certified in {CERTIFIED_WITHIN_S:g} s (all but replicated, equal)",
        text,
        _verdict(own, good.all(), needed_s=CERTIFIED_WITHIN_S),
    ]


def _hardest(rows: pd.DataFrame) -> list[str]:
    own = rows[
        (rows["variant"] == REFERENCE)
        & (rows["application"] == "replicated")
        & (rows["objective"] == "equal")
    ]
    gap = ((own["objective_value"] - own["bound"]) / own["objective_value"]).clip(lower=0.0)
    gap = gap.where(own["status"] != OPTIMAL, 0.0)
    good = (gap <= HARDEST_GAP) & (own["seconds"] <= HARDEST_WITHIN_S + TIMER_SLACK_S)
    certified = (own["status"] == OPTIMAL).sum()
    worst = f"worst gap {percent(gap.max())}" if gap.notna().all() else f"{gap.isna().sum()} without a bound"
    text = f"{certified} of {len(own)} certified, {worst}" if len(own) else "-"
    target = f"replicated, equal: certified or gap <= {percent(HARDEST_GAP)} after {HARDEST_WITHIN_S:g} s"
    return [target, text, _verdict(own, good.all(), needed_s=HARDEST_WITHIN_S)]


def _in_time(rows: pd.DataFrame, strategy: str) -> list[str]:
    own = rows[(rows["variant"] == strategy) & (rows["nodes"] == LARGEST)]
    text = (
        f"median {seconds(own['seconds'].median())}, longest {seconds(own['seconds'].max())}"
        if len(own)
        else "-"
    )
    limit = TIMES_S[strategy]
    return [
        f"{strategy}: 20 operators on {LARGEST} nodes in {seconds(limit)}",
        text,
        _verdict(own, (own["seconds"] <= limit).all()),
    ]


def _quick(rows: pd.DataFrame) -> list[str]:
    """The target speaks of 100 nodes; what smaller networks gave stands beside it."""
    every = rows[(rows["variant"] == QUICK) & (rows["objective"] == "R")]
    own = every[every["nodes"] == LARGEST]
    parts = [
        f"{(part['excess_r'] <= QUICK_EXCESS_PERCENT).sum()} of {len(part)} problems, "
        f"worst {part['excess_r'].max():.2f} %"
        for part in (own, every)
        if len(part)
    ]
    text = f"{parts[0]} (all sizes: {parts[-1]})" if len(own) else "-"
    target = (
        f"{QUICK}: 20 operators on {LARGEST} nodes, raw R within {QUICK_EXCESS_PERCENT:g} % of the best known"
    )
    return [target, text, _verdict(own, (own["excess_r"] <= QUICK_EXCESS_PERCENT).all())]


def _thorough(rows: pd.DataFrame) -> list[str]:
    own = rows[(rows["variant"] == THOROUGH) & rows["certified"]]
    good = at_best(own)
    share = good.mean() if len(own) else 0.0
    text = f"{good.sum()} of {len(own)} ({percent(share)})" if len(own) else "-"
    target = (
        f"{THOROUGH}: equal to the certified optimum in {percent(THOROUGH_SHARE)} of the certified problems"
    )
    return [target, text, _verdict(own, share >= THOROUGH_SHARE)]


def _verdict(own: pd.DataFrame, reached: object, needed_s: float = 0.0) -> str:
    """Return yes or no, or why neither can be said; `needed_s` is the time that the target grants."""
    if own.empty:
        return "not measured"
    if reached:
        return "yes"
    granted = float(own["limit_s"].max())
    return f"open: only {granted:g} s granted" if granted < needed_s else "no"
