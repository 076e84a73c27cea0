"""What one sees in a plot, in one sentence made from its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.reports.parts import PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from replay.analysis.predict import Prediction

SAME = 1.05
"""Medians that differ by less than this factor count as equal."""


def _median(run: Mapping[str, Any]) -> float:
    return float(run["latency"]["end_to_end"]["p50_ms"])


def distribution_sentence(runs: Sequence[Mapping[str, Any]]) -> str:
    """Say which run answers sooner, by its median."""
    ranked = sorted(runs, key=_median)
    best, worst = ranked[0], ranked[-1]
    if len(runs) == 1:
        return f"Half of the answers come within {_median(best):,.0f} ms end to end."
    if _median(worst) < SAME * max(_median(best), 1.0):
        return f"All runs give half of the answers within about {_median(best):,.0f} ms."
    factor = _median(worst) / max(_median(best), 1.0)
    return (
        f"A curve further left answers sooner: half of the answers come within {_median(best):,.0f} ms under "
        f"{best['run']} and {_median(worst):,.0f} ms under {worst['run']}, {factor:.1f} times as long."
    )


def breakdown_sentence(runs: Sequence[Mapping[str, Any]]) -> str:
    """Say what is the greatest cause of the slowest run, and what the network costs the fastest one."""

    def total(run: Mapping[str, Any]) -> float:
        return float(sum(max(run["parts"][key], 0.0) for key in PARTS))

    slowest, fastest = max(runs, key=total), min(runs, key=total)
    cause = max(PARTS, key=lambda key: slowest["parts"][key])
    text = (
        f"{slowest['run']} (query {slowest['query']}) spends {slowest['parts'][cause]:,.0f} of "
        f"{total(slowest):,.0f} ms "
        f"on: {PARTS[cause]}"
    )
    if fastest is not slowest:
        network = fastest["parts"]["network"]
        text += f"; of the {total(fastest):,.0f} ms of {fastest['run']} the network takes {network:,.0f} ms"
    return f"{text}."


def placement_sentence(prediction: Prediction) -> str:
    """Say how many streams cross between sites."""
    between, slowest = prediction.streams_between_sites, prediction.critical_hops
    if not between:
        return "No stream leaves its site."
    crossing = "1 stream runs" if between == 1 else f"{between} streams run"
    return f"{crossing} between sites, {slowest} of them on the slowest way."


def ranked_sentence(query: int, ranked: Sequence[Mapping[str, Any]]) -> str:
    """Say what is listed most often, and by how much."""
    first = ranked[0]
    share = 100 * first["share"]
    if query == 1:
        return (
            f"The brighter a cell, the more often routes that begin there are among the ten best. Arrows: "
            "the ten routes "
            f"listed most often, first {first['name']}, in {share:.0f} % of the output rows; dots alone: "
            "trips within a cell."
        )
    return (
        f"The brighter an area, the more often it is among the ten best; first {first['name']}, in "
        f"{share:.0f} % of the "
        "output rows."
    )


def rounds_sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """Say how many rounds decided something, and how long planning took."""
    decided = sum(row["decision"] != "keep" for row in rows)
    plans_ms = sorted(row["plan_ms"] for row in rows)
    return (
        f"{len(rows)} rounds, {decided} of which gave executors slots or could not; in the others everything "
        f"stayed. Planning took {plans_ms[len(plans_ms) // 2]:.0f} ms in the median, {plans_ms[-1]:.0f} ms "
        "at most."
    )
