"""Means of simulated runs beside the paper's table, and whether the goals are met."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.replacement.simulation import RULES
from experiments.replacement.steadiness import LEAST_CHANGE, WITHIN
from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.replacement.day import Day, DayRule
    from experiments.replacement.simulation import Outcome, RuleName
    from experiments.replacement.steadiness import Followed
    from experiments.replacement.sweep import Sweep

LABELS: Mapping[RuleName, str] = {
    "static": "Static",
    "paper": "Dynamic, the paper's rule",
    "ours": "Dynamic, our rule",
    "hindsight": "with hindsight",
}

DAY_LABELS: Mapping[DayRule, str] = {
    "paper": "the paper's rule",
    "ours": "our rule",
    "rolling": "rolling horizon",
    "rolling, forecast wrong": "rolling horizon, forecast wrong",
    "hindsight": "with hindsight",
}


@dataclass(frozen=True)
class Figure:
    """What is compared.

    Attributes:
        name: With its unit.
        of: Its value in a run.
        paper: As the paper prints it for Static and for Dynamic; empty where it states none.
        decimals: To be printed.
        higher_is_better: Whether more is better than less.
    """

    name: str
    of: Callable[[Outcome], float]
    paper: tuple[str, str] = ("", "")
    decimals: int = 2
    higher_is_better: bool = False


@dataclass(frozen=True)
class Row:
    """A figure under every rule.

    Attributes:
        figure: What is compared.
        values: By rule, mean over the runs and standard deviation.
    """

    figure: Figure
    values: Mapping[RuleName, tuple[float, float]]


_FIGURES = (
    Figure(
        "response time of the model, s", lambda each: each.means["response_time"] / 1000, ("1.98", "1.62")
    ),
    Figure(
        "availability", lambda each: each.means["availability"], ("0.35", "0.40"), 3, higher_is_better=True
    ),
    Figure("enactment, CU/s", lambda each: each.means["cost"], ("34.91", "29.05")),
    Figure("migration, CU per cycle", lambda each: statistics.fmean(each.paid), ("-", "14.47")),
    Figure("planner, CU/s", lambda each: each.planner_per_s, ("0.27", "3")),
    Figure("total, CU/s", lambda each: each.total_per_s, ("35.19", "32.10")),
    Figure(
        "score (eq. 15)",
        lambda each: statistics.fmean(each.score),
        ("0.62", "0.78"),
        3,
        higher_is_better=True,
    ),
    Figure("F above hindsight, all cycles", lambda each: each.regret, decimals=3),
    Figure("operators moved", lambda each: sum(each.moved), decimals=1),
    Figure("latency of tuples, mean, s", lambda each: each.latency_s[0]),
    Figure("median, s", lambda each: each.latency_s[1]),
    Figure("95th percentile, s", lambda each: each.latency_s[2]),
    Figure("tuples sent again", lambda each: each.replayed, decimals=1),
)


def rows(outcomes: Sequence[Outcome]) -> tuple[Row, ...]:
    """Return the table of runs that differ in nothing but rule and seed."""
    by_rule = {rule: [each for each in outcomes if each.setting.rule == rule] for rule in RULES}
    return tuple(
        Row(figure, {rule: _mean([figure.of(each) for each in runs]) for rule, runs in by_rule.items()})
        for figure in _FIGURES
    )


def _mean(values: Sequence[float]) -> tuple[float, float]:
    return statistics.fmean(values), statistics.pstdev(values)


def day_rows(days: Sequence[Day]) -> list[list[str]]:
    """Return a row of cells per rule: its label, then means over its runs."""
    return [
        [
            label,
            f"{statistics.fmean(each.regret for each in runs):.3f}",
            f"{statistics.fmean(each.moved for each in runs):.1f}",
            f"{statistics.fmean(each.cycles_with_moves for each in runs):.1f}",
            f"{statistics.fmean(each.response_s for each in runs):.2f}",
            f"{statistics.fmean(each.cost_per_s for each in runs):.2f}",
        ]
        for rule, label in DAY_LABELS.items()
        if (runs := [each for each in days if each.rule == rule])
    ]


def targets(sweep: Sweep) -> tuple[Target, ...]:
    """Compare with what the rule has to reach."""
    return (
        *_table_2(sweep),
        *_against_the_paper(sweep),
        *_calm(sweep),
        _follows(sweep),
        _looks_ahead(sweep),
    )


def _table_2(sweep: Sweep) -> list[Target]:
    table = rows([each for each in sweep.outcomes if each.setting.scenario == "table-2"])
    wanted = {
        "response time of the model, s",
        "availability",
        "enactment, CU/s",
        "total, CU/s",
        "score (eq. 15)",
    }
    found = []
    for row in table:
        figure = row.figure
        if figure.name not in wanted:
            continue
        (static, _), (ours, _) = row.values["static"], row.values["ours"]
        better = ours > static if figure.higher_is_better else ours < static
        measured = f"{ours:.{figure.decimals}f}, Static {static:.{figure.decimals}f}"
        found.append(Target(f"setting of Table II: {figure.name} better than Static's", measured, better))
    return found


def _against_the_paper(sweep: Sweep) -> list[Target]:
    found = []
    for scenario in ("table-2", "p"):
        runs = [
            each
            for each in sweep.outcomes
            if each.setting.scenario == scenario and each.setting.weights == "equal" and each.setting.noisy
        ]
        table = {row.figure.name: row.values for row in rows(runs)}
        regret, moved = table["F above hindsight, all cycles"], table["operators moved"]
        found += [
            Target(
                f"scenario {scenario}: F of all cycles, moves included, at most that of the paper's rule",
                f"{regret['ours'][0]:.3f} above hindsight, the paper's rule {regret['paper'][0]:.3f}",
                regret["ours"][0] <= regret["paper"][0],
            ),
            Target(
                f"scenario {scenario}: at most half of its moves",
                f"{moved['ours'][0]:.1f} operators a run, the paper's rule {moved['paper'][0]:.1f}",
                moved["ours"][0] <= moved["paper"][0] / 2.0,
            ),
        ]
    return found


def _calm(sweep: Sweep) -> list[Target]:
    moved = {
        rule: (
            sum(each.moved for each in sweep.calm if each.rule == rule),
            sum(each.cycles for each in sweep.calm if each.rule == rule),
        )
        for rule in ("paper", "ours")
    }
    (theirs, of_theirs), (ours, of_ours) = moved["paper"], moved["ours"]
    measured = f"{ours} of {of_ours} cycles, the paper's rule in {theirs} of {of_theirs}"
    return [Target("readings that only seem to change: no move", measured, ours == 0)]


def _follows(sweep: Sweep) -> Target:
    found = [each for each in sweep.followed if each.shown == "exact"]
    text = f"a real change worth {LEAST_CHANGE:.0%} of F or more followed within {WITHIN} cycles in 95 %"
    in_time = within(found, WITHIN)
    measured = f"{in_time} of {len(found)} ({in_time / len(found):.1%}), shown by a speed or a delay"
    return Target(text, measured, in_time >= 0.95 * len(found))


def _looks_ahead(sweep: Sweep) -> Target:
    regret = {
        rule: statistics.fmean(each.regret for each in sweep.days if each.rule == rule) for rule in DAY_LABELS
    }
    one_step = min(regret["paper"], regret["ours"])
    rolling = max(regret["rolling"], regret["rolling, forecast wrong"])
    measured = f"{rolling:.3f} above hindsight, the better of the others {one_step:.3f}"
    text = "a day of announced and forecast changes: the rolling horizon better than one step ahead"
    return Target(text, measured, rolling < one_step)


def within(runs: Sequence[Followed], cycles: int) -> int:
    """Return how many real changes were followed within so many cycles."""
    return sum(each.after is not None and each.after <= cycles for each in runs)
