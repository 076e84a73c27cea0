"""The command `experiment elasticity`: executors and hosts follow the load, on the lab."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.checkout import require_checkout
from cli.errors import UserError
from cli.experiment.experiment_options import check_options
from cli.extras import require_all_extras
from lab.places import PROJECT_ROOT

DATA = PROJECT_ROOT / "experiments" / "elasticity" / "scenarios" / "paper-004.toml"


def elasticity(
    sites: Annotated[
        Path | None,
        typer.Option(
            help="Site file; hosts that join later can be leased. Without it the workload's.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of the experiment; a started one goes on.")] = Path(
        "runs/elasticity"
    ),
    policies: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: static, sized, btu, threshold, model-based, rolling; without it all.",
            show_default=False,
        ),
    ] = None,
    workload: Annotated[
        str, typer.Option(help="sleeping (two bolts) or taxi (query 1, its answers are verified).")
    ] = "sleeping",
    load: Annotated[str, typer.Option(help="steps, levels or taxi (a day within a turn).")] = "steps",
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="Turns of each policy.")] = 1,
    run_s: Annotated[
        float | None,
        typer.Option(
            min=60, help="Measured seconds of a turn; without it 720, for a day 3600.", show_default=False
        ),
    ] = None,
    warm_up_s: Annotated[
        float, typer.Option(min=0, help="Seconds at the first rate before, cut off.")
    ] = 60.0,
    unit_rate: Annotated[
        float | None,
        typer.Option(
            min=0.1,
            help="Items per second of a unit of load, the peak has 6; without it 6, and 9.8 for a day; of"
            " the taxi query 3.3 and 3.",
            show_default=False,
        ),
    ] = None,
    bound_s: Annotated[
        float, typer.Option(min=0.1, help="Response time above which an item is late.")
    ] = 10.0,
    billing_unit_s: Annotated[
        float, typer.Option(min=10, help="What is begun of one is paid whole.")
    ] = 120.0,
    kills: Annotated[
        int, typer.Option(min=0, max=100, help="How often the loop is killed in a turn, at random moments.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of load, arrivals and those moments.")] = 2,
    settle_s: Annotated[
        float, typer.Option(min=0, help="Seconds before the first turn for the lab to come to rest.")
    ] = 10.0,
    data: Annotated[Path, typer.Option(help="Scenario file with the taxis' week.")] = DATA,
) -> None:
    """Scale a topology and its hosts by `stormplace elastic` while the load goes up and down.

    Brings one lab up, runs every turn in it and takes it down whatever happens. Finished turns stay in the
    folder: the same command goes on after any interruption, and ends with the report.
    """
    require_checkout("experiment elasticity")
    require_all_extras()
    # matplotlib and numpy load slowly: only for this command
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from experiments.lab_elasticity.lab_elasticity_runner import run_lab_elasticity  # noqa: PLC0415
    from experiments.lab_elasticity.lab_elasticity_settings import LabElasticitySettings  # noqa: PLC0415
    from experiments.lab_elasticity.profiles import PROFILES  # noqa: PLC0415
    from experiments.lab_elasticity.variants import turns  # noqa: PLC0415
    from experiments.lab_elasticity.workloads.chosen import BY_NAME  # noqa: PLC0415
    from experiments.lab_elasticity.workloads.workload import WORKLOADS  # noqa: PLC0415

    if load not in PROFILES:
        raise UserError(f"--load: {load!r} is not one of {', '.join(PROFILES)}")
    if workload not in WORKLOADS:
        raise UserError(f"--workload: {workload!r} is not one of {', '.join(WORKLOADS)}")
    default = BY_NAME[workload].profiles[load]
    settings = LabElasticitySettings(
        data=data,
        sites=sites or BY_NAME[workload].sites,
        workload=workload,
        load=load,
        run_s=run_s or default.run_s,
        warm_up_s=warm_up_s,
        unit_rate=unit_rate or default.unit_rate,
        bound_s=bound_s,
        billing_unit_s=billing_unit_s,
        kills=kills,
        seed=seed,
        settle_s=settle_s,
    )
    check_options(settings)
    with experiment_call():
        run_lab_elasticity(settings, turns(policies, repetitions), out, StepProgress)
