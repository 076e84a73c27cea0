"""`data latency`: response times of runs."""

from __future__ import annotations

from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.data.session import DriverMemory, Master, bad_input, spark

if TYPE_CHECKING:
    from replay.analysis.latency import Latency


def latency(
    stream: Annotated[list[Path], typer.Option(help="Folder of a run with results.csv; may be repeated.")],
    out: Annotated[
        Path | None, typer.Option(help="File for the figures as JSON, by folder.", show_default=False)
    ] = None,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Compute response times of runs over their paced rows: mean and percentiles."""
    from replay.analysis.latency import measure_run  # noqa: PLC0415  # Spark loads slowly
    from replay.output import require_writable_file, write_json  # noqa: PLC0415
    from replay.stream_files import require_results  # noqa: PLC0415

    with bad_input():
        for folder in stream:
            require_results(folder)
        if out is not None:
            require_writable_file(out)
    with spark(master, driver_memory, out=out) as session:
        measured = {str(folder): measure_run(session, folder) for folder in stream}
        if out is not None:
            write_json(out, {folder: figures.document() for folder, figures in measured.items()})
    _print_latency(measured)


def _print_latency(measured: dict[str, Latency]) -> None:
    from rich.console import Console  # noqa: PLC0415  # not needed by the other commands
    from rich.table import Table  # noqa: PLC0415

    table = Table("run", "response time")
    for name in ("rows", "mean ms", "p50 ms", "p95 ms", "p99 ms"):
        table.add_column(name, justify="right")
    for folder, figures in measured.items():
        for name, times in (("end to end", figures.end_to_end), ("in topology", figures.in_topology)):
            values = [times.mean_ms, *(times.percentile_ms(percent) for percent in (50, 95, 99))]
            table.add_row(folder, name, f"{times.count:,}", *(f"{value:.1f}" for value in values))
    Console().print(table)
