"""What a sweep came to, by strategy and by instance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documents use

from experiments.sweep.one_run import FAILED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True)
class StrategySummary:
    """The runs of one strategy over all instances and seeds.

    Attributes:
        strategy: Its name.
        runs: Runs.
        optimal: Those proved optimal.
        infeasible: Those without a placement.
        failed: Those that broke down.
        best: Those that reached the best F known of their instance.
        mean_gap: Mean distance from the best F, as a fraction of F; None where nothing was placed.
        worst_gap: The greatest such distance, None likewise.
        median_s: Median seconds of a run, None if all failed.
    """

    strategy: str
    runs: int
    optimal: int
    infeasible: int
    failed: int
    best: int
    mean_gap: float | None
    worst_gap: float | None
    median_s: float | None


@dataclass(frozen=True)
class InstanceSummary:
    """The runs on one instance.

    Attributes:
        instance: Its name.
        runs: Runs.
        best: The least F found, None if nothing was placed.
        bound: The highest bound proved on it, None if none was.
        strategies: Names of those that found the best.
        worst: The greatest F found, None likewise.
    """

    instance: str
    runs: int
    best: float | None
    bound: float | None
    strategies: tuple[str, ...]
    worst: float | None


BEST_GAP = 1e-9
"""F this close to the best, as a fraction, is the best: what else differs is the order of additions."""


def by_strategy(table: DataFrame) -> list[StrategySummary]:
    """Sum up the table of all runs by strategy, the least mean gap first.

    Args:
        table: As `experiments.sweep.distribute.write_runs` returns it.
    """

    def count(condition: str) -> Column:
        return F.count_if(F.expr(condition))

    found = (
        table.groupBy("strategy")
        .agg(
            F.count("*").alias("runs"),
            count("status = 'optimal'").alias("optimal"),
            count("status = 'infeasible'").alias("infeasible"),
            count(f"status = '{FAILED}'").alias("failed"),
            count(f"gap <= {BEST_GAP}").alias("best"),
            F.avg("gap").alias("mean_gap"),
            F.max("gap").alias("worst_gap"),
            F.median("seconds").alias("median_s"),
        )
        .orderBy(F.asc_nulls_last("mean_gap"), "strategy")
    )
    return [StrategySummary(**row.asDict()) for row in found.collect()]


def by_instance(table: DataFrame) -> list[InstanceSummary]:
    """Sum up the table of all runs by instance, in the order of their names."""
    winner = F.when(F.col("gap") <= BEST_GAP, F.col("strategy"))
    found = (
        table.groupBy("instance")
        .agg(
            F.count("*").alias("runs"),
            F.min("objective").alias("best"),
            F.max("bound").alias("bound"),
            F.sort_array(F.collect_set(winner)).alias("strategies"),
            F.max("objective").alias("worst"),
        )
        .orderBy("instance")
    )
    return [
        InstanceSummary(**{**row.asDict(), "strategies": tuple(row["strategies"])}) for row in found.collect()
    ]
