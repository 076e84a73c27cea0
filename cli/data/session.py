"""What all commands of the group share: a Spark session, and refusals as the command line makes them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

Master = Annotated[str, typer.Option(help="Spark master.")]
DriverMemory = Annotated[
    str, typer.Option(help="Heap of the driver and, with a local master, of all tasks; for example 2g.")
]


def say(text: str) -> None:
    """Tell the user how far the work has come."""
    sys.stderr.write(f"{text}\n")


@contextmanager
def bad_input() -> Iterator[None]:
    """Turn the refusals of `replay` into the command line's."""
    from replay.errors import DataError  # noqa: PLC0415  # Spark loads slowly

    try:
        yield
    except DataError as error:
        raise UserError(str(error)) from error


@contextmanager
def spark(
    master: str = "local[2]", driver_memory: str = "1g", *, input_bytes: int = 0
) -> Iterator[SparkSession]:
    """Give a Spark session; bad input inside the block is refused as the command line does.

    Args:
        master: Spark master URL.
        driver_memory: Heap of the driver (and, for a local master, of all tasks), in Spark's notation.
        input_bytes: Size of what will be worked on, which decides how the JVM compiles.
    """
    from replay.session import jvm_options, spark_session  # noqa: PLC0415  # Spark loads slowly

    with bad_input():
        say("starting Spark")
        with spark_session(master, driver_memory, jvm_options(input_bytes)) as session:
            yield session
