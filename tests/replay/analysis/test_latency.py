"""Response times by Spark against numpy."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from replay import pipeline
from replay.analysis.latency import measure_run
from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
HEADER = "n,row_ms,emit_us,done_us,result_ms,paced"


def test_percentiles_are_numpys_over_the_paced_rows_only(spark: SparkSession, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    end_to_end = rng.integers(3, 900, 401)
    topology_us = rng.integers(1_000, 800_000, 401)
    rows = [HEADER]
    for n, (whole, part) in enumerate(zip(end_to_end, topology_us, strict=True), start=1):
        rows.append(f"{n},1000000,5000,{5000 + part},{1000000 + whole},{int(n > 100)}")
    (tmp_path / "results.csv").write_text("\n".join(rows) + "\n")

    latency = measure_run(spark, tmp_path)

    for found, values in ((latency.end_to_end, end_to_end), (latency.in_topology, topology_us / 1000)):
        paced = values[100:]
        assert found.count == 301
        assert found.mean_ms == pytest.approx(paced.mean())
        for percent in (0, 2.5, 50, 95, 99, 100):
            assert found.percentile_ms(percent) == pytest.approx(np.percentile(paced, percent))
    assert latency.document()["end_to_end"]["p95_ms"] == latency.end_to_end.percentile_ms(95)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,1000,5000,6000,1010,0", "no row was fed at a set rate"),
        ("1,1000,5000,6000,990,1", "a result is 10 ms older than its row"),
        ("1,1000,5000,4000,1010,1", r"a result is 1 ms older than its row \(in the topology\)"),
        ("1,1000,5000,x,1010,1", "line 2 is not six whole numbers"),
    ],
)
def test_times_that_cannot_be_are_refused(
    spark: SparkSession, row: str, message: str, tmp_path: Path
) -> None:
    (tmp_path / "results.csv").write_text(f"{HEADER}\n{row}\n")

    with pytest.raises(DataError, match=message):
        measure_run(spark, tmp_path)


@pytest.fixture
def right_run(
    messy: Callable[..., list[str]],
    reference: Callable[..., Any],
    write_run: Callable[[Any, Path], None],
) -> tuple[list[str], Callable[[Path], None]]:
    lines = messy(11, 120)
    return lines, lambda folder: write_run(reference(lines), folder)


def test_several_runs_are_evaluated_in_one_session(
    spark: SparkSession,
    right_run: tuple[list[str], Callable[[Path], None]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Each run's folder gets its verdict and its response times; one of the two runs is wrong."""

    @contextmanager
    def shared() -> Iterator[SparkSession]:
        yield spark

    monkeypatch.setattr(pipeline, "spark_session", shared)
    lines, write = right_run
    (tmp_path / "rows.csv").write_text("\n".join(lines))
    runs = [tmp_path / "right", tmp_path / "wrong"]
    for run in runs:
        write(run)
    (runs[1] / "tops.csv").write_text("")
    said: list[str] = []

    found = pipeline.evaluate_runs(tmp_path / "expected", runs, tmp_path / "rows.csv", said.append)

    assert [each.verdict.equal for each in found] == [True, False]
    assert [json.loads((run / "verdict.json").read_text())["equal"] for run in runs] == [True, False]
    assert json.loads((runs[0] / "latency.json").read_text()) == found[0].latency.document()
    assert "right: answers right" in said
