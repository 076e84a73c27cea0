"""Commands of the group `experiment`: the paper's wide-area experiments on a real Storm cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.bar import Meter
from cli.checkout import DATA, require_checkout
from cli.data.session import Master, bad_input, spark
from cli.data.sweeping import refuse_failures, swept
from cli.errors import UserError, refused
from cli.experiment.experiment_options import check_options
from cli.extras import require_all_extras
from cli.interrupt import ends_at_once
from lab.places import PROJECT_ROOT

app = typer.Typer(
    no_args_is_help=True,
    help="The papers' experiments: on a real Storm cluster with an emulated wide area, and simulated.",
)

SITES = PROJECT_ROOT / "lab" / "sites" / "response-time.toml"
LATE_SITES = PROJECT_ROOT / "lab" / "sites" / "replacement.toml"
CHAIN = PROJECT_ROOT / "experiments" / "replacement" / "cluster" / "chain.json"


@app.command("response-time")
def response_time(
    sites: Annotated[Path, typer.Option(help="Site file of the emulated wide area.")] = SITES,
    out: Annotated[Path, typer.Option(help="Folder of the experiment; a started one goes on.")] = Path(
        "runs/response-time"
    ),
    only: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: strategies, and Storm's even, default, ras; without it all.",
            show_default=False,
        ),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="Turns of each.")] = 2,
    measure_s: Annotated[float, typer.Option(min=1, help="Measured seconds of a turn.")] = 120.0,
    warm_up_s: Annotated[float, typer.Option(min=0, help="Seconds at the same rate before, cut off.")] = 15.0,
    settle_s: Annotated[
        float, typer.Option(min=0, help="Seconds before the first turn for coordinates to converge.")
    ] = 90.0,
    rate: Annotated[float, typer.Option(min=0.1, help="Rows per second.")] = 10.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order of turns.")] = 1,
    data: Annotated[Path, typer.Option(help="Taxi rows, 17 columns, CSV or CSV.gz.")] = DATA,
) -> None:
    """Measure the taxi query's response time under each strategy and each of Storm's schedulers.

    Brings one lab up, runs every turn in it and takes it down whatever happens. Finished turns stay in the
    folder: the same command goes on after any interruption, and ends with the report.
    """
    require_checkout("experiment response-time")
    require_all_extras()
    # PySpark, pandas and matplotlib load slowly: only for this command
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from experiments.response_time.response_time_runner import run_experiment  # noqa: PLC0415
    from experiments.response_time.response_time_settings import ExperimentSettings  # noqa: PLC0415
    from experiments.response_time.variants import chosen, turns  # noqa: PLC0415

    settings = ExperimentSettings(data, sites, rate, warm_up_s, measure_s, settle_s, seed)
    check_options(settings)
    with experiment_call():
        run_experiment(settings, turns(chosen(only), repetitions, seed), out, StepProgress)


@app.command("adaptation")
def adaptation(
    sites: Annotated[Path, typer.Option(help="Site file of the emulated wide area.")] = SITES,
    out: Annotated[Path, typer.Option(help="Folder of the experiment; a started one goes on.")] = Path(
        "runs/adaptation"
    ),
    only: Annotated[
        str | None,
        typer.Option(help="Comma-separated: changes, noise, stable; without it all.", show_default=False),
    ] = None,
    strategy: Annotated[str, typer.Option(help="Strategy that places and moves the query.")] = "ils",
    rate: Annotated[float, typer.Option(min=0.1, help="Rows per second in the scenario changes.")] = 10.0,
    steady_rate: Annotated[float, typer.Option(min=0.1, help="Rows per second in the others.")] = 2.0,
    calm_s: Annotated[float, typer.Option(min=1, help="Seconds before the first change.")] = 150.0,
    phase_s: Annotated[
        float, typer.Option(min=1, help="Seconds from change to change, and to the end.")
    ] = 150.0,
    noise_min: Annotated[float, typer.Option(min=0.01, help="Minutes under noise.")] = 15.0,
    stable_min: Annotated[float, typer.Option(min=0.01, help="Minutes without any change.")] = 60.0,
    settle_s: Annotated[
        float, typer.Option(min=0, help="Seconds before each scenario for coordinates to converge.")
    ] = 90.0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the noise.")] = 1,
    data: Annotated[Path, typer.Option(help="Taxi rows, 17 columns, CSV or CSV.gz.")] = DATA,
) -> None:
    """Let the network change while the taxi query runs: does the plan follow, and only then?

    Brings one lab up, runs every scenario in it and takes it down whatever happens. Finished scenarios stay
    in the folder: the same command goes on after any interruption, and ends with the report.
    """
    require_checkout("experiment adaptation")
    require_all_extras()
    # matplotlib loads slowly, as above
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from experiments.adaptation.adaptation_runner import run_adaptation  # noqa: PLC0415
    from experiments.adaptation.adaptation_settings import AdaptationSettings, scenarios  # noqa: PLC0415
    from experiments.folder import chosen  # noqa: PLC0415
    from scheduler.registry import anywhere  # noqa: PLC0415

    settings = AdaptationSettings(
        data=data,
        sites=sites,
        strategy=strategy,
        rate=rate,
        steady_rate=steady_rate,
        calm_s=calm_s,
        phase_s=phase_s,
        noise_min=noise_min,
        stable_min=stable_min,
        settle_s=settle_s,
        seed=seed,
    )
    check_options(settings)
    with experiment_call():
        chosen("--strategy", strategy, anywhere())
        run_adaptation(settings, scenarios(only), out, StepProgress)


@app.command("replacement")
def replacement(
    sites: Annotated[Path, typer.Option(help="Site file; one of its hosts joins later.")] = LATE_SITES,
    out: Annotated[Path, typer.Option(help="Folder of the experiment; a started one goes on.")] = Path(
        "runs/replacement"
    ),
    only: Annotated[
        str | None,
        typer.Option(
            help="Comma-separated: static, dynamic, even, ras, drain; without it all.", show_default=False
        ),
    ] = None,
    repetitions: Annotated[int, typer.Option(min=1, max=1000, help="Turns of each but the drain.")] = 3,
    run_s: Annotated[
        float, typer.Option(min=60, help="Measured seconds of a turn in which executors may move.")
    ] = 360.0,
    still_s: Annotated[float, typer.Option(min=60, help="The same of one in which none does.")] = 150.0,
    drain_s: Annotated[float, typer.Option(min=60, help="The same of the one with the drain.")] = 400.0,
    warm_up_s: Annotated[float, typer.Option(min=0, help="Seconds at the same rate before, cut off.")] = 10.0,
    settle_s: Annotated[
        float, typer.Option(min=0, help="Seconds before the first turn for coordinates to converge.")
    ] = 60.0,
    data: Annotated[Path, typer.Option(help="Instance file: the application, and the hosts.")] = CHAIN,
) -> None:
    """Let a fast and cheap host join while a chain runs, and drain its site: what moves, and at what price?

    Brings one lab up, runs every turn in it and takes it down whatever happens. Finished turns stay in the
    folder: the same command goes on after any interruption, and ends with the report.
    """
    require_checkout("experiment replacement")
    require_all_extras()
    # matplotlib loads slowly, as above
    from cli.experiment.experiment_call import experiment_call  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from experiments.replacement.cluster.cluster_runner import run_replacement  # noqa: PLC0415
    from experiments.replacement.cluster.cluster_settings import ReplacementSettings  # noqa: PLC0415
    from experiments.replacement.cluster.variants import turns  # noqa: PLC0415

    settings = ReplacementSettings(data, sites, run_s, still_s, drain_s, warm_up_s, settle_s)
    check_options(settings)
    with experiment_call():
        run_replacement(settings, turns(only, repetitions), out, StepProgress)


@app.command("replacement-simulation")
def replacement_simulation(
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("runs/replacement-simulation"),
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Runs of each rule in each setting.")] = 20,
    calm_runs: Annotated[
        int, typer.Option(min=1, max=10_000, help="Runs in which nothing real changes.")
    ] = 250,
    changes: Annotated[int, typer.Option(min=1, max=100_000, help="Random real changes of each kind.")] = 250,
    first_seed: Annotated[int, typer.Option(min=0, help="Smallest seed.")] = 5000,
    master: Master = "local[*]",
) -> None:
    """Simulate re-placement without a cluster, on Spark: the paper's rule, ours, and what hindsight shows.

    A few minutes. Exit status: 0 done, 2 bad input, 130 ended by Ctrl-C.
    """
    require_all_extras()
    # PySpark and matplotlib load slowly: only for this command
    with ends_at_once():
        from experiments.replacement.report.simulation_report import MARKDOWN, write_report  # noqa: PLC0415
        from experiments.replacement.sweep import Extent, run_sweep  # noqa: PLC0415
        from replay.output import require_writable_file  # noqa: PLC0415

    with bad_input():
        require_writable_file(out / MARKDOWN)
    meter = Meter("runs")
    with spark(master, "1g") as session, meter:
        found = run_sweep(session, Extent(seeds, calm_runs, changes, first_seed), meter.count)
    with bad_input():
        typer.echo(f"report: {write_report(found, out)}")


@app.command("elasticity-simulation")
def elasticity_simulation(
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("runs/elasticity-simulation"),
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Runs by billing units of each kind.")] = 5,
    layered_seeds: Annotated[
        int, typer.Option(min=1, max=1000, help="Runs in two layers of each policy, three weeks each.")
    ] = 20,
    master: Master = "local[*]",
) -> None:
    """Simulate executors and hosts, on Spark: the policies of papers 003 and 004, and ours.

    Every policy, pattern of load, billing unit and reading of queues. About half an hour.
    Exit status: 0 done, 2 bad input, 130 ended by Ctrl-C.
    """
    require_all_extras()
    # PySpark and matplotlib load slowly: only for this command
    with ends_at_once():
        from experiments.elasticity.report.elasticity_report import MARKDOWN, write_report  # noqa: PLC0415
        from experiments.elasticity.sweep import Extent, run_sweep  # noqa: PLC0415
        from replay.output import require_writable_file  # noqa: PLC0415

    with bad_input():
        require_writable_file(out / MARKDOWN)
    meter = Meter("runs")
    with spark(master, "1g") as session, meter:
        found = run_sweep(session, Extent(seeds, layered_seeds), meter.count)
    with bad_input():
        typer.echo(f"report: {write_report(found, out)}")


@app.command()
def tiers(
    out: Annotated[Path, typer.Option(help="Folder of runs and report.")] = Path("runs/tiers"),
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="Problems of each network and set.")] = 5,
    variant_seeds: Annotated[
        int, typer.Option(min=0, max=1000, help="The same in other readings of bandwidths and prices.")
    ] = 1,
    master: Master = "local[*]",
) -> None:
    """Place over edge, fog and cloud: every strategy on the problems of paper 002, on Spark.

    About an hour. Finished runs stay in the folder: the same command goes on after any interruption.
    Exit status: 0 done, 1 a run failed, 2 bad input, 130 ended by Ctrl-C.
    """
    require_all_extras()
    # PySpark and matplotlib load slowly: only for this command
    with ends_at_once():
        from experiments.tiers.cases import Extent, sweep_of  # noqa: PLC0415
        from experiments.tiers.report.tiers_report import write_report  # noqa: PLC0415
        from experiments.tiers.runs import runs_of  # noqa: PLC0415

        extent = Extent(seeds, variant_seeds)
        plan = sweep_of(extent)
    failed, _, runs = swept(plan, out / "sweep", master, "1g", lambda table: runs_of(table, extent.cases()))
    refuse_failures(failed)
    with bad_input():
        typer.echo(f"report: {write_report(runs, out)}")


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of an experiment.")],
) -> None:
    """Write the report of an experiment anew, from the files that its finished turns have left."""
    # load slowly, as above
    from experiments.adaptation.report import adaptation_report  # noqa: PLC0415
    from experiments.folder_content import (  # noqa: PLC0415
        ADAPTATION,
        ELASTICITY,
        LAB_TIERS,
        REPLACEMENT,
        RESPONSE_TIME,
        SETTINGS,
        experiment_kind,
    )
    from experiments.lab_elasticity.report import lab_elasticity_report  # noqa: PLC0415
    from experiments.lab_tiers.report import lab_tiers_report  # noqa: PLC0415
    from experiments.replacement.cluster.report import replacement_report  # noqa: PLC0415
    from experiments.response_time.report import response_time_report  # noqa: PLC0415
    from replay.errors import DataError  # noqa: PLC0415

    builds = {
        ADAPTATION: adaptation_report.build,
        ELASTICITY: lab_elasticity_report.build,
        LAB_TIERS: lab_tiers_report.build,
        REPLACEMENT: replacement_report.build,
        RESPONSE_TIME: response_time_report.build,
    }
    with refused(DataError):
        kind = experiment_kind(folder)
        if kind not in builds:
            raise UserError(f"{folder / SETTINGS}: experiment: {kind!r} is not one of {', '.join(builds)}")
        typer.echo(f"report: {builds[kind](folder)}")
