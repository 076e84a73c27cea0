"""Spark's exceptions as one sentence that names the file at fault."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST = 200


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a failure of Spark inside the block into a `DataError` about `path`."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise DataError(f"{path}: cannot be read: {_cause(str(error))}") from error


def _cause(message: str) -> str:
    """Return the innermost cause that Spark names, as one short line."""
    lines = [line.strip() for line in message.strip().splitlines() if line.strip()]
    causes = [line.removeprefix("Caused by:").strip() for line in lines if line.startswith("Caused by:")]
    line = causes[-1] if causes else (lines[0] if lines else "no reason given")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
