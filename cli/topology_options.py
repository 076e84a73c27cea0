"""Options of every command that submits or looks at a topology of ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

NimbusOption = Annotated[str, typer.Option("--nimbus", metavar="HOST:PORT", help="Nimbus' Thrift port.")]
NameOption = Annotated[str, typer.Option("--name", metavar="NAME", help="Name of the topology.")]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Worker slots to ask for (default 4).")]
PinOption = Annotated[
    list[str] | None,
    typer.Option("--pin", metavar="COMPONENT=site:NAME|host:NAME", help="Where a component must run."),
]
ConfOption = Annotated[
    Path | None, typer.Option("--conf", metavar="FILE.json", help="Topology configuration; it wins.")
]
PythonEnvOption = Annotated[
    Path, typer.Option("--python-env", metavar="DIR", help="Python environment of the workers.")
]
PYTHON_ENV = Path(sys.prefix)
"""The environment of this process, which a lab's hosts share."""
