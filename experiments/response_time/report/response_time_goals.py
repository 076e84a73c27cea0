"""Whether the targets of the experiment are met; what no turn shows is not measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.reports.targets import Target
from experiments.response_time.report.turns import NOT_CHECKED
from experiments.response_time.variants import STORMS_OWN, STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.response_time.report.summary import VariantSummary

MOST_MEDIAN_MS = 60.0
MOST_DEVIATION = 0.2
MOST_PREDICTED_ABOVE = 0.01
MOST_NOISE = 0.1
"""The machine's noise counts up to this part of odp's median."""
LEAST_FACTOR: Mapping[str, float] = {"even": 2.5, "default": 2.5, "ras": 1.0}
"""Least ratio of the median of Storm's own schedulers to our best one; 1: it is above it."""

_CLOCK_STEP_MS = 1.0
_SAME_MS = 0.05
"""Predictions that differ by less are the same in the report."""


def targets(variants: Sequence[VariantSummary]) -> tuple[Target, ...]:
    """Compare with the targets.

    A variant with a wrong turn is no optimum, not our best, and nothing to compare with. How well response
    times are predicted is asked of every turn all the same: leaving turns out could only hide deviations.
    """
    sound = {each.name: each for each in variants if not any(turn.wrong for turn in each.turns)}
    measured = {each.name for each in variants}

    def lacks(*names: str) -> str:
        reasons = {name: "answers are wrong" if name in measured else "no turn" for name in names}
        return ", ".join(f"{name}: {why}" for name, why in reasons.items() if name not in sound)

    ours = [each for each in sound.values() if each.name in STRATEGIES]
    best = min(ours, key=lambda each: each.median_ms) if ours else None
    odp, ils = sound.get("odp"), sound.get("ils")
    return (
        _answers(variants),
        _within_prediction(variants),
        _optimum(odp, lacks("odp")),
        _alike_predicted(ils, odp, lacks("ils", "odp")),
        _alike_measured(ils, odp, list(sound.values()), lacks("ils", "odp")),
        *(_ahead(best, name, sound.get(name), factor, lacks(name)) for name, factor in LEAST_FACTOR.items()),
    )


def coverage(variants: Sequence[VariantSummary]) -> str:
    """Return in words how many of the experiment's variants were measured, and which ones not."""
    known = (*STRATEGIES, *STORMS_OWN)
    measured = {each.name for each in variants}
    counted = f"{len(measured & {*known})} of {len(known)} variants"
    left = [name for name in known if name not in measured]
    return f"{counted} (not {', '.join(left)})" if left else counted


def _answers(variants: Sequence[VariantSummary]) -> Target:
    text = "answers right in all turns"
    turns = [turn for each in variants for turn in each.turns]
    wrong = [turn for turn in turns if turn.wrong]
    if wrong:
        measured = f"wrong in {len(wrong)} of {len(turns)} turns, first {wrong[0].label}: {wrong[0].verdict}"
        return Target(text, measured, reached=False)
    checked = sum(turn.verdict != NOT_CHECKED for turn in turns)
    return Target(text, f"right in {checked} of {len(turns)} turns", True if checked == len(turns) else None)


def _within_prediction(variants: Sequence[VariantSummary]) -> Target:
    ratios = {
        turn.label: ratio for each in variants for turn, ratio in zip(each.turns, each.ratios, strict=True)
    }
    label = max(ratios, key=lambda each: abs(ratios[each] - 1.0))
    off = abs(ratios[label] - 1.0)
    return Target(
        f"measured within {MOST_DEVIATION:.0%} of predicted in every turn",
        f"at most {off:.0%} off ({label}), {coverage(variants)}",
        off <= MOST_DEVIATION,
    )


def _optimum(odp: VariantSummary | None, lacking: str) -> Target:
    text = f"optimum, proved in every turn: median at most {MOST_MEDIAN_MS:g} ms"
    if odp is None:
        return Target(text, lacking, None)
    proved = sum(turn.proved for turn in odp.turns)
    measured = f"{odp.median_ms:.1f} ms, proved in {proved} of {len(odp.turns)} turns"
    return Target(text, measured, odp.median_ms <= MOST_MEDIAN_MS if proved == len(odp.turns) else None)


def _alike_predicted(ils: VariantSummary | None, odp: VariantSummary | None, lacking: str) -> Target:
    text = f"ils as odp: predicted at most {MOST_PREDICTED_ABOVE:.0%} above"
    if ils is None or odp is None:
        return Target(text, lacking, None)
    worst_ms = max(ils.predicted_ms)
    best_ms = min(odp.predicted_ms)
    reached = worst_ms <= (1.0 + MOST_PREDICTED_ABOVE) * best_ms
    return Target(text, f"{worst_ms:.1f} ms, odp {best_ms:.1f} ms", reached)


def _alike_measured(
    ils: VariantSummary | None, odp: VariantSummary | None, sound: Sequence[VariantSummary], lacking: str
) -> Target:
    text = "ils as odp: its slowest turn within the machine's noise of odp's median"
    if ils is None or odp is None:
        return Target(text, lacking, None)
    above_ms = max(ils.medians_ms) - odp.median_ms
    measured = f"{max(ils.medians_ms):.1f} ms, odp {odp.median_ms:.1f} ms"
    alike = _repeated_alike(odp, [each for each in sound if each is not ils])
    if not alike:
        return Target(text, f"{measured}; noise not known without repetitions", None)
    if all(each is odp for each in alike):  # two turns that are also compared with
        return Target(text, f"{measured}; noise not known: only odp was repeated with this prediction", None)
    noise_ms = _noise_ms(odp, alike)
    return Target(text, f"{measured}; noise {noise_ms:.1f} ms", above_ms <= noise_ms)


def _repeated_alike(odp: VariantSummary, others: Sequence[VariantSummary]) -> list[VariantSummary]:
    """Return the variants with repetitions that go the same ways: as much is predicted as for odp."""
    return [
        each
        for each in others
        if len(each.turns) > 1
        and all(abs(value - min(odp.predicted_ms)) < _SAME_MS for value in each.predicted_ms)
    ]


def _noise_ms(odp: VariantSummary, alike: Sequence[VariantSummary]) -> float:
    """Return by how much the medians of one placement's turns differ because of the machine alone, ms.

    The middle one of the differences between a variant's repetitions counts, since one turn may meet
    anything.
    """
    spreads_ms = [max(each.medians_ms) - min(each.medians_ms) for each in alike]
    return min(max(float(np.median(spreads_ms)), _CLOCK_STEP_MS), MOST_NOISE * odp.median_ms)


def _ahead(
    best: VariantSummary | None, name: str, other: VariantSummary | None, factor: float, lacking: str
) -> Target:
    text = f"{name}: at least {factor:g} times our best" if factor > 1.0 else f"{name}: above our best"
    if other is None or best is None:
        return Target(text, lacking or "none of our strategies", None)
    measured = other.median_ms / best.median_ms
    reached = measured >= factor if factor > 1.0 else measured > factor
    return Target(text, f"{measured:.2f} times {best.name}", reached)
