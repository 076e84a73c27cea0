"""Puts the report of the experiment on re-placement together: text, timelines and all figures as JSON."""

from __future__ import annotations

import statistics
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from experiments.busy import busy_sentence
from experiments.folder_content import REPORT, finished_turns
from experiments.replacement.cluster.report.finished_turn import END_S, read_turn
from experiments.replacement.cluster.report.pauses import pauses
from experiments.replacement.cluster.report.replacement_goals import targets
from experiments.replacement.cluster.report.timelines import draw_timelines
from experiments.reports.rendered import render, report_folder
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from experiments.replacement.cluster.report.finished_turn import TurnData

MARKDOWN, JSON = "report.md", "report.json"
COMPARED, DRAINED = "timelines.png", "timeline-drain.png"
LABELS: Mapping[str, str] = {
    "static": "Static: ours, frozen",
    "dynamic": "Dynamic: ours",
    "even": "Storm's even scheduler",
    "ras": "Storm's resource-aware scheduler",
    "drain": "The fog is drained",
}


def build(folder: Path) -> Path:
    """Write the report of all finished turns.

    Args:
        folder: The experiment's folder; the report goes into its folder `report`.

    Returns:
        The Markdown file.

    Raises:
        DataError: A kept file is missing or malformed, no turn is finished, or the report cannot be written.
    """
    read = [read_turn(turn) for turn in finished_turns(folder)]
    turns = {
        variant: several
        for variant in LABELS
        if (several := [each for each in read if each.done.variant == variant])
    }
    compared = {variant: several for variant, several in turns.items() if variant != "drain"}
    found = targets(turns)
    out = folder / REPORT
    with report_folder(out, "timeline*.png"):
        if compared:
            draw_timelines(out / COMPARED, compared, LABELS)
        if "drain" in turns:
            draw_timelines(out / DRAINED, {"drain": turns["drain"]}, LABELS)
        text = render(
            "replacement/cluster/report/replacement.md.j2",
            turns=turns,
            compared=compared,
            labels=LABELS,
            rows=[_row(name, decimals, of, compared) for name, decimals, of in _FIGURES],
            found=found,
            pauses_of=pauses,
            end_s=END_S,
            picture=COMPARED,
            drained=DRAINED,
            busy=busy_sentence({_label(each): each.done.busy for each in read}),
        )
        (out / MARKDOWN).write_text(text, encoding="utf-8")
    write_json(
        out / JSON, {"targets": [asdict(each) for each in found], "turns": [_turn(each) for each in read]}
    )
    return out / MARKDOWN


def _label(turn: TurnData) -> str:
    return f"{turn.done.variant}-{turn.done.repetition}"


_FIGURES: tuple[tuple[str, int, Callable[[TurnData], float | None]], ...] = (
    ("response time at the end, s", 2, lambda each: each.response_at_end_s),
    ("of this the operators' work, s", 2, lambda each: each.work_at_end_s),
    ("by the model, s", 2, lambda each: each.model_s(each.stays[-1].hosts)),
    ("mean response time, s", 2, lambda each: each.response_mean_s),
    ("availability at the end, by the readings", 4, lambda each: each.availability),
    (
        "cost at the end, CU/s, each host once",
        1,
        lambda each: each.cost_of(each.stays[-1].hosts, per_host=True),
    ),
    ("mean cost, CU/s, each host once", 1, lambda each: each.mean_cost(per_host=True)),
    ("mean cost, CU/s, each executor", 1, lambda each: each.mean_cost(per_host=False)),
    ("rounds that move", 1, lambda each: float(len(each.moves))),
    ("executors moved", 1, lambda each: float(sum(move.executors for move in each.moves))),
    ("tuples lost", 1, lambda each: float(each.tuples.lost)),
    ("tuples sent again", 1, lambda each: float(each.tuples.replayed)),
    ("arrivals of tuples that had come before", 1, lambda each: float(each.tuples.repeated)),
    ("pause predicted, s", 1, lambda each: _mean([pause.predicted_s for pause in pauses(each)])),
    ("workers ran after, s", 1, lambda each: _mean([pause.ran_s for pause in pauses(each)])),
    ("executors worked after, s", 1, lambda each: _mean([pause.worked_s for pause in pauses(each)])),
    ("time without a result, s", 1, lambda each: _mean([pause.silent_s for pause in pauses(each)])),
)
"""Rows of the table: name, decimals, value of a turn."""


def _mean(values: Sequence[float | None]) -> float | None:
    known = [each for each in values if each is not None]
    return statistics.fmean(known) if known else None


def _row(
    name: str,
    decimals: int,
    of: Callable[[TurnData], float | None],
    turns: Mapping[str, Sequence[TurnData]],
) -> list[str]:
    """Return a row: mean over the turns of each variant, with the range where there are several."""
    cells = [name]
    for several in turns.values():
        known = [value for each in several if (value := of(each)) is not None]
        if not known:
            cells.append("-")
            continue
        mean, low, high = (
            f"{each:.{decimals}f}" for each in (statistics.fmean(known), min(known), max(known))
        )
        cells.append(mean if low == high else f"{mean} ({low} - {high})")
    return cells


def _turn(turn: TurnData) -> dict[str, Any]:
    return {
        "done": turn.done.model_dump(mode="json"),
        "figures": {name: of(turn) for name, _, of in _FIGURES},
        "events": [each.model_dump(mode="json") for each in turn.events],
        "moves": [
            {
                **pause.planned.model_dump(mode="json"),
                "at_s": pause.at_s,
                "ran_s": pause.ran_s,
                "worked_s": pause.worked_s,
                "silent_s": pause.silent_s,
            }
            for pause in pauses(turn)
        ],
        "stays": [{"from_s": each.from_s, "hosts": dict(each.hosts)} for each in turn.stays],
        "doubts": list(turn.doubts),
    }
