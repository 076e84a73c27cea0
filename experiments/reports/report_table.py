"""The table of a report: one row per scheduler, for the terminal, as Markdown and as JSON."""

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
NOTE = (
    "Response times in ms over the rows fed at a set rate. End to end: from the row being available in Redis "
    "to its result being back in Redis. In topology: from the data source's emit to globalRank. Hops: "
    "streams whose two executors run at different sites."
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
    """Return the table for a terminal (rich), two lines of heading to stay narrow."""
    table = Table(title=title, caption="response times in ms", pad_edge=False)
    table.add_column("scheduler")
    for heading in (
        "end to\nend p50",
        "\np95",
        "\np99",
        "in topo-\nlogy p50",
        "\np95",
        "\np99",
        "site\nhops",
        "on crit.\npath",
        "predicted\nin topol.",
        "predicted\nend to end",
    ):
        table.add_column(heading, justify="right")
    table.add_column("answers")
    table.add_column("rows", justify="right")
    for run in runs:
        row = cells(run)
        row[-2] = f"[green]{row[-2]}[/]" if run.wrong is None else f"[bold red]{row[-2]}[/]"
        table.add_row(*row)
    return table


def markdown(runs: Sequence[RunRecord], title: str, busy: str, picture: str) -> str:
    """Return the report as Markdown: table, faults if any, and the picture.

    Args:
        runs: The runs.
        title: Heading.
        busy: How busy the processors were, in a sentence.
        picture: Name of the picture's file, relative to the Markdown file.
    """
    lines = [f"# {title}", "", _line(COLUMNS), _line(["---"] + ["---:"] * (len(COLUMNS) - 1))]
    lines += [_line(cells(run)) for run in runs]
    lines += ["", NOTE, "", busy, ""]
    for run in runs:
        path = " -> ".join(run.prediction.critical_path)
        lines.append(f"- {run.scheduler}: critical path {path}")
        if run.wrong is not None:
            lines.append(f"- {run.scheduler}: answers differ from the expected ones: {run.wrong}")
    lines += ["", f"![Placements and response times]({picture})", ""]
    return "\n".join(lines)


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


def _line(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"
