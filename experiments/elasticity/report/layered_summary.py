"""Paper 004's policies over a week of taxi trips: means over seeds, with their confidence intervals."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.reports.targets import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.elasticity.outcome import Outcome
    from experiments.elasticity.sweep import Sweep

_NORMAL_95 = 1.96
_LEARNED, _TUNED, _PLAIN = "model-based", "threshold-tuned", "threshold-layers"


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
    """

    policy: str
    violations: Mean
    executors: Mean
    hosts: Mean
    reconfigurations: Mean
    host_moves: Mean

    def cells(self) -> list[str]:
        """Return the row of the table."""
        return [
            f"`{self.policy}`",
            self.violations.text(2),
            self.executors.text(2),
            self.hosts.text(2),
            self.reconfigurations.text(1),
            self.host_moves.text(1),
        ]


def layered_figures(sweep: Sweep) -> list[LayeredFigures]:
    """Return the figures of each policy, in the order of their runs."""
    days = sweep.counted_days
    return [
        LayeredFigures(
            policy,
            _mean(own, lambda each: 100.0 * (each.violations or 0.0)),
            _mean(own, lambda each: each.executor_hours / 24.0 / days),
            _mean(own, lambda each: each.host_hours / 24.0 / days),
            _mean(own, lambda each: each.reconfigurations / days),
            _mean(own, lambda each: (each.leases + each.releases) / days),
        )
        for policy in dict.fromkeys(run.asked.policy for run in sweep.layered)
        if (own := [run.outcome for run in sweep.layered if run.asked.policy == policy])
    ]


def _mean(runs: Sequence[Outcome], of: Callable[[Outcome], float]) -> Mean:
    values = [of(each) for each in runs]
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    return Mean(statistics.fmean(values), _NORMAL_95 * spread / math.sqrt(len(values)))


def layered_targets(found: Sequence[LayeredFigures]) -> list[Target]:
    """Return what the policies that learn should show beside thresholds, and whether they do."""
    by_name = {each.policy: each for each in found}
    if not {_LEARNED, _TUNED, _PLAIN} <= by_name.keys():
        return []
    learned, tuned, plain = by_name[_LEARNED], by_name[_TUNED], by_name[_PLAIN]
    late, executors = learned.violations.value, learned.executors.value
    changes = learned.reconfigurations.value / plain.reconfigurations.value
    return [
        Target(f"`{_LEARNED}`: at most 1.3 % violations", f"{late:.2f} %", late <= 1.3),
        Target(
            f"`{_LEARNED}`: no more executors than the tuned thresholds",
            f"{executors:.2f}, {tuned.executors.value:.2f}",
            executors <= tuned.executors.value,
        ),
        Target(
            f"`{_LEARNED}`: at most half of the reconfigurations of plain thresholds",
            f"{changes:.0%}",
            changes <= 0.5,
        ),
        Target(
            f"`{_LEARNED}`: at most two thirds of the violations of plain thresholds",
            f"{late / plain.violations.value:.0%}",
            late <= 2.0 / 3.0 * plain.violations.value,
        ),
    ]
