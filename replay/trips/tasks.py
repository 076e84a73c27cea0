"""Work in pieces on Spark's executors, each piece described by a small record and answered by a small record.

A piece reads and writes files by itself, so rows cross no border between the JVM and Python. All executors
must see the same files, as for Spark's own reader of local files.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException

from replay.errors import DataError, MachineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pyspark.sql import SparkSession

Task = TypeVar("Task")
Answer = TypeVar("Answer")

_LONGEST = 300
REPORT_EVERY_S = 10.0


@dataclass(frozen=True)
class _Failure:
    """What kept a piece from its end, as one sentence."""

    sentence: str
    machine: bool


def run_tasks(
    spark: SparkSession,
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    report: Callable[[int], None] | None = None,
) -> list[Answer]:
    """Run a function on executors, one Spark task per piece.

    A piece may run twice (Spark repeats what was lost), so its files must be written whole and by fixed
    names.

    Args:
        spark: Session.
        function: What to do; it travels to the executors with what it holds.
        tasks: The pieces.
        report: Called with the number of finished pieces every ten seconds, in a thread of its own.

    Returns:
        The answers in the order of the pieces.

    Raises:
        DataError: The first piece (in order) that was refused, in its words.
        MachineError: A file cannot be read or written, or an executor was lost.
    """
    if not tasks:
        return []

    def guard(task: Task) -> Answer | _Failure:
        try:
            return function(task)
        except MachineError as error:
            return _Failure(str(error), machine=True)
        except DataError as error:
            return _Failure(str(error), machine=False)
        except OSError as error:
            # of the standard library with the file and the reason apart, of Arrow in one text
            cause = f"{error.filename}: {error.strerror}" if error.filename else str(error)
            return _Failure(f"a file cannot be read or written: {cause[:_LONGEST]}", machine=True)
        except MemoryError:
            return _Failure("out of memory on an executor", machine=True)

    try:
        with _reporting(spark, report):
            answers = spark.sparkContext.parallelize(tasks, len(tasks)).map(guard).collect()
    except (Py4JJavaError, PySparkException) as error:
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")
        raise MachineError(f"Spark broke off: {first[:_LONGEST]}") from error
    done: list[Answer] = []
    for answer in answers:
        if isinstance(answer, _Failure):
            raise (MachineError if answer.machine else DataError)(answer.sentence)
        done.append(answer)
    return done


@contextmanager
def _reporting(spark: SparkSession, report: Callable[[int], None] | None) -> Iterator[None]:
    """Report how many tasks of the one job in the block are finished, until it ends."""
    if report is None:
        yield
        return
    tracker = spark.sparkContext.statusTracker()
    ended = threading.Event()

    def watch() -> None:
        # the JVM may be gone before the block ends, after Ctrl-C
        with suppress(Py4JError, OSError):
            while not ended.wait(REPORT_EVERY_S):
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                report(sum(stage.numCompletedTasks for stage in stages if stage is not None))

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
