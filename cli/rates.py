"""The command `rates`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import UserError


def rates(
    *,
    nimbus: Annotated[
        str, typer.Option(help="HOST:PORT of Nimbus' Thrift service; several separated by commas.")
    ],
    zookeeper: Annotated[str, typer.Option(help="HOST:PORT of ZooKeeper; several separated by commas.")],
    root: Annotated[str, typer.Option(help="Path in ZooKeeper under which readings live.")] = "/stormplace",
    interval_s: Annotated[float, typer.Option(help="Time between two looks at Nimbus, in s.")] = 10.0,
    window_s: Annotated[float, typer.Option(help="Time over which rates are taken, in s.")] = 60.0,
    zookeeper_auth_file: Annotated[
        Path | None,
        typer.Option(
            help="File with one line user:password for ZooKeeper; else STORMPLACE_ZOOKEEPER_AUTH, if set."
        ),
    ] = None,
) -> None:
    """Derive the rates of all topologies from Nimbus' statistics and publish them to ZooKeeper.

    Runs until SIGTERM or Ctrl-C; writes one JSON line per change of state to standard error.
    """
    # imported here: other commands must not wait for these
    from monitoring.log import json_log  # noqa: PLC0415 - see above
    from monitoring.rates_collector import run  # noqa: PLC0415 - see above
    from monitoring.rates_options import CollectorError, CollectorOptions  # noqa: PLC0415 - see above
    from monitoring.zookeeper_auth import read_auth  # noqa: PLC0415 - see above

    try:
        auth = read_auth(zookeeper_auth_file, os.environ)
    except ValueError as error:
        raise UserError(str(error)) from error
    options = CollectorOptions(
        nimbus=nimbus,
        zookeeper=zookeeper,
        root=root,
        interval_s=interval_s,
        window_s=window_s,
        auth=auth,
    )
    try:
        options.check()
        run(options, json_log("rates"))
    except CollectorError as error:
        raise UserError(str(error)) from error


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(rates)
