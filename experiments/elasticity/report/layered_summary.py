"""Paper 004's policies over a week of taxi trips: means over seeds, with their confidence intervals."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.elasticity.sweep import HINDSIGHT, JOINT, LEARNED, PLAIN, ROLLING, TUNED
from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.elasticity.layered_run import LayeredRun

_NORMAL_95 = 1.96


@dataclass(frozen=True)
class Mean:
    """A mean over seeds.

    Attributes:
        value: The mean.
        half_width: Of its 95 % confidence interval, by the normal distribution; 0 of a single seed.
    """

    value: float
    half_width: float

    def text(self, decimals: int) -> str:
        """Return it as a table shows it."""
        return f"{self.value:.{decimals}f} +- {self.half_width:.{decimals}f}"


@dataclass(frozen=True)
class LayeredFigures:
    """A policy over the days that count.

    Attributes:
        policy: Its name.
        violations: Share of the time above the bound, per cent.
        executors: On average.
        hosts: On average, booting ones included.
        reconfigurations: Periods with a change, per day.
        host_moves: Hosts started and given back, per day.
        cost: J, thousandths.
        regret: Of J above its lower bound, thousandths; the bound of each run is that of its load.
    """

    policy: str
    violations: Mean
    executors: Mean
    hosts: Mean
    reconfigurations: Mean
    host_moves: Mean
    cost: Mean
    regret: Mean

    def cells(self) -> list[str]:
        """Return the row of the table."""
        return [
            f"`{self.policy}`",
            self.violations.text(2),
            self.executors.text(2),
            self.hosts.text(2),
            self.reconfigurations.text(1),
            self.host_moves.text(1),
            self.cost.text(1),
            self.regret.text(1),
        ]


def layered_figures(runs: Sequence[LayeredRun], days: float) -> list[LayeredFigures]:
    """Return the figures of each policy, in the order of their runs.

    Args:
        runs: Under one load.
        days: That count.
    """
    return [
        LayeredFigures(
            policy,
            _mean(own, lambda each: 100.0 * (each.outcome.violations or 0.0)),
            _mean(own, lambda each: each.outcome.executor_hours / 24.0 / days),
            _mean(own, lambda each: each.outcome.host_hours / 24.0 / days),
            _mean(own, lambda each: each.outcome.reconfigurations / days),
            _mean(own, lambda each: (each.outcome.leases + each.outcome.releases) / days),
            _mean(own, lambda each: 1000.0 * each.cost),
            _mean(own, lambda each: 1000.0 * (each.cost - each.least)),
        )
        for policy in dict.fromkeys(run.asked.policy for run in runs)
        if (own := [run for run in runs if run.asked.policy == policy])
    ]


def _mean(runs: Sequence[LayeredRun], of: Callable[[LayeredRun], float]) -> Mean:
    values = [of(each) for each in runs]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return Mean(statistics.fmean(values), _NORMAL_95 * spread / math.sqrt(len(values)))


def days_of(runs: Sequence[LayeredRun]) -> list[list[str]]:
    """Return a row for each day: violations (%) and J (thousandths) of each policy, in their order."""
    policies = list(dict.fromkeys(run.asked.policy for run in runs))
    rows = []
    for day in range(min((len(run.day_costs) for run in runs), default=0)):
        row = [str(day + 1)]
        for policy in policies:
            own = [run for run in runs if run.asked.policy == policy]
            late = 100.0 * statistics.fmean(run.day_violations[day] for run in own)
            row.append(f"{late:.2f}, {1000.0 * statistics.fmean(run.day_costs[day] for run in own):.0f}")
        rows.append(row)
    return rows


def under_loads(runs: Sequence[LayeredRun]) -> list[list[str]]:
    """Return a row for each load and policy: violations, executors, changes a day and regret."""
    rows = []
    for load in dict.fromkeys(run.asked.load for run in runs):
        for each in layered_figures([run for run in runs if run.asked.load == load], 1.0):
            cells = each.cells()
            rows.append([load, cells[0], cells[1], cells[2], cells[4], cells[7]])
    return rows


def layered_targets(found: Sequence[LayeredFigures]) -> list[Target]:
    """Return what the policies that learn should show beside thresholds, and whether they do."""
    by_name = {each.policy: each for each in found}
    if not {LEARNED, JOINT, TUNED, PLAIN, ROLLING, HINDSIGHT} <= by_name.keys():
        return []
    learned, tuned, plain = by_name[LEARNED], by_name[TUNED], by_name[PLAIN]
    ours, known = by_name[ROLLING], by_name[HINDSIGHT]
    halfway = (learned.executors.value + known.executors.value) / 2.0
    late = learned.violations.value
    return [
        *(target for each in (LEARNED, JOINT) for target in _of_learning(by_name[each], tuned, plain)),
        Target(
            f"`{ROLLING}`: executors at most half-way from `{LEARNED}` to `{HINDSIGHT}`",
            f"{ours.executors.value:.2f}, {halfway:.2f}",
            ours.executors.value <= halfway,
        ),
        Target(
            f"`{ROLLING}`: no more violations than `{LEARNED}`",
            f"{ours.violations.value:.2f} %, {late:.2f} %",
            ours.violations.value <= late,
        ),
        Target(
            f"`{ROLLING}`: at most 1.3 % violations with no more executors than the tuned thresholds",
            f"{ours.violations.value:.2f} %, {ours.executors.value:.2f}",
            ours.violations.value <= 1.3 and ours.executors.value <= tuned.executors.value,
        ),
    ]


def _of_learning(learned: LayeredFigures, tuned: LayeredFigures, plain: LayeredFigures) -> list[Target]:
    """Return what a policy that learns should show beside tuned and plain thresholds."""
    name, late, executors = learned.policy, learned.violations.value, learned.executors.value
    changes = learned.reconfigurations.value / plain.reconfigurations.value
    return [
        Target(f"`{name}`: at most 1.3 % violations", f"{late:.2f} %", late <= 1.3),
        Target(
            f"`{name}`: no more executors than thresholds of 70 % and 75 %",
            f"{executors:.2f}, {plain.executors.value:.2f}",
            executors <= plain.executors.value,
        ),
        Target(
            f"`{name}`: no more executors than thresholds of 80 % and 60 %, our tuning",
            f"{executors:.2f}, {tuned.executors.value:.2f}",
            executors <= tuned.executors.value,
        ),
        Target(
            f"`{name}`: at most half of the reconfigurations of plain thresholds",
            f"{changes:.0%}",
            changes <= 0.5,
        ),
        Target(
            f"`{name}`: at most two thirds of the violations of plain thresholds",
            f"{late / plain.violations.value:.0%}",
            late <= 2.0 / 3.0 * plain.violations.value,
        ),
    ]
