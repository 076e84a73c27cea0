"""A sweep on Spark: one task per run, and the table of all runs at the end."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use
from pyspark.sql.pandas.types import from_arrow_schema

from experiments.spark_job import carried_out
from experiments.sweep.one_run import FAILED
from experiments.sweep.sweep_plan import still_open
from experiments.sweep.worker import SCHEMA, Finished, carry_out
from replay.errors import DataError, MachineError
from replay.failures import reading
from replay.places import spark_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from experiments.sweep.sweep_folder import SweepFolder
    from experiments.sweep.sweep_plan import Run, SweepPlan

COLUMNS = from_arrow_schema(SCHEMA)


def run_missing(
    spark: SparkSession,
    plan: SweepPlan,
    folder: SweepFolder,
    report: Callable[[int], None] = lambda _: None,
) -> list[Finished]:
    """Carry out the runs of a sweep that are not in its folder yet.

    Args:
        spark: Session; its executors must see the folder under the same path.
        plan: The sweep.
        folder: Where finished runs are, opened for this plan.
        report: Gets, about twice a second, how many of the plan's runs are finished.

    Returns:
        The runs that failed; all others have their part.
    """
    runs = plan.runs()
    missing = still_open(runs, folder.finished())
    if not missing:
        return []
    context = spark.sparkContext
    texts = context.broadcast({instance.digest: instance.text for instance in plan.instances})
    limits, parts = replace(plan, instances=()), str(folder.parts.resolve())

    def one(run: Run) -> Finished:
        return carry_out(run, texts.value, limits, Path(parts))

    names = frozenset(run.part for run in runs)

    def look() -> None:
        report(len(folder.finished() & names))

    with reading(folder.path):
        done = carried_out(
            context, lambda: context.parallelize(missing, len(missing)).map(one).collect(), look
        )
    look()
    texts.destroy()
    return [each for each in done if each.failure is not None]


def write_runs(spark: SparkSession, folder: SweepFolder, failed: Sequence[Finished]) -> DataFrame:
    """Make the table of all finished runs, and those that failed now; an earlier one is replaced.

    Returns:
        The table: the columns of `experiments.sweep.worker.SCHEMA`, and `gap`: how far F is above the best of
        the instance in this folder, as a fraction of F.

    Raises:
        DataError: The folder holds no run, or one cannot be read, or the table not be written.
    """
    with reading(folder.parts):
        rows = spark.createDataFrame([_row_of_failure(each) for each in failed], COLUMNS)
        if folder.finished():
            rows = rows.unionByName(spark.read.schema(COLUMNS).parquet(spark_path(folder.parts)))
        elif not failed:
            raise DataError(f"{folder.parts}: no run is finished")
        best = F.min("objective").over(Window.partitionBy("instance"))
        above = F.greatest(F.col("objective") - F.col("best"), F.lit(0.0))
        gap = F.when(above == 0.0, 0.0).when(F.col("objective") != 0.0, above / F.abs("objective"))
        table = rows.withColumn("best", best).withColumn("gap", gap).drop("best")
        _replace(folder.runs, partial(_save, table))
        return spark.read.parquet(spark_path(folder.runs))


def _save(table: DataFrame, target: Path) -> None:
    table.write.mode("overwrite").parquet(spark_path(target))


def _replace(target: Path, write: Callable[[Path], None]) -> None:
    """Write a folder beside its place and let it take the place of an earlier one."""
    try:
        scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        try:
            write(scratch / "new")
            if target.exists():
                target.rename(scratch / "old")
            (scratch / "new").rename(target)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as error:
        raise MachineError(f"{target}: cannot be written: {error.strerror}") from error


def _row_of_failure(failed: Finished) -> tuple[Any, ...]:
    run = failed.run
    row = dict.fromkeys(SCHEMA.names) | {"instance": run.instance, "strategy": run.strategy, "seed": run.seed}
    return tuple((row | {"status": FAILED, "reason": failed.failure}).values())
