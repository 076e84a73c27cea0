"""Puts the report of the experiment on elasticity together: text, pictures and all figures as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from experiments.busy import busy_sentence
from experiments.folder_content import REPORT
from experiments.lab_elasticity.report.lab_elasticity_figures import draw_turn
from experiments.lab_elasticity.report.lab_elasticity_goals import targets
from experiments.lab_elasticity.report.turns import document, read_turns
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from experiments.reports.rendered import render, report_folder
from replay.output import write_json

if TYPE_CHECKING:
    from pathlib import Path

MARKDOWN, JSON = "report.md", "report.json"


def build(folder: Path) -> Path:
    """Write the report of all finished turns.

    Args:
        folder: The experiment's folder; the report goes into its folder `report`.

    Returns:
        The Markdown file.

    Raises:
        DataError: A kept file is missing or malformed, no turn is finished, or the report cannot be written.
    """
    turns = read_turns(folder)
    found = targets(turns)
    pictures = {turn.done.label: f"{turn.done.label}.png" for turn in turns}
    out = folder / REPORT
    with report_folder(out, "*.png"):
        for turn in turns:
            draw_turn(out / pictures[turn.done.label], turn)
        text = render(
            "lab_elasticity/report/lab_elasticity.md.j2",
            turns=turns,
            titles=sorted({BY_NAME[turn.done.workload].title for turn in turns}),
            found=found,
            pictures=pictures,
            busy=busy_sentence({turn.done.label: turn.done.busy for turn in turns}),
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    write_json(
        out / JSON,
        {"targets": [asdict(each) for each in found], "turns": [document(turn) for turn in turns]},
    )
    return out / MARKDOWN
