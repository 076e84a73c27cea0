"""Commands of the group `taxi`: run the DEBS 2015 taxi queries on a Storm cluster."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.bar import Meter
from cli.collecting import collecting
from cli.errors import UserError, refused
from cli.taxi.taxi_input import (
    RedisOption,
    RunOption,
    nimbus_at,
    read_address,
    read_conf,
    read_pins,
    read_run,
    redis_at,
)
from cli.taxi.taxi_tasks import QueryName, queries_of, read_numbers, read_semantics
from cli.topology_options import (
    PYTHON_ENV,
    ConfOption,
    NameOption,
    NimbusOption,
    PinOption,
    PythonEnvOption,
    WorkersOption,
)

_FAULTS_SHOWN = 3  # all are in the summary's file

app = typer.Typer(
    no_args_is_help=True,
    help="Run the DEBS 2015 taxi queries: submit them, feed them rows, collect their answers.",
)


@app.command()
def submit(
    nimbus: NimbusOption,
    redis: RedisOption,
    run: RunOption,
    name: NameOption,
    workers: WorkersOption = None,
    pin: PinOption = None,
    conf: ConfOption = None,
    python_env: PythonEnvOption = PYTHON_ENV,
    query: Annotated[QueryName, typer.Option("--query", help="What the topology answers.")] = "1",
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            "--tasks", metavar="N|COMPONENT=N", help="Tasks of the parallel components (default 1)."
        ),
    ] = None,
    executors: Annotated[
        list[str] | None,
        typer.Option(
            "--executors",
            metavar="N|COMPONENT=N",
            help="Executors that these components begin with (default: one for each task).",
        ),
    ] = None,
    semantics: Annotated[
        list[str] | None,
        typer.Option("--semantics", metavar="KEY=VALUE", help="How the query is read, where it is open."),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Guard batches by Storm's acking too (one acker).")
    ] = False,
) -> None:
    """Submit the taxi topology: query 1, query 2, or both."""
    # streamparse parses Storm's IDL when imported: only the commands that need it pay
    from formats.nimbus import NimbusError  # noqa: PLC0415
    from topologies.submission import submit as submit_topology  # noqa: PLC0415
    from topologies.taxi.taxi_submission import TaxiSubmission  # noqa: PLC0415
    from topologies.taxi.topology import component_ids  # noqa: PLC0415

    queries = queries_of(query)

    submission = TaxiSubmission(
        name=name,
        run=read_run(run),
        redis=read_address("--redis", redis),
        workers=workers,
        pins=read_pins(pin or [], component_ids(queries)),
        python_env=python_env.absolute(),
        queries=queries,
        tasks=read_numbers("--tasks", tasks or [], queries),
        executors=read_numbers("--executors", executors or [], queries),
        semantics=read_semantics(semantics or []),
        replay=replay,
        conf=read_conf(conf) if conf is not None else {},
    )
    no_env = refused(FileNotFoundError, by="--python-env")
    with refused(NimbusError, status=1), no_env, refused(ValueError):
        submit_topology(read_address("--nimbus", nimbus), submission)
    typer.echo(f"submitted {name}, run {run}")


@app.command()
def collect(
    redis: RedisOption,
    run: RunOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the files.")],
    timeout: Annotated[
        float, typer.Option(min=1, help="Longest time without a new result, seconds.")
    ] = 120.0,
) -> None:
    """Wait for the run's end and write its results; exit status 1 when anything is missing."""
    from topologies.taxi.taxi_collector import TaxiCollector  # noqa: PLC0415 - imports redis

    meter = Meter("results")
    with redis_at(redis) as client, meter, collecting(run, out):
        summaries = TaxiCollector(client, read_run(run), timeout, meter.count).collect(out)
    faults = [f"query {each.query}: {fault}" for each in summaries for fault in each.faults[:_FAULTS_SHOWN]]
    if faults:
        raise UserError(f"run {run} is not complete: {'; '.join(faults)}", status=1)
    for summary in summaries:
        typer.echo(
            f"run {run}, query {summary.query}: {summary.rows} rows, {summary.passed} passed, "
            f"{summary.rejected} rejected, {summary.tops} changes of the top ten; written to {out}"
        )


@app.command()
def kill(
    nimbus: NimbusOption,
    name: NameOption,
    timeout: Annotated[float, typer.Option(min=1, help="Longest wait until it is gone, seconds.")] = 60.0,
) -> None:
    """Kill the topology and wait until Nimbus has forgotten it."""
    from topologies import nimbus as storm  # noqa: PLC0415 - parses Storm's IDL

    with nimbus_at(nimbus) as client:
        storm.kill(client, name, timeout)
    typer.echo(f"killed {name}")


@app.command()
def placement(nimbus: NimbusOption, name: NameOption) -> None:
    """Print where the executors run, as JSON."""
    from topologies import nimbus as storm  # noqa: PLC0415 - parses Storm's IDL

    with nimbus_at(nimbus) as client:
        found = storm.placement(client, name)
    document = {"name": name} | asdict(found)
    typer.echo(json.dumps(document, indent=2))
