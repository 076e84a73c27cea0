"""What the turns of each variant come to, and whether the targets of the experiment are met."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from replay.response_time.breakdown import Parts, parts
from replay.targets import Target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from replay.response_time.turns import TurnData
    from scheduler.arrays import FloatArray

PAPER_MEAN_MS: Mapping[str, float] = {
    **dict.fromkeys(("odp", "hierarchical", "odp-ps", "res-odp"), 55.0),
    "greedy-no-penalty": 159.0,
}
"""Mean response times that paper 000 states in section 7.5."""

PAPER_SAME_SITES = ("greedy", "local-search", "tabu-search")
"""Of these it says that they use the data centres of the optimum, and gives no figure."""

STORMS_OWN = ("even", "default", "ras")

MOST_MEDIAN_MS = 60.0
MOST_DEVIATION = 0.2
LEAST_FACTOR: Mapping[str, float] = {"even": 2.5, "default": 2.5, "ras": 1.0}
"""Least ratio of the median of Storm's own schedulers to our best one; 1: it is above it."""

_CLOCK_STEP_MS = 1.0


@dataclass(frozen=True)
class VariantSummary:
    """All turns of one variant.

    Attributes:
        name: The variant.
        turns: Its turns by repetition, at least one.
    """

    name: str
    turns: tuple[TurnData, ...]

    @cached_property
    def end_to_end_ms(self) -> FloatArray:
        """Response times of all measured rows of all turns, ms."""
        return np.concatenate([turn.end_to_end_ms.to_numpy() for turn in self.turns])

    @cached_property
    def in_topology_ms(self) -> FloatArray:
        """The same from the source to globalRank, ms."""
        return np.concatenate([turn.in_topology_ms.to_numpy() for turn in self.turns])

    @property
    def median_ms(self) -> float:
        """Median end to end."""
        return float(np.median(self.end_to_end_ms))

    @property
    def in_topology_median_ms(self) -> float:
        """Median from the source to globalRank."""
        return float(np.median(self.in_topology_ms))

    @property
    def mean_ms(self) -> float:
        """Mean end to end."""
        return float(np.mean(self.end_to_end_ms))

    @property
    def p95_ms(self) -> float:
        """95th percentile end to end."""
        return float(np.percentile(self.end_to_end_ms, 95))

    @property
    def medians_ms(self) -> tuple[float, ...]:
        """Median end to end of each turn."""
        return tuple(float(turn.end_to_end_ms.median()) for turn in self.turns)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Measured median / predicted, end to end, of each turn."""
        return tuple(
            median / turn.prediction.end_to_end_ms
            for median, turn in zip(self.medians_ms, self.turns, strict=True)
        )

    @property
    def parts(self) -> Parts:
        """Where the time goes, mean over the turns."""
        each = [parts(turn.legs) for turn in self.turns]
        return Parts(
            network=float(np.mean([one.network for one in each])),
            storm=float(np.mean([one.storm for one in each])),
            python=float(np.mean([one.python for one in each])),
            wait=float(np.mean([one.wait for one in each])),
            redis=float(np.mean([one.redis for one in each])),
        )

    def distinct(self) -> tuple[TurnData, ...]:
        """Return one turn for each placement that occurs."""
        found: dict[tuple[tuple[str, str], ...], TurnData] = {}
        for turn in self.turns:
            found.setdefault(tuple(sorted(turn.hosts.items())), turn)
        return tuple(found.values())


def summarise(turns: Sequence[TurnData]) -> tuple[VariantSummary, ...]:
    """Group turns by variant, the shortest median first."""
    names = sorted({turn.done.variant for turn in turns})
    found = [
        VariantSummary(name, tuple(turn for turn in turns if turn.done.variant == name)) for name in names
    ]
    return tuple(sorted(found, key=lambda each: (each.median_ms, each.name)))


def targets(variants: Sequence[VariantSummary]) -> tuple[Target, ...]:
    """Compare with the targets; those whose variants were not measured are left out."""
    by_name = {each.name: each for each in variants}
    found = [_within_prediction(variants)]
    if "odp" in by_name:
        odp = by_name["odp"]
        found.append(
            Target(
                f"optimum: median at most {MOST_MEDIAN_MS:g} ms",
                f"{odp.median_ms:.1f} ms",
                odp.median_ms <= MOST_MEDIAN_MS,
            )
        )
        if "ils" in by_name:
            found.append(_alike(by_name["ils"], odp))
    ours = [each for each in variants if each.name not in STORMS_OWN]
    if ours:
        best = min(ours, key=lambda each: each.median_ms)
        found += [
            _ahead(best, by_name[name], factor) for name, factor in LEAST_FACTOR.items() if name in by_name
        ]
    return tuple(found)


def _within_prediction(variants: Sequence[VariantSummary]) -> Target:
    ratios = {
        f"{each.name}-{turn.done.repetition}": ratio
        for each in variants
        for turn, ratio in zip(each.turns, each.ratios, strict=True)
    }
    label = max(ratios, key=lambda each: abs(ratios[each] - 1.0))
    return Target(
        f"measured within {MOST_DEVIATION:.0%} of predicted in every turn",
        f"at most {abs(ratios[label] - 1.0):.0%} off ({label})",
        abs(ratios[label] - 1.0) <= MOST_DEVIATION,
    )


def _alike(ils: VariantSummary, odp: VariantSummary) -> Target:
    noise_ms = max(*(max(each.medians_ms) - min(each.medians_ms) for each in (ils, odp)), _CLOCK_STEP_MS)
    apart_ms = abs(ils.median_ms - odp.median_ms)
    return Target(
        "ils as odp, within the difference between repetitions (at least the clock's 1 ms)",
        f"{apart_ms:.1f} ms apart, noise {noise_ms:.1f} ms",
        apart_ms <= noise_ms,
    )


def _ahead(best: VariantSummary, other: VariantSummary, factor: float) -> Target:
    measured = other.median_ms / best.median_ms
    if factor > 1.0:
        text, reached = f"{other.name}: at least {factor:g} times our best", measured >= factor
    else:
        text, reached = f"{other.name}: above our best", measured > factor
    return Target(text, f"{measured:.2f} times {best.name}", reached)
