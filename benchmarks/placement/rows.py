"""Rows: one line of JSON per measured cell, appended; and their export as CSV and Parquet."""

from __future__ import annotations

import dataclasses
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

ROWS = "rows.jsonl"
FAILED = "failed"


@dataclass(frozen=True)
class Row:
    """What one variant did on one problem.

    Attributes:
        application: Name of the application.
        objective: ``R``, ``A``, ``Z`` or ``equal``.
        nodes: Size of the network.
        operators: Size of the application.
        seed: Of network and strategy.
        variant: Label of the variant.
        strategy: Name in the registry.
        limit_s: Seconds to the deadline; None without one.
        status: ``optimal``, ``feasible``, ``infeasible``, or ``failed`` (it broke its contract, or down).
        objective_value: F.
        bound: Proved lower limit of F.
        response_time_ms: R.
        availability: A.
        network_usage_bytes: Z.
        seconds: Wall time; the median over `repeats` runs.
        best_at_s: When the best placement was found, for strategies that report it.
        repeats: Number of runs.
        reason: One sentence of the strategy.
        machine: Where it was measured.
        date: UTC date.
        commit: Of the source tree.
    """

    application: str
    objective: str
    nodes: int
    operators: int
    seed: int
    variant: str
    strategy: str
    limit_s: float | None
    status: str
    objective_value: float | None
    bound: float | None
    response_time_ms: float | None
    availability: float | None
    network_usage_bytes: float | None
    seconds: float
    best_at_s: float | None
    repeats: int
    reason: str
    machine: str
    date: str
    commit: str

    @property
    def key(self) -> tuple[str, str, int, int, str, float | None]:
        """What makes a cell of its own; another time limit is another cell."""
        return self.application, self.objective, self.nodes, self.seed, self.variant, self.limit_s


def append(folder: Path, row: Row) -> None:
    """Add a row to the file; it is on disk, whole, when this returns."""
    line = json.dumps(dataclasses.asdict(row), allow_nan=False) + "\n"
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
    latest: dict[object, Row] = {}
    for line in whole.decode().splitlines():
        row = Row(**json.loads(line))
        latest.pop(row.key, None)
        latest[row.key] = row
    return list(latest.values())


def table(rows: list[Row]) -> pd.DataFrame:
    """Return the rows as a table, one column per attribute."""
    columns = [each.name for each in dataclasses.fields(Row)]
    made = pd.DataFrame([dataclasses.asdict(row) for row in rows], columns=columns)
    numbers = ["limit_s", "objective_value", "bound", "response_time_ms", "availability"]
    numbers += ["network_usage_bytes", "seconds", "best_at_s"]
    return made.astype(dict.fromkeys(numbers, "float64"))


def export(folder: Path) -> None:
    """Write rows.csv and rows.parquet."""
    made = table(load(folder))
    made.to_csv(folder / "rows.csv", index=False)
    made.to_parquet(folder / "rows.parquet", index=False)
