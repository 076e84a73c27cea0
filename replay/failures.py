"""Spark's exceptions as one sentence that names the file at fault."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException, PythonException

from replay.errors import DataError, MachineError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST = 200
#: How py4j begins; what happened comes on the next line.
_CALL = "An error occurred while calling"
#: What the system says where there is no room, as it comes through Java.
_NO_ROOM = ("No space left on device", "Disk quota exceeded", "File too large", "Read-only file system")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn a failure of Spark inside the block into a `DataError` about `path`."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise DataError(f"{path}: cannot be read: {cause(error)}") from error


@contextmanager
def working(source: Path, target: Path) -> Iterator[None]:
    """Turn a failure of Spark inside the block into one of reading `source` or of writing `target`."""
    try:
        yield
    except PythonException:  # a fault of our own functions: its traceback is what helps
        raise
    except (Py4JJavaError, PySparkException) as error:
        for sentence in _NO_ROOM:
            if sentence in str(error):
                raise MachineError(f"{target}: cannot be written: {sentence}") from error
        raise DataError(f"{source}: cannot be read: {cause(error)}") from error


def cause(error: Exception) -> str:
    """Return the innermost cause that Spark names, as one short line."""
    lines = [line.strip() for line in str(error).strip().splitlines() if line.strip()]
    if len(lines) > 1 and lines[0].startswith(_CALL):
        lines = [lines[1].removeprefix(":").strip(), *lines[2:]]
    causes = [line.removeprefix("Caused by:").strip() for line in lines if line.startswith("Caused by:")]
    line = causes[-1] if causes else (lines[0] if lines else "no reason given")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
