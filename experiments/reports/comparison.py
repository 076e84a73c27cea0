"""Puts the runs of several schedulers side by side: table, picture, Markdown and JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from experiments.busy import busy_sentence
from experiments.reports.comparison_figure import draw_report
from experiments.reports.rendered import render, report_folder
from experiments.reports.report_table import COLUMNS, cells, document, terminal_table
from experiments.reports.run_record import RunRecord, read_run
from replay.analysis.sites import read_sites
from replay.errors import DataError
from replay.output import write_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rich.table import Table

    from experiments.machine import Provenance
    from replay.analysis.predict import CostModel

PICTURE, MARKDOWN, JSON = "report.png", "report.md", "report.json"


@dataclass(frozen=True)
class Report:
    """A finished report.

    Attributes:
        runs: One record per scheduler, in the given order.
        busy: How busy the processors were, and which runs that disturbed, in a sentence.
        table: For the terminal (rich).
        picture: The PNG.
        markdown: The same table as Markdown, with the picture.
        json: All figures, placements included.
    """

    runs: tuple[RunRecord, ...]
    busy: str
    table: Table
    picture: Path
    markdown: Path
    json: Path


def build(
    run_dirs: Mapping[str, Path],
    site_file: Path,
    out_dir: Path,
    title: str,
    origin: Provenance,
    *,
    costs: CostModel | None = None,
) -> Report:
    """Build the report of several runs.

    Args:
        run_dirs: Folder of each run by scheduler; each holds verdict.json, latency.json and placement.json.
        site_file: Site file of the lab.
        out_dir: Where report.png, report.md and report.json go.
        title: What was run.
        origin: Machine, date and commit.
        costs: Execution times and overhead per hop of the predictions; None for the daemon's defaults.

    Raises:
        DataError: A file is missing or malformed, or the report cannot be written.
    """
    if not run_dirs:
        raise DataError("a report needs at least one run")
    sites = read_sites(site_file)
    runs = tuple(read_run(name, folder, sites, costs) for name, folder in run_dirs.items())
    busy = busy_sentence({run.scheduler: run.busy for run in runs})
    picture, text, figures = out_dir / PICTURE, out_dir / MARKDOWN, out_dir / JSON
    with report_folder(out_dir):
        heading = f"{title} \u00b7 {origin.machine} \u00b7 {origin.date} \u00b7 commit {origin.commit}"
        draw_report(picture, runs, sites, heading, busy)
        content = {"title": heading, "columns": COLUMNS, "cells": cells, "runs": runs, "busy": busy}
        text.write_text(render("reports/comparison.md.j2", picture=PICTURE, **content), encoding="utf-8")
    write_json(figures, {"meta": {"title": title} | asdict(origin), "runs": document(runs)})
    return Report(runs, busy, terminal_table(runs, title), picture, text, figures)
