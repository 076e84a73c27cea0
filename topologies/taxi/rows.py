"""Lines of a taxi file, plain or packed with gzip."""

from __future__ import annotations

import gzip
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class RowsError(Exception):
    """A file of rows cannot be read; the message is one sentence with file and line."""


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file without their ends; names that end with `.gz` are unpacked.

    Raises:
        RowsError: The file is missing, cut off, no gzip or no text.
    """
    number = 0
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for line in file:
                number += 1
                yield line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        msg = f"{path}, line {number}: no UTF-8 text ({error.reason})"
        raise RowsError(msg) from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        msg = f"{path} is cut off or no gzip file, after line {number}: {error}"
        raise RowsError(msg) from error
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror or error}"
        raise RowsError(msg) from error


def count_lines(path: Path) -> int:
    """Return the number of lines, reading the file once; raises as `read_lines`, and when it is empty."""
    lines = sum(1 for _ in read_lines(path))
    if not lines:
        msg = f"{path} holds no rows"
        raise RowsError(msg)
    return lines
