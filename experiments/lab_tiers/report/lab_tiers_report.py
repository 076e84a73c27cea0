"""Puts the report of the experiment over three tiers together: text, pictures and all figures as JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from experiments.busy import busy_sentence
from experiments.folder_content import REPORT, SITES
from experiments.lab_tiers.report.lab_tiers_figures import draw_overload, draw_uplinks
from experiments.lab_tiers.report.lab_tiers_goals import targets, uplink_uses
from experiments.lab_tiers.report.tier_turns import WINDOW_S, read_tier_turns
from experiments.lab_tiers.variants import GREEDY, VARIANTS
from experiments.reports.rendered import render, report_folder
from experiments.response_time.report.figures import draw_placement
from formats.tier import TIERS
from replay.analysis.sites import read_sites
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.lab_tiers.report.lab_tiers_goals import UplinkUse
    from experiments.lab_tiers.report.tier_turns import TierTurn
    from formats.site_file import SiteFile

MARKDOWN, JSON, UPLINKS, OVERLOAD = "report.md", "report.json", "uplinks.png", "overload.png"


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
    order = [variant.name for variant in VARIANTS]
    turns = sorted(
        read_tier_turns(folder, sites), key=lambda each: (order.index(each.variant), each.done.repetition)
    )
    uses, found = uplink_uses(turns, sites), targets(turns, sites)
    overload = [turn for turn in turns if turn.done.overload]
    maps = {turn.label: f"map-{turn.label}.png" for turn in turns}
    out = folder / REPORT
    with report_folder(out, "*.png"):
        draw_uplinks(out / UPLINKS, uses, sites)
        if overload:
            draw_overload(out / OVERLOAD, overload, sites)
        for turn in turns:
            draw_placement(out / maps[turn.label], turn.turn, sites)
        text = render(
            "lab_tiers/report/lab_tiers.md.j2",
            turns=turns,
            overload=overload,
            uses=uses,
            found=found,
            sites=sites,
            home=sites.redis,
            tiers={turn.label: _tiers(turn, sites) for turn in turns},
            of_greedy=_of_greedy(turns),
            window_s=WINDOW_S,
            busy=busy_sentence({turn.label: turn.done.busy for turn in turns}),
            uplinks=UPLINKS,
            overloaded=OVERLOAD,
            maps=maps,
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    document = {
        "targets": [asdict(target) for target in found],
        "turns": [_turn(turn, [use for use in uses if use.turn is turn]) for turn in turns],
    }
    write_json(out / JSON, document)
    return out / MARKDOWN


def _tiers(turn: TierTurn, sites: SiteFile) -> str:
    """Return how many executors run on edge, fog and cloud."""
    of_site = {site.name: site.tier for site in sites.site}
    count = Counter(of_site[place.site] for place in turn.turn.places)
    return " / ".join(str(count[tier]) for tier in TIERS)


def _of_greedy(turns: Sequence[TierTurn]) -> dict[str, str]:
    """Return each turn's cost as a part of the dearest of cloud-greedy's, as text."""
    greedy = max((turn.costs.total for turn in turns if turn.variant == GREEDY.name), default=None)
    return {turn.label: "-" if greedy is None else f"{turn.costs.total / greedy:.2f}" for turn in turns}


def _turn(turn: TierTurn, uses: Sequence[UplinkUse]) -> dict[str, Any]:
    return {
        "done": turn.done.model_dump(mode="json"),
        "costs": asdict(turn.costs),
        "median_ms": turn.median_ms,
        "p95_ms": turn.p95_ms,
        "growth_ms_per_s": turn.growth_ms_per_s,
        "dropped": turn.dropped,
        "answers": turn.turn.verdict,
        "status": None if turn.turn.planned is None else turn.turn.planned.status,
        "hosts": turn.turn.hosts,
        "uplinks": {
            use.site: {
                "bandwidth": None if use.most == float("inf") else use.most,
                "total": use.total,
                "idle": use.idle,
                "background": use.background,
                "measured": use.measured,
                "planned": use.planned,
                "deviation": use.deviation,
            }
            for use in uses
        },
    }
