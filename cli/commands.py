"""The commands of `stormplace`: puts their groups together and runs the one that is asked for."""

from __future__ import annotations

import io
import sys
from typing import Annotated, NoReturn

import typer

from cli import (
    agent,
    daemon,
    demo,
    evaluation,
    lab,
    rates,
    replay_rounds,
)
from cli.data import data
from cli.drain import drain
from cli.elastic import elastic
from cli.errors import UserError
from cli.experiment import experiment, experiment_elasticity, experiment_tiers
from cli.extras import lacks_extra
from cli.instance import instance
from cli.network import network
from cli.plan import plan
from cli.simulate import simulate
from cli.solve import solve
from cli.synthetic import synthetic
from cli.taxi import taxi, taxi_replay
from cli.wording import sentence

app = typer.Typer(
    name="stormplace",
    help="A placement scheduler for Apache Storm that knows the network.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(lab.app, name="lab")
for command in (taxi_replay.replay, taxi_replay.feed):
    taxi.app.command()(command)
app.add_typer(taxi.app, name="taxi")
app.add_typer(synthetic.app, name="synthetic")
app.add_typer(data.app, name="data")
app.add_typer(instance.app, name="instance")
experiment.app.command("lab-tiers")(experiment_tiers.lab_tiers)
experiment.app.command("elasticity")(experiment_elasticity.elasticity)
app.add_typer(experiment.app, name="experiment")
app.add_typer(simulate.app, name="simulate")
app.command(cls=solve.NamingStrategies)(solve.solve)
app.command()(daemon.daemon)
app.command()(agent.agent)
app.command()(rates.rates)
app.command()(elastic.elastic)
app.command()(network.network)
app.command()(plan.plan)
app.command()(drain.drain)
app.command()(drain.undrain)
app.command()(replay_rounds.replay_rounds)
app.command()(demo.demo)
app.command()(evaluation.evaluate)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version  # noqa: PLC0415 - only this option needs it

        typer.echo(f"stormplace {version('stormplace')}")
        raise typer.Exit


@app.callback()
def program(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
) -> None:
    """Take what stands before the command."""


def run() -> None:
    """Run the command line; a `UserError` becomes one sentence and its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names in a user's file need not be text in the terminal's encoding.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except UserError as error:
        _refuse(error)
    except ModuleNotFoundError as error:
        refusal = lacks_extra(error)
        if refusal is None:
            raise
        _refuse(refusal)
    except OSError as error:
        # what a command knows about its files it says itself; this is a full disk or a closed output
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"stormplace: cannot go on: {sentence(f'{place}{error.strerror or error}')}\n")
        raise SystemExit(1) from None
    except MemoryError:
        sys.stderr.write("stormplace: cannot go on: out of memory\n")
        raise SystemExit(1) from None


def _refuse(error: UserError) -> NoReturn:
    sys.stderr.write(f"stormplace: {sentence(str(error))}\n")
    raise SystemExit(error.status) from None
