"""Options of every command that reads or writes readings in ZooKeeper."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import refused

if TYPE_CHECKING:
    from monitoring.zookeeper.access import ZookeeperAuth

RootOption = Annotated[str, typer.Option("--root", help="Path in ZooKeeper under which readings live.")]
ROOT = "/stormplace"
AuthFileOption = Annotated[
    Path | None,
    typer.Option(
        "--zookeeper-auth-file",
        help="File with one line user:password for ZooKeeper; else STORMPLACE_ZOOKEEPER_AUTH, if set.",
    ),
]


def read_zookeeper_auth(file: Path | None) -> ZookeeperAuth | None:
    """Return the credentials of a file or of the environment; None without both.

    Raises:
        UserError: They have another form, or the file cannot be read.
    """
    from monitoring.zookeeper.access import read_auth  # noqa: PLC0415 - keeps other commands quick

    with refused(ValueError):
        return read_auth(file, os.environ)
