"""Makes `city.toml` from real rows: where trips begin and end, how far they go and how long they take.

    python -m replay.trips.measure_city data/debs2015/nyc2013_fullrate_17col_46450.csv.gz

Only trips with both ends on the grid count. The file is small enough for one process.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from replay.grid import cell_indices, on_cells
from replay.trips.city import CITY_FILE
from replay.trips.sample import read_sample

LENGTHS = (0, 0.5, 1.2, 1.6, 2.5, 3.5, 4.5, 6, 8, 10, 13, 17, 22, 30, 45, 80, 425)
"""Borders of the classes of lengths, in cells; the first class is a trip within its cell."""
PERCENTS = (0, 0.1, 0.5, 1, 2, 5, 10, 25, 50, 75, 90, 95, 98, 99, 99.9, 100)


def city_text(file: Path) -> str:
    """Return the text of `city.toml` for a file of 17 columns."""
    rows = read_sample(file)
    coordinates = rows.coordinates
    valid = on_cells(coordinates)
    indices = cell_indices(coordinates[valid])
    starts, ends = indices[:, :2], indices[:, 2:]
    cells = np.unique(np.concatenate([starts, ends]), axis=0)
    length = np.hypot(*(ends - starts).T)
    columns = {
        "east": cells[:, 0],
        "south": cells[:, 1],
        "pickups": _counts(cells, starts),
        "dropoffs": _counts(cells, ends),
        "length_borders": np.array(LENGTHS),
        "length_trips": np.histogram(length, LENGTHS)[0],
        "duration_percents": np.array(PERCENTS),
        "duration_s": np.rint(np.percentile(rows.duration_s[valid], PERCENTS)).astype(np.int64),
    }
    head = [
        f"# Made by replay/trips/measure_city.py from {file.name}: {int(valid.sum())} trips",
        "# with both ends on the grid. Cells of 500 m as the challenge numbers them.",
    ]
    return "\n".join([*head, *(_line(name, values) for name, values in columns.items())]) + "\n"


def _counts(cells: np.ndarray, ends: np.ndarray) -> np.ndarray:
    place = {tuple(cell): number for number, cell in enumerate(cells.tolist())}
    return np.bincount([place[tuple(end)] for end in ends.tolist()], minlength=len(cells))


def _line(name: str, values: np.ndarray) -> str:
    return f"{name} = [{', '.join(f'{value:g}' for value in values.tolist())}]"


if __name__ == "__main__":
    CITY_FILE.write_text(city_text(Path(sys.argv[1])), encoding="utf-8")
