"""Work in pieces on executors: a refusal is one sentence."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

import pytest

from replay.errors import DataError, MachineError
from replay.trips import tasks
from replay.trips.tasks import run_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def work(piece: str) -> str:
    if piece == "full disk":
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/part-0.parquet")
    if piece == "bad file":
        raise DataError("rows.csv: the file is empty")
    if piece == "no memory":
        raise MemoryError
    if piece == "fault":
        raise ZeroDivisionError
    return piece.upper()


def test_answers_come_in_the_order_of_the_pieces(spark: SparkSession) -> None:
    assert run_tasks(spark, work, [f"piece {n}" for n in range(9)]) == [f"PIECE {n}" for n in range(9)]
    assert run_tasks(spark, work, []) == []


def test_finished_pieces_are_reported_while_the_others_are_at_work(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second piece waits for the report of the first."""
    monkeypatch.setattr(tasks, "REPORT_EVERY_S", 0.05)
    reported = tmp_path / "reported"

    def one(piece: str) -> str:
        while piece == "second" and not reported.exists():
            time.sleep(0.01)
        return piece

    def report(done: int) -> None:
        if done == 1:
            reported.touch()

    assert run_tasks(spark, one, ["first", "second"], report) == ["first", "second"]


@pytest.mark.parametrize(
    ("piece", "kind", "sentence"),
    [
        (
            "full disk",
            MachineError,
            "a file cannot be read or written: out/part-0.parquet: No space left on device",
        ),
        ("bad file", DataError, "rows.csv: the file is empty"),
        ("no memory", MachineError, "out of memory on an executor"),
    ],
)
def test_a_refused_piece_refuses_the_work(
    spark: SparkSession, piece: str, kind: type[DataError], sentence: str
) -> None:
    with pytest.raises(DataError) as refused:
        run_tasks(spark, work, ["fine", piece, "bad file"])

    assert type(refused.value) is kind
    assert str(refused.value) == sentence


def test_a_fault_of_the_program_is_not_hidden(spark: SparkSession) -> None:
    with pytest.raises(MachineError, match="Spark broke off: "):
        run_tasks(spark, work, ["fault"])
