"""Rows: one line of JSON per measured cell, appended; and their export as CSV and Parquet."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Row = dict[str, Any]
"""What one variant did on one problem, by the names of `COLUMNS`."""

ROWS = "rows.jsonl"
COLUMNS = {
    "application": "str",
    "objective": "str",  # R, A, Z or equal
    "nodes": "int64",
    "operators": "int64",
    "seed": "int64",  # of network and strategy
    "variant": "str",  # a label; the strategy's name in the registry follows
    "strategy": "str",
    "limit_s": "float64",  # null without a deadline
    "status": "str",  # optimal, feasible, infeasible, or failed: it broke its contract, or down
    "objective_value": "float64",  # F
    "bound": "float64",  # proved lower limit of F
    "response_time_ms": "float64",
    "availability": "float64",
    "network_usage_bytes": "float64",
    "seconds": "float64",  # wall time, the median over so many repeats
    "best_at_s": "float64",  # when the best placement was found, for strategies that report it
    "repeats": "int64",
    "reason": "str",
    "machine": "str",
    "date": "str",
    "commit": "str",
}
CELL = ("application", "objective", "nodes", "seed", "variant", "limit_s")
"""What makes a cell of its own; another time limit is another cell."""


def append(folder: Path, row: Row) -> None:
    """Add a row to the file; it is on disk, whole, when this returns."""
    line = json.dumps(row, allow_nan=False) + "\n"
    with (folder / ROWS).open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def load(folder: Path) -> list[Row]:
    """Return the rows of a folder, the latest of each cell, in the order in which they were measured.

    A last line without its end was cut off by an interruption: it is taken off the file.
    """
    file = folder / ROWS
    if not file.exists():
        return []
    content = file.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with file.open("r+b") as opened:
            opened.truncate(len(whole))
    latest: dict[tuple[object, ...], Row] = {}
    for line in whole.decode().splitlines():
        row: Row = json.loads(line)
        cell = tuple(row[name] for name in CELL)
        latest.pop(cell, None)
        latest[cell] = row
    return list(latest.values())


def table(rows: Sequence[Row]) -> pd.DataFrame:
    """Return the rows as a table of `COLUMNS`."""
    made = pd.DataFrame(rows, columns=list(COLUMNS))
    return made.astype({name: kind for name, kind in COLUMNS.items() if kind != "str"})


def export(folder: Path) -> None:
    """Write rows.csv and rows.parquet."""
    made = table(load(folder))
    made.to_csv(folder / "rows.csv", index=False)
    made.to_parquet(folder / "rows.parquet", index=False)
