"""The command `demo`: one query, one emulated wide area, three schedulers, side by side."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.checkout import DATA, require_checkout
from cli.errors import UserError
from cli.extras import require_all_extras
from lab.places import PROJECT_ROOT

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName

SCHEDULERS: tuple[SchedulerName, ...] = ("even", "default", "ras", "stormplace")
SITES = PROJECT_ROOT / "lab" / "sites" / "demo.toml"


def demo(
    data: Annotated[Path, typer.Option(help="Taxi rows, 17 columns, CSV or CSV.gz.")] = DATA,
    sites: Annotated[Path, typer.Option(help="Site file of the emulated wide area.")] = SITES,
    out: Annotated[Path, typer.Option(help="Where run folders go.")] = Path("runs"),
    paced_rows: Annotated[
        int, typer.Option(min=1, help="Rows sent at --rate; response times are theirs.")
    ] = 300,
    rate: Annotated[float, typer.Option(min=0.1, help="Rows per second of the paced part.")] = 10.0,
    schedulers: Annotated[str, typer.Option(help="Comma-separated: even, default, ras, stormplace.")] = (
        "even,ras,stormplace"
    ),
    strategy: Annotated[
        str | None,
        typer.Option(
            help="Strategy of the scheduler stormplace; without it the daemon's.", show_default=False
        ),
    ] = None,
) -> None:
    """Run the taxi query under several schedulers on one emulated wide area; compare response times.

    Brings a lab up, submits the query once per scheduler, feeds all rows (the last ones paced), verifies
    every answer with Spark and ends with a table and a picture in a folder of its own. The lab is taken down
    at the end, also after an error or Ctrl-C.
    """
    require_checkout("demo")
    require_all_extras()
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415 (heavy imports only for this command)
    from cli.progress import StepProgress  # noqa: PLC0415 (likewise)
    from experiments.demo.demo_run import run_demo  # noqa: PLC0415 (likewise)
    from experiments.folder import chosen  # noqa: PLC0415 (likewise)
    from scheduler.registry import anywhere  # noqa: PLC0415 (likewise)

    if not math.isfinite(rate):
        raise UserError(f"--rate: {rate} is not a number of rows per second")
    for option, path in (("--data", data), ("--sites", sites)):
        if not path.is_file():
            raise UserError(f"{option}: no such file: {path}")
    with experiment_call():
        names = chosen("--schedulers", schedulers, SCHEDULERS)
        if strategy is not None:
            chosen("--strategy", strategy, anywhere())
            if "stormplace" not in names:
                raise UserError(
                    "--strategy: it is for the scheduler stormplace, which --schedulers leaves out"
                )
        run_demo(
            *(data, sites, out, StepProgress),
            paced_rows=paced_rows,
            rate=rate,
            schedulers=names,
            strategy=strategy,
        )
