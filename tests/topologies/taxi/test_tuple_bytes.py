"""The sizes of tuples that the experiment over three tiers declares are those that components emit."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from experiments.lab_tiers.query_conf import tuple_bytes
from tests.reference.rows import read_lines
from topologies.redis_io.reader import Entry

from .simulated.storm_in_one_process import Storm

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = Path(__file__).parents[3] / "data" / "debs2015" / "nyc2013_fullrate_17col_46450.csv.gz"
HEAD_ROWS = 1500


def serialised(values: list[str | int]) -> int:
    """The size of a tuple's values as Kryo writes them: classes, ASCII text, numbers as short as they go."""
    return sum(
        1 + max(len(value), 1) if isinstance(value, str) else 1 + -(-(2 * value).bit_length() // 7 or -1)
        for value in values
    )


@pytest.mark.parametrize("together", [10, 20])
def test_declared_sizes_are_those_of_the_components(
    stage: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    """Means over the rows behind the first ones, one batch for each entry in Redis, within 3 %."""
    monkeypatch.setattr("topologies.taxi.batcher.MOST_ROWS", together)
    storm = Storm(stage, monkeypatch, 1)
    storm.redis.clock_ahead_s = 1.79e9
    sizes: defaultdict[str, list[int]] = defaultdict(list)
    emit = storm._emit

    def measure(task: Any, message: dict[str, Any]) -> None:
        values = message["tuple"]
        if values[2] > HEAD_ROWS and values[3] - values[2] == together:
            sizes[task[0]].append(serialised(values))
        emit(task, message)

    monkeypatch.setattr(storm, "_emit", measure)
    lines = read_lines(DATA)[:46450]
    n = 1
    while n <= len(lines):
        some = lines[n - 1 : n - 1 + (together if n > 1 else 1)]
        storm.redis.rows.append(Entry(f"{1795798528235 + n}-0", {"n": str(n), "lines": "\n".join(some)}))
        n += len(some)
    storm.redis.rows.append(Entry(f"{1795798528235 + n}-0", {"n": str(n), "end": "1"}))
    storm.settle()
    measured = {name: float(np.mean(each)) for name, each in sizes.items()}
    assert measured == pytest.approx(tuple_bytes(together), rel=0.03)
