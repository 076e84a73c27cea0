"""Commands of the group `synthetic`: run any application of operators and streams on a Storm cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from cli.bar import Meter
from cli.collecting import collecting
from cli.errors import UserError, refused
from cli.synthetic.synthetic_input import Asked, read_application, read_synthetic_run, to_workload
from cli.taxi.taxi_input import nimbus_at, read_address, read_conf, read_pins, redis_at
from cli.topology_options import (
    PYTHON_ENV,
    ConfOption,
    NameOption,
    NimbusOption,
    PinOption,
    PythonEnvOption,
    WorkersOption,
)
from cli.zookeeper_options import ROOT, AuthFileOption, RootOption

app = typer.Typer(
    no_args_is_help=True,
    help="Run an instance's application on Storm, and compare its response time with the predicted one.",
)

RedisOption = Annotated[
    str, typer.Option("--redis", metavar="HOST:PORT", help="Redis of what sinks measure.")
]
RunOption = Annotated[str, typer.Option("--run", metavar="ID", help="Id of the run; a new one for each.")]


@app.command()
def submit(
    nimbus: NimbusOption,
    redis: RedisOption,
    run: RunOption,
    name: NameOption,
    instance: Annotated[
        Path | None, typer.Argument(help="Instance file; its network does not count.", show_default=False)
    ] = None,
    application: Annotated[
        str | None, typer.Option(help="Instead of an instance: sequential, diamond or replicated.")
    ] = None,
    operators: Annotated[int | None, typer.Option(help="Number of operators (default 20).")] = None,
    rate: Annotated[float | None, typer.Option(help="Tuples/s on each stream (default 100).")] = None,
    tuple_bytes: Annotated[float | None, typer.Option(help="Bytes of a tuple (default 1000).")] = None,
    work_ms: Annotated[float | None, typer.Option(help="Work per tuple and operator (default 3).")] = None,
    work: Annotated[
        str, typer.Option(help="How operators work: wait (a processor of its own for each) or busy.")
    ] = "wait",
    tuples: Annotated[
        int, typer.Option(help="Tuples to measure, of all sources together; then the run ends.")
    ] = 1_000,
    warm_up: Annotated[
        float, typer.Option(help="Seconds before, of which nothing is measured.", metavar="SECONDS")
    ] = 15.0,
    scale_rate: Annotated[float, typer.Option(help="Factor of all rates.")] = 1.0,
    workers: WorkersOption = None,
    pin: PinOption = None,
    conf: ConfOption = None,
    python_env: PythonEnvOption = PYTHON_ENV,
) -> None:
    """Submit an application: one component with one executor per operator."""
    asked = Asked(application, operators, rate, tuple_bytes, work_ms)
    workload = to_workload(
        read_application(instance, asked),
        work=work,
        tuples=tuples,
        warm_up_s=warm_up,
        scale_rate=scale_rate,
    )
    # streamparse parses Storm's IDL when imported: only the commands that need it pay
    from formats.nimbus import NimbusError  # noqa: PLC0415
    from topologies.submission import submit as submit_topology  # noqa: PLC0415
    from topologies.synthetic.synthetic_submission import SyntheticSubmission  # noqa: PLC0415

    components = tuple(operator.component for operator in workload.operators)
    submission = SyntheticSubmission(
        name=name,
        run=read_synthetic_run(run),
        redis=read_address("--redis", redis),
        workload=workload,
        workers=workers,
        pins=read_pins(pin or [], components),
        python_env=python_env.absolute(),
        conf=read_conf(conf) if conf is not None else {},
    )
    with (
        refused(NimbusError, status=1),
        refused(FileNotFoundError, by="--python-env"),
        refused(ValueError, by="--conf"),
    ):
        submit_topology(read_address("--nimbus", nimbus), submission)
    typer.echo(
        f"submitted {name}, run {run}: {len(workload.operators)} operators, {len(workload.streams)} streams; "
        f"it measures for {workload.duration_s:.0f} s after {warm_up:g} s of warm-up"
    )


@app.command()
def collect(
    redis: RedisOption,
    run: RunOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")],
    timeout: Annotated[float, typer.Option(min=1, help="Longest time without a new tuple, seconds.")] = 120.0,
) -> None:
    """Wait for the run's end and write what was measured; exit status 1 when anything is missing."""
    from cli.synthetic.synthetic_output import print_summary  # noqa: PLC0415 - loads rich
    from topologies.synthetic.synthetic_collector import collect_run  # noqa: PLC0415 - imports redis

    meter = Meter("tuples")
    with redis_at(redis) as client, meter, collecting(run, out):
        known = read_synthetic_run(run)
        summary = collect_run(
            client, known, out, timeout_s=timeout, report=lambda count: meter.count(count, 0)
        )
    print_summary(summary)
    if summary.faults:
        raise UserError(f"run {run} is not complete: {'; '.join(summary.faults)}", status=1)
    typer.echo(f"run {run}: {summary.tuples} tuples; written to {out}")


