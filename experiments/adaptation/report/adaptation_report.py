"""Puts the report of an adaptation experiment together: text, timelines and all figures as JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

from experiments.adaptation.report.adaptation_goals import lost_in_words, targets
from experiments.adaptation.report.finished_scenario import read_scenario
from experiments.adaptation.report.kept import Scenario
from experiments.adaptation.report.levels import calm_ms
from experiments.adaptation.report.minutes import find_minutes
from experiments.adaptation.report.phases import find_phases
from experiments.adaptation.report.timeline import draw_timeline
from experiments.busy import busy_sentence
from experiments.folder_content import EXPECTED, REPORT, SITES, finished_turns
from experiments.reports.rendered import render, report_folder
from replay.analysis.sites import read_sites
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.phases import Phase

MARKDOWN, JSON = "report.md", "report.json"


def build(folder: Path) -> Path:
    """Write the report of all finished scenarios.

    Args:
        folder: The experiment's folder; the report goes into its folder `report`.

    Returns:
        The Markdown file.

    Raises:
        DataError: A kept file is missing or malformed, no scenario is finished, or the report cannot be
            written.
    """
    sites = read_sites(folder / SITES)
    read = [read_scenario(turn, sites, folder / EXPECTED) for turn in finished_turns(folder)]
    order: tuple[Scenario, ...] = get_args(Scenario)
    scenarios = {name: each for name in order for each in read if each.done.scenario == name}
    phases = {name: find_phases(each, sites) for name, each in scenarios.items()}
    found = targets(scenarios, phases.get("changes", ()))
    pictures: dict[Scenario, str] = {name: f"timeline-{name}.png" for name in scenarios}
    out = folder / REPORT
    with report_folder(out, "timeline-*.png"):
        for name, scenario in scenarios.items():
            draw_timeline(out / pictures[name], scenario, phases[name], sites)
        text = render(
            "adaptation/report/adaptation.md.j2",
            scenarios=scenarios,
            phases=phases.get("changes", ()),
            found=found,
            pictures=pictures,
            busy=busy_sentence({each.done.scenario: each.done.busy for each in scenarios.values()}),
            lost_in_words=lost_in_words,
            minutes_of=find_minutes,
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    document = {
        "targets": [asdict(target) for target in found],
        "scenarios": [_scenario(each, phases[name]) for name, each in scenarios.items()],
    }
    write_json(out / JSON, _plain(document))
    return out / MARKDOWN


def _scenario(scenario: ScenarioData, phases: Sequence[Phase]) -> dict[str, Any]:
    return {
        "done": scenario.done.model_dump(),
        "calm_ms": calm_ms(scenario),
        "rows_wanted": scenario.rows.wanted,
        "rows_lost": scenario.rows.lost,
        "results_repeated": scenario.rows.repeated,
        "rows_replayed": scenario.rows.replayed,
        "by_expected_answers": scenario.rows.by_expected_answers,
        "answers": {"equal": scenario.answers.equal, "told": scenario.answers.sentence},
        "rounds": len(scenario.rounds),
        "longest_time_without_round_s": scenario.longest_pause_s,
        "doubts": list(scenario.doubts),
        "moves_while_measured": len(scenario.measured_moves),
        "moves": [asdict(move) for move in scenario.moves],
        "phases": [
            {
                **vars(phase),
                "event": phase.event.model_dump(),
                "moves": len(phase.moves),
                "moved_s": phase.moved_s,
            }
            for phase in phases
        ],
        "minutes": [asdict(minute) for minute in find_minutes(scenario)],
    }


def _plain(value: Any) -> Any:
    """Return JSON values without infinities, which JSON does not know: a time that never ends is null."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and math.isinf(value) else value
