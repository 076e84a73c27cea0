"""Options of every command that submits or looks at a topology of ours."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from cli.errors import UserError

_NAME = re.compile(r"[\w \t-]+")
"""What Storm 2.8 (`org.apache.storm.utils.Utils`) lets pass as a name, and as part of the key of a blob."""


def _read_name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise UserError(
            f"--name {text!r}: Storm wants letters, digits, '_', '-' and blanks in a topology's name"
        )
    return text


NimbusOption = Annotated[str, typer.Option("--nimbus", metavar="HOST:PORT", help="Nimbus' Thrift port.")]
NameOption = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the topology.", callback=_read_name)
]
WorkersOption = Annotated[int | None, typer.Option(min=1, help="Worker slots to ask for (default 4).")]
PinOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pin", metavar="COMPONENT=site:NAME|host:NAME|tier:TIER", help="Where a component must run."
    ),
]
ConfOption = Annotated[
    Path | None, typer.Option("--conf", metavar="FILE.json", help="Topology configuration; it wins.")
]
PythonEnvOption = Annotated[
    Path, typer.Option("--python-env", metavar="DIR", help="Python environment of the workers.")
]
PYTHON_ENV = Path(sys.prefix)
"""The environment of this process, which a lab's hosts share."""