@app.command()
def check(
    results: Annotated[Path, typer.Argument(help="Folder that `collect` wrote.")],
    nimbus: NimbusOption,
    name: NameOption,
    sites: Annotated[Path | None, typer.Option(help="Delays of a lab's site file.")] = None,
    zookeeper: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Instead: delays that agents publish.")
    ] = None,
    root: RootOption = ROOT,
    zookeeper_auth_file: AuthFileOption = None,
    readings: Annotated[
        Path | None, typer.Option(help="Instead: delays by readings in a file, or by recorded rounds.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare the measured response time with the one predicted for the places where the operators run."""
    if sum(each is not None for each in (sites, zookeeper, readings)) != 1:
        raise UserError("exactly one of --sites, --zookeeper and --readings is needed")
    from cli.experiment.experiment_call import experiment_errors  # noqa: PLC0415
    from cli.synthetic.synthetic_output import print_comparison  # noqa: PLC0415
    from experiments.synthetic.delays import delays_of_sites  # noqa: PLC0415
    from experiments.synthetic.prediction import document, hosts_of, predict, read_measured  # noqa: PLC0415
    from topologies import nimbus as storm  # noqa: PLC0415

    with experiment_errors():
        measured = read_measured(results)
        with nimbus_at(nimbus) as client:
            placement = storm.placement(client, name)
        hosts = hosts_of(measured.workload, placement, name)
        if sites is not None:
            pairs = delays_of_sites(sites, set(hosts))
        else:
            pairs = measured_delays(zookeeper, root, zookeeper_auth_file, readings, set(hosts))
    comparison = document(measured, predict(measured.workload, hosts, pairs), hosts)
    if as_json:
        typer.echo(json.dumps(comparison, indent=2))
    else:
        print_comparison(comparison)


def measured_delays(
    zookeeper: str | None, root: str, auth_file: Path | None, readings: Path | None, hosts: set[str]
) -> dict[tuple[str, str], float]:
    """Return delays (ms, one way) by pair of hosts, as agents publish them or as a file has them.

    Raises:
        UserError: There are no readings.
        ExperimentError: There is none of a host.
    """
    from bridge.network.geography import survey  # noqa: PLC0415 - loads numpy
    from bridge.settings import Settings  # noqa: PLC0415 - loads pydantic
    from cli.network.network import live_snapshot  # noqa: PLC0415 - likewise
    from cli.network.network_input import read_snapshot  # noqa: PLC0415 - loads Thrift
    from experiments.synthetic.delays import delays_of_readings  # noqa: PLC0415

    if readings is not None:
        snapshot = read_snapshot(readings)
    else:
        assert zookeeper is not None  # noqa: S101 - one of the two is given
        snapshot = live_snapshot(zookeeper, root, auth_file, None)
    settings = snapshot.settings or Settings()
    geography = survey(snapshot.request, settings, supervisors_known=snapshot.supervisors_known)
    return delays_of_readings(geography, snapshot.origin, hosts)
