"""The group `data`: puts its commands together."""

from __future__ import annotations

import typer

from cli.data import analyse, answers, latency, sweep, trips

app = typer.Typer(no_args_is_help=True)

for command in (
    *(answers.expected, answers.compare, latency.latency, sweep.sweep, analyse.analyse),
    *(trips.ingest, trips.clean, trips.generate),
):
    app.command()(command)


@app.callback()
def group() -> None:
    """Taxi data on Spark: made, taken in, cleaned, answered; runs compared, measured and analysed; sweeps."""
