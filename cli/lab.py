"""Commands of the group `lab`."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    """Commands of the group."""
