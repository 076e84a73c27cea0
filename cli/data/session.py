"""What all commands of the group share: a Spark session, and refusals as the command line makes them."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError, refused
from cli.interrupt import INTERRUPTED_STATUS, all_as_ctrl_c, ends_at_once

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

Master = Annotated[str, typer.Option(help="Spark master.")]
DriverMemory = Annotated[
    str, typer.Option(help="Heap of the driver and, with a local master, of all tasks; for example 2g.")
]

_MEMORY = re.compile(r"(\d+)([kmgt])", re.IGNORECASE)
_MIB = {"k": 2**-10, "m": 1, "g": 2**10, "t": 2**20}
_LEAST_MIB = 512
"""Spark itself refuses less than 450, of which the JVM keeps some for itself."""


def say(text: str) -> None:
    """Write a line for the user: how far the work has come."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def bad_input() -> Iterator[None]:
    """Turn the refusals of `replay` into the command line's."""
    from replay.errors import DataError  # noqa: PLC0415  # Spark loads slowly

    with refused(DataError):
        yield


@contextmanager
def spark(
    master: str = "local[2]",
    driver_memory: str = "1g",
    *,
    input_bytes: int = 0,
    out: Path | None = None,
    explain_interrupt: bool = True,
) -> Iterator[SparkSession]:
    """Give a Spark session; bad input and Ctrl-C inside the block become a `UserError`.

    Args:
        master: Spark master URL.
        driver_memory: Heap of the driver (and, for a local master, of all tasks), in Spark's notation.
        input_bytes: Size of what will be worked on, which decides how the JVM compiles.
        out: Folder or file that the block replaces as a whole, at one moment.
        explain_interrupt: Whether Ctrl-C, SIGTERM and SIGHUP become a sentence that says whether `out` was
            written; otherwise they come out as `KeyboardInterrupt`.
    """
    _require_memory(driver_memory)
    before = _identity(out)
    try:
        with ends_at_once():
            from replay.session import jvm_options, spark_session  # noqa: PLC0415  # Spark loads slowly

        with all_as_ctrl_c(), bad_input():
            say("starting Spark")
            with spark_session(master, driver_memory, jvm_options(input_bytes)) as session:
                yield session
    except KeyboardInterrupt:
        if not explain_interrupt:
            raise
        if _identity(out) == before:
            left = "interrupted: nothing was written, and what was there before is as it was"
        else:
            left = f"interrupted, but {out} was written before and is complete"
        raise UserError(left, status=INTERRUPTED_STATUS) from None


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Return what differs if a file or folder is replaced by one of the same name; None if there is none."""
    if path is None or not path.exists():
        return None
    status = path.stat()
    return status.st_dev, status.st_ino


def _require_memory(text: str) -> None:
    """Refuse what Java would refuse in several lines that do not name the option."""
    match = _MEMORY.fullmatch(text)
    if match is None:
        raise UserError(f"--driver-memory: expected a number and k, m, g or t, such as 2g, got {text!r}")
    if int(match[1]) * _MIB[match[2].lower()] < _LEAST_MIB:
        raise UserError(f"--driver-memory: Spark needs at least {_LEAST_MIB}m, got {text}")
