"""The command `experiment lab-tiers`: the taxi query over edge, fog and cloud, on the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.checkout import require_checkout
from cli.experiment.experiment_options import check_options
from cli.extras import require_all_extras
from lab.places import PROJECT_ROOT

SITES = PROJECT_ROOT / "lab" / "sites" / "tiers.toml"
DATA = PROJECT_ROOT / "data" / "debs2015" / "nyc2013_fullrate_17col_46450.csv.gz"


def lab_tiers(
    sites: Annotated[Path, typer.Option(help="Site file with tiers, costs and a narrow uplink.")] = SITES,
    out: Annotated[Path, typer.Option(help="Folder of the experiment; a started one goes on.")] = Path(
        "runs/lab-tiers"
    ),
    only: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: cloud-greedy, inop-comb-2, inop-search, overload-blind, "
            "overload-heeding, ras; without it all.",
            show_default=False,
        ),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="Turns of each.")] = 1,
    rate: Annotated[float, typer.Option(min=1, help="Rows per second.")] = 240.0,
    overload_rate: Annotated[float, typer.Option(min=1, help="The same under overload.")] = 680.0,
    together: Annotated[
        int, typer.Option(min=1, max=1000, help="Rows that come at once, in one tuple of the source.")
    ] = 40,
    first_rows: Annotated[int, typer.Option(min=1, help="Rows that are fed fast before.")] = 1450,
    warm_up_s: Annotated[float, typer.Option(min=0, help="Seconds at the rate, cut off.")] = 10.0,
    rest_s: Annotated[
        float, typer.Option(min=1, help="Seconds without rows in which background traffic is measured.")
    ] = 30.0,
    settle_s: Annotated[
        float, typer.Option(min=0, help="Seconds before the first turn for coordinates to converge.")
    ] = 60.0,
    data: Annotated[Path, typer.Option(help="Taxi rows, 17 columns, CSV or CSV.gz.")] = DATA,
) -> None:
    """Place the taxi query over edge, fog and cloud by what it costs: what passes the narrow uplinks?

    Brings one lab up, runs every turn in it and takes it down whatever happens. Finished turns stay in the
    folder: the same command goes on after any interruption, and ends with the report.
    """
    require_checkout("experiment lab-tiers")
    require_all_extras()
    # matplotlib and pandas load slowly: only for this command
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from experiments.lab_tiers.lab_tiers_runner import run_lab_tiers  # noqa: PLC0415
    from experiments.lab_tiers.lab_tiers_settings import LabTiersSettings  # noqa: PLC0415
    from experiments.lab_tiers.variants import turns  # noqa: PLC0415

    settings = LabTiersSettings(
        data=data,
        sites=sites,
        rate=rate,
        overload_rate=overload_rate,
        together=together,
        first_rows=first_rows,
        warm_up_s=warm_up_s,
        rest_s=rest_s,
        settle_s=settle_s,
    )
    check_options(settings)
    with experiment_call():
        run_lab_tiers(settings, turns(only, repetitions), out, StepProgress)
