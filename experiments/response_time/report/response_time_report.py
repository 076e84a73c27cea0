"""Puts the report of an experiment together: text, pictures and all figures as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from experiments.busy import busy_sentence
from experiments.folder_content import REPORT, SITES
from experiments.reports.rendered import render, report_folder
from experiments.response_time.report.figures import draw_bars, draw_boxes, draw_placement
from experiments.response_time.report.response_time_goals import coverage, targets
from experiments.response_time.report.summary import PAPER_MEAN_MS, PAPER_SAME_SITES, summarise
from experiments.response_time.report.turns import read_turns
from replay.analysis.sites import read_sites
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.reports.targets import Target
    from experiments.response_time.report.summary import VariantSummary
    from experiments.response_time.report.turns import TurnData

MARKDOWN, JSON, BOXES, BARS = "report.md", "report.json", "response-times.png", "parts.png"


def build(folder: Path) -> Path:
    """Write the report of all finished turns.

    Args:
        folder: The experiment's folder; the report goes into its folder `report`.

    Returns:
        The Markdown file.

    Raises:
        DataError: A kept file is missing or malformed, no turn is finished, or the report cannot be written.
    """
    sites = read_sites(folder / SITES)
    variants = summarise(read_turns(folder, sites))
    found = targets(variants)
    out = folder / REPORT
    distinct = [turn for each in variants for turn in each.distinct()]
    maps = {turn.label: f"map-{turn.label}.png" for turn in distinct}
    with report_folder(out, "map-*.png"):
        draw_boxes(out / BOXES, variants)
        draw_bars(out / BARS, variants)
        for turn in distinct:
            draw_placement(out / maps[turn.label], turn, sites)
        (out / MARKDOWN).write_text(markdown(variants, found, maps), encoding="utf-8")
    write_json(out / JSON, _document(variants, found))
    return out / MARKDOWN


def markdown(variants: tuple[VariantSummary, ...], found: tuple[Target, ...], maps: Mapping[str, str]) -> str:
    """Return the report's text.

    Args:
        variants: All variants, in the order of the table.
        found: Targets.
        maps: File name of a placement's map by label of its turn.
    """
    turns = [turn for each in variants for turn in each.turns]
    return render(
        "response_time/report/response_time.md.j2",
        variants=variants,
        turns=turns,
        measured=coverage(variants),
        busy=busy_sentence({turn.label: turn.done.busy for turn in turns}),
        found=found,
        boxes=BOXES,
        bars=BARS,
        maps=maps,
        paper_mean_ms=PAPER_MEAN_MS,
        paper_same_sites=PAPER_SAME_SITES,
    )


def _document(variants: tuple[VariantSummary, ...], found: tuple[Target, ...]) -> dict[str, Any]:
    return {
        "targets": [asdict(target) for target in found],
        "variants": [
            {
                "variant": each.name,
                "median_ms": each.median_ms,
                "mean_ms": each.mean_ms,
                "p95_ms": each.p95_ms,
                "in_topology_median_ms": each.in_topology_median_ms,
                "parts_ms": asdict(each.parts),
                "turns": [_turn(turn) for turn in each.turns],
            }
            for each in variants
        ],
    }


def _turn(turn: TurnData) -> dict[str, Any]:
    return {
        "done": turn.done.model_dump(),
        "rows": len(turn.rows),
        "median_ms": float(turn.end_to_end_ms.median()),
        "in_topology_median_ms": float(turn.in_topology_ms.median()),
        "predicted": turn.prediction.document(),
        "planned": None if turn.planned is None else turn.planned.model_dump(),
        "placing_ms": turn.placing_ms,
        "answers": turn.verdict,
        "between_sites_tuples_per_s": turn.traffic_per_s,
        "hosts": turn.hosts,
        "legs": [asdict(leg) for leg in turn.legs],
    }
