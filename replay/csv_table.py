"""Small CSV files of whole numbers, read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def read_whole_numbers(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a CSV file with a header, of which some columns hold whole numbers.

    Raises:
        DataError: The file is missing or no table, or a column is missing or holds something else.
    """
    try:
        found = pd.read_csv(path)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise DataError(f"{path}: no table: {error}") from error
    missing = [name for name in columns if name not in found]
    if missing:
        raise DataError(f"{path}: line 1: column {', '.join(missing)} is missing")
    for name in columns:
        if not pd.api.types.is_integer_dtype(found[name]):
            raise DataError(f"{path}: column {name}: a value is not a whole number")
    return found
