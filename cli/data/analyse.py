"""`data analyse`: response times, rates, legs of the way, changes and scheduler's rounds of runs."""

from __future__ import annotations

from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.data.session import DriverMemory, Master, bad_input, say, spark
from cli.errors import refused

if TYPE_CHECKING:
    from rich.table import Table

TABLE_WIDTH = 150
"""Columns of the tables where no terminal says how wide it is."""


def analyse(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs, as `taxi collect` leaves them.", show_default=False)
    ],
    out: Annotated[Path, typer.Option(help="Folder for the analysis; an earlier one is replaced.")],
    records: Annotated[
        Path | None, typer.Option(help="Folder of the daemon's records of rounds.", show_default=False)
    ] = None,
    placement: Annotated[
        Path | None, typer.Option(help="Placement file, instead of each run's own.", show_default=False)
    ] = None,
    sites: Annotated[
        Path | None,
        typer.Option(help="Site file of the lab: adds the breakdown by hop.", show_default=False),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            help="Compare before and after: seconds after the first measured row, or a time (ISO 8601).",
            show_default=False,
        ),
    ] = None,
    slice_s: Annotated[
        int | None, typer.Option("--slice", min=1, help="Seconds of a slice of the time line.")
    ] = None,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Analyse runs of the taxi queries on Spark; write analysis.json and tables as Parquet.

    Response times are those of rows that were fed at a set rate, or of all rows if there are none. Several
    runs are compared with the first, or each with itself around --split.
    """
    from replay.analysis.analyse import ANALYSIS, AnalysisInput  # noqa: PLC0415  # Spark loads slowly
    from replay.analysis.analyse import analyse as analyse_runs  # noqa: PLC0415  # likewise
    from replay.analysis.changes import read_split  # noqa: PLC0415  # likewise
    from replay.analysis.runs import find_runs  # noqa: PLC0415  # likewise
    from replay.analysis.sites import read_sites  # noqa: PLC0415  # likewise
    from replay.output import require_replaceable  # noqa: PLC0415  # likewise

    with bad_input():
        find_runs(runs)
        if sites is not None:
            read_sites(sites)
        require_replaceable(out)
    with refused(ValueError, by="--split"):
        moment = None if split is None else read_split(split)
    given = AnalysisInput(tuple(runs), records, placement, sites, moment, slice_s)
    with spark(master, driver_memory, out=out) as session:
        document = analyse_runs(session, given, out, say)
    print_analysis(document)
    typer.echo(f"analysis: {out / ANALYSIS}")


def print_analysis(document: dict[str, Any]) -> None:
    """Print the tables of an analysis.

    Args:
        document: As `replay.analysis.analyse` returns it.
    """
    from rich.console import Console  # noqa: PLC0415  # not needed by the other commands

    console = Console()
    if not console.is_terminal:
        console = Console(width=TABLE_WIDTH)
    console.print(_response_times(document["runs"]))
    if document["changes"]:
        console.print(_changes(document["changes"]))
    for run in document["runs"]:
        if run["legs"]:
            console.print(_legs(run))
    if document["rounds"]:
        console.print(_rounds(document["rounds"]))


def _table(title: str, texts: tuple[str, ...], numbers: tuple[str, ...]) -> Table:
    from rich.table import Table  # noqa: PLC0415  # as above

    table = Table(*texts, title=title)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _response_times(runs: list[dict[str, Any]]) -> Table:
    keys = ("mean_ms", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms")
    heads = ("rows", "rows/s", *(key.removesuffix("_ms") for key in keys))
    table = _table("Response times, ms", ("run", "query", "time"), heads)
    for run in runs:
        rate = "-" if run["rows_per_s"] is None else f"{run['rows_per_s']:,.0f}"
        for key, figures in run["latency"].items():
            values = (f"{figures[figure]:,.1f}" for figure in keys)
            table.add_row(
                run["run"], str(run["query"]), key.replace("_", " "), f"{figures['count']:,}", rate, *values
            )
    return table


def _changes(changes: list[dict[str, Any]]) -> Table:
    figures = ("p50", "p90", "p95", "p99", "mean")
    table = _table("End to end, before -> after, ms", ("query", "before", "after"), figures)
    for change in changes:
        cells = []
        for name in figures:
            one = change["figures"][name]
            factor = "" if one["factor"] is None else f", x{one['factor']:.2f}"
            cells.append(f"{one['before_ms']:,.0f} -> {one['after_ms']:,.0f}{factor}")
        table.add_row(str(change["query"]), change["before"], change["after"], *cells)
    return table


def _legs(run: dict[str, Any]) -> Table:
    title = f"Where the time goes: {run['run']}, query {run['query']}, ms"
    table = _table(title, ("leg", "kind", "where"), ("median", "p95", "network"))
    for leg in run["legs"]:
        figures = (f"{leg[key]:,.2f}" for key in ("median_ms", "p95_ms", "network_ms"))
        table.add_row(leg["name"], leg["kind"], leg["place"], *figures)
    return table


def _rounds(rounds: list[dict[str, Any]]) -> Table:
    decided = [each for each in rounds if each["decision"] != "keep"]
    title = f"Scheduler's rounds that decided something ({len(decided)} of {len(rounds)})"
    table = _table(
        title, ("topology", "decision", "strategy"), ("after s", "gain", "executors", "plan ms", "R ms")
    )
    for each in decided:
        response = "-" if each["response_time_ms"] is None else f"{each['response_time_ms']:.1f}"
        table.add_row(
            *(each["topology"], each["decision"], each["strategy"]),
            f"{each['time_s'] - rounds[0]['time_s']:.0f}",
            f"{100 * each['gain']:.0f} %",
            str(each["executors_moved"]),
            f"{each['plan_ms']:.0f}",
            response,
        )
    return table
