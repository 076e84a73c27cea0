"""All runs of the evaluation of paper 003 on Spark, one task per run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from experiments.elasticity.asked import Asked
from experiments.elasticity.scenario_file import read_scenario
from experiments.elasticity.simulation import simulate
from experiments.spark_tasks import run_tasks
from scheduler.elasticity.leasing.observation import QueueReading

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from experiments.elasticity.outcome import Outcome

PAPER_003 = Path(__file__).parent / "scenarios" / "paper-003.toml"
LOADS = ("stepwise", "two-level", "walk-1", "walk-2")
"""The paper's four patterns, by their names in the scenario."""
OFFERS = ("10-minutes", "30-minutes", "60-minutes")
THRESHOLD, BTU, RELEASED, SIZED = "threshold", "btu", "btu-released", "sized"
POLICIES = (THRESHOLD, BTU, RELEASED, SIZED)
"""The baseline; the paper's policy as it is described, and as its authors' program has it; and ours."""
READINGS: tuple[QueueReading, ...] = get_args(QueueReading)


@dataclass(frozen=True)
class Run:
    """A run.

    Attributes:
        asked: What was run.
        reading: What counts as queued.
        outcome: What came of it.
    """

    asked: Asked
    reading: QueueReading
    outcome: Outcome


def runs_of(seeds: int) -> list[tuple[Asked, QueueReading]]:
    """Return all runs of so many seeds: every policy, pattern, billing unit and reading of queues."""
    return [
        (Asked(policy, load, offer, seed, {"queue_reading": reading}), reading)
        for seed, reading, load, offer, policy in product(range(seeds), READINGS, LOADS, OFFERS, POLICIES)
    ]


def run_sweep(
    spark: SparkSession, seeds: int, report: Callable[[int, int], None] = lambda _done, _all: None
) -> tuple[Run, ...]:
    """Carry out all runs.

    Args:
        spark: Session.
        seeds: Runs of each kind.
        report: Gets, about twice a second, how many of how many runs are done.

    Raises:
        MachineError: Spark ended a run.
    """
    scenario, asked = read_scenario(PAPER_003), runs_of(seeds)
    tasks = [partial(simulate, scenario, each) for each, _ in asked]
    outcomes = run_tasks(spark, "simulated elasticity", tasks, report)
    return tuple(
        Run(each, reading, outcome) for (each, reading), outcome in zip(asked, outcomes, strict=True)
    )
