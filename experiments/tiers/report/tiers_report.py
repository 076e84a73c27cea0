"""Puts the report of the evaluation over edge, fog and cloud together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.machine import provenance
from experiments.reports.rendered import render, report_folder
from experiments.tiers.cases import LIMIT_S, STRATEGY_NAMES
from experiments.tiers.report.figures import draw_strategies, draw_trade_off
from experiments.tiers.report.summary import LARGEST_NETWORK, LARGEST_SET, figures, targets
from experiments.tiers.runs import EXACT, on_tiers
from formats.tier import TIERS
from scheduler.instances.generators.edge_fog_cloud import UNDERLAYS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.tiers.report.summary import Figures
    from experiments.tiers.runs import TierRun

MARKDOWN = "report.md"
STRATEGIES_PICTURE, TRADE_OFF_PICTURE = "strategies.png", "trade-off.png"


def write_report(runs: Sequence[TierRun], out: Path) -> Path:
    """Write the report.

    Args:
        runs: All runs.
        out: Folder of the report.

    Returns:
        The Markdown file.

    Raises:
        replay.errors.MachineError: It cannot be written.
    """
    main = [run for run in runs if run.case.main]
    largest = [
        run for run in main if (run.case.underlay, run.case.graph_set) == (LARGEST_NETWORK, LARGEST_SET)
    ]
    readings = _readings(runs)
    with report_folder(out):
        draw_strategies(out / STRATEGIES_PICTURE, main)
        draw_trade_off(out / TRADE_OFF_PICTURE, main)
        text = render(
            "tiers/report/tiers.md.j2",
            provenance=provenance().line(),
            limit_s=LIMIT_S,
            seeds=len({run.case.seed for run in main}),
            targets=targets(runs),
            all=figures(main),
            networks=[
                (_nodes(underlay), figures(run for run in main if run.case.underlay == underlay))
                for underlay in UNDERLAYS
            ],
            tiers=[
                (name, on_tiers([run for run in largest if run.strategy == name])) for name in STRATEGY_NAMES
            ],
            tier_names=TIERS,
            readings=readings,
            headings=[f"{each.bandwidth:g} x, {each.prices}" for each in readings],
            names=STRATEGY_NAMES,
            cells={name: [_gaps(each, name) for each in readings] for name in STRATEGY_NAMES},
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    return out / MARKDOWN


def _nodes(underlay: int) -> int:
    counts = UNDERLAYS[underlay]
    return counts.cloud + counts.fog + counts.edge


@dataclass(frozen=True)
class _Reading:
    """A reading: how many problems have no placement or are open, and the figures of strategies."""

    bandwidth: float
    prices: str
    problems: int
    none: int
    open: int
    figures: dict[str, Figures]


def _readings(runs: Sequence[TierRun]) -> list[_Reading]:
    found = []
    for bandwidth, prices in sorted({(run.case.bandwidth, run.case.prices) for run in runs}, reverse=True):
        own = [run for run in runs if (run.case.bandwidth, run.case.prices) == (bandwidth, prices)]
        exact = [run for run in own if run.strategy == EXACT]
        found.append(
            _Reading(
                bandwidth,
                prices,
                len(exact),
                none=sum(run.cost is None and run.proved for run in exact),
                open=sum(not run.proved for run in exact),
                figures={each.strategy: each for each in figures(own)},
            )
        )
    return found


def _gaps(reading: _Reading, strategy: str) -> str:
    mean, worst = reading.figures[strategy].mean_gap, reading.figures[strategy].worst_gap
    return "-" if mean is None or worst is None else f"{mean:.2%}, {worst:.2%}"
