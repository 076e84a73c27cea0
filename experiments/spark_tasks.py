"""Independent tasks on Spark, such as simulated runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException

from experiments.spark_job import carried_out
from replay.errors import MachineError
from replay.failures import cause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import SparkSession

_Result = TypeVar("_Result")


def run_tasks(
    spark: SparkSession,
    name: str,
    tasks: Sequence[Callable[[], _Result]],
    report: Callable[[int, int], None] = lambda _done, _all: None,
) -> list[_Result]:
    """Return what tasks return, in their order.

    Args:
        spark: Session.
        name: What they are called in Spark's display.
        tasks: Each one a task of Spark; it and its result can be pickled.
        report: Gets, about twice a second, how many of how many tasks are done.

    Raises:
        MachineError: Spark ended a task.
    """
    context = spark.sparkContext

    def job() -> list[_Result]:
        context.setJobGroup(name, name, interruptOnCancel=True)
        parts = context.parallelize(tasks, len(tasks))
        return list(parts.map(lambda task: task()).collect())

    try:
        return carried_out(context, job, lambda: report(_finished(context, name), len(tasks)))
    except (Py4JJavaError, PySparkException) as error:
        raise MachineError(f"{name} failed: {cause(error)}") from error


def _finished(context: Any, group: str) -> int:
    tracker = context.statusTracker()
    stages = [
        tracker.getStageInfo(stage)
        for job in tracker.getJobIdsForGroup(group)
        if (info := tracker.getJobInfo(job)) is not None
        for stage in info.stageIds
    ]
    return sum(stage.numCompletedTasks for stage in stages if stage is not None)
