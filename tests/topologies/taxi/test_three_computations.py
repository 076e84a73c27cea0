"""Each file of 17 columns, computed three times by code that shares nothing: the answers are the same."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from replay.compare.compare import compare_queries
from replay.expected.compute import write_expected
from tests.reference.query1 import query1
from tests.reference.query2 import query2
from tests.reference.rows import read_lines

from .conftest import said, written
from .simulated.storm_in_one_process import PARALLEL, Storm

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

DATA = Path(__file__).parents[3] / "data" / "debs2015"
FILES = {
    "debs2015_year_head100.csv": ("1", "2"),
    "debs2015_20day_head10004.csv.gz": ("1", "2"),
    "nyc2013_jan14_subsample_17col_1000.csv.gz": ("1", "2"),
    "nyc2013_fullrate_17col_46450.csv.gz": ("1",),  # it has no fares
}


@pytest.mark.parametrize("name", FILES)
def test_stream_spark_and_a_plain_program_agree(
    *,
    name: str,
    spark: SparkSession,
    stage: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Row by row, with 1, 2 and 4 tasks per operator, and as many shares."""
    queries = FILES[name]
    lines = read_lines(DATA / name)
    plain = {"1": query1(lines)} | ({"2": query2(lines)} if "2" in queries else {})
    expected = tmp_path / "expected"
    write_expected(spark, DATA / name, expected, lambda _: None, queries=tuple(map(int, queries)))
    run = tmp_path
    for tasks in (1, 2, 4):
        run = tmp_path / f"run{tasks}"
        storm = Storm(
            *(stage, monkeypatch, tasks),
            queries=queries,
            tasks=dict.fromkeys(PARALLEL, tasks),
            shares=tasks,
        )
        storm.redis.feed(lines, random.Random(tasks), most=1_000)
        storm.settle()
        for query in queries:
            folder = run if query == "1" else run / "query2"
            assert written(folder, query, storm.redis.results[query]) == said(plain[query])
    for query in queries:
        rejected = plain[query].rejected
        summary = {
            "rows": len(lines),
            "passed": len(plain[query].passed),
            "rejected": rejected.total(),
            "reasons": rejected,
        }
        folder = run if query == "1" else run / "query2"
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    # the files of all three runs are the same, so the last ones stand for all
    verdict = compare_queries(spark, expected, run)
    assert verdict.equal, verdict.first.sentence() if verdict.first else ""
