"""The table of a report: one row per scheduler, for the terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.reports.run_record import LatencyFigures, RunRecord

COLUMNS = (
    "scheduler",
    "end to end p50",
    "p95",
    "p99",
    "in topology p50",
    "p95",
    "p99",
    "hops between sites",
    "on critical path",
    "predicted in topology",
    "predicted end to end",
    "answers",
    "rows measured",
)


def cells(run: RunRecord) -> list[str]:
    """Return the row of one run as texts, in the order of `COLUMNS`."""
    return [
        run.scheduler,
        *_times(run.end_to_end),
        *_times(run.in_topology),
        str(run.prediction.streams_between_sites),
        str(run.prediction.critical_hops),
        f"{run.prediction.response_time_ms:.1f}",
        f"{run.prediction.end_to_end_ms:.1f}",
        "right" if run.wrong is None else "WRONG",
        f"{run.end_to_end.count:,}",
    ]


def terminal_table(runs: Sequence[RunRecord], title: str) -> Table:
    """Return the table for a terminal (rich), whose headings fold to stay narrow."""
    table = Table(title=title, caption="response times in ms", pad_edge=False)
    for heading in COLUMNS:
        left = heading in {"scheduler", "answers"}
        table.add_column(heading, justify="left" if left else "right", max_width=None if left else 11)
    for run in runs:
        row = cells(run)
        row[-2] = f"[green]{row[-2]}[/]" if run.wrong is None else f"[bold red]{row[-2]}[/]"
        table.add_row(*row)
    return table


def document(runs: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """Return one JSON object per run."""
    return [
        {
            "scheduler": run.scheduler,
            "answers_right": run.wrong is None,
            "difference": run.wrong,
            "busy": run.busy,
            "rows_measured": run.end_to_end.count,
            "end_to_end": run.end_to_end.model_dump(exclude={"quantiles_ms"}),
            "in_topology": run.in_topology.model_dump(exclude={"quantiles_ms"}),
            "predicted": run.prediction.document(),
            "placement": {
                f"{place.component}[{place.first_task}]": {
                    "host": place.host,
                    "port": place.port,
                    "site": place.site,
                }
                for place in run.places
            },
        }
        for run in runs
    ]


def _times(figures: LatencyFigures) -> list[str]:
    return [f"{value:.1f}" for value in (figures.p50_ms, figures.p95_ms, figures.p99_ms)]
