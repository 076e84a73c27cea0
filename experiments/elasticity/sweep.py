"""All runs of the evaluations of papers 003 and 004 on Spark, one task per run."""

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

_SCENARIOS = Path(__file__).parent / "scenarios"
PAPER_003, PAPER_004 = _SCENARIOS / "paper-003.toml", _SCENARIOS / "paper-004.toml"
LOADS = ("stepwise", "two-level", "walk-1", "walk-2")
"""Paper 003's four patterns, by their names in its scenario."""
OFFERS = ("10-minutes", "30-minutes", "60-minutes")
THRESHOLD, BTU, RELEASED, SIZED = "threshold", "btu", "btu-released", "sized"
POLICIES = (THRESHOLD, BTU, RELEASED, SIZED)
"""The baseline; the paper's policy as it is described, and as its authors' program has it; and ours."""
READINGS: tuple[QueueReading, ...] = get_args(QueueReading)
LAYERED = (
    "static-peak",
    "threshold-layers",
    "threshold-tuned",
    "threshold-idle-pool",
    "model-based-as-written",
    "model-based",
    "model-based-both",
)
"""Of paper 004, by their names in its scenario."""
TAXI_YEAR = "taxi-year"


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        seeds: Runs of each kind in paper 003's set-up (>= 1).
        layered_seeds: The same in paper 004's, of three weeks each (>= 1).
        layered: Policies there.
    """

    seeds: int = 5
    layered_seeds: int = 3
    layered: tuple[str, ...] = LAYERED


@dataclass(frozen=True)
class Run:
    """A run.

    Attributes:
        asked: What was run.
        outcome: What came of it.
    """

    asked: Asked
    outcome: Outcome


@dataclass(frozen=True)
class Sweep:
    """What came of all runs.

    Attributes:
        leased: In paper 003's set-up, by reading of queues.
        layered: In paper 004's.
        counted_days: Of the latter, days that count.
    """

    leased: dict[QueueReading, tuple[Run, ...]]
    layered: tuple[Run, ...]
    counted_days: float


def leased_runs(seeds: int, reading: QueueReading) -> list[Asked]:
    """Return all runs in paper 003's set-up: every policy, pattern and billing unit."""
    return [
        Asked(policy, load, offer, seed, {"queue_reading": reading})
        for seed, load, offer, policy in product(range(seeds), LOADS, OFFERS, POLICIES)
    ]


def run_sweep(
    spark: SparkSession, extent: Extent, report: Callable[[int, int], None] = lambda _done, _all: None
) -> Sweep:
    """Carry out all runs.

    Args:
        spark: Session.
        extent: How much.
        report: Gets, about twice a second, how many of how many runs are done.

    Raises:
        MachineError: Spark ended a run.
    """
    leased, layered = read_scenario(PAPER_003), read_scenario(PAPER_004)
    # the long ones first, so that no processor waits for the last of them
    asked = [
        (layered, Asked(policy, TAXI_YEAR, "small", seed))
        for seed, policy in product(range(1, extent.layered_seeds + 1), extent.layered)
    ]
    longer = len(asked)
    asked += [(leased, each) for reading in READINGS for each in leased_runs(extent.seeds, reading)]
    tasks = [partial(simulate, scenario, each) for scenario, each in asked]
    outcomes = run_tasks(spark, "simulated elasticity", tasks, report)
    runs = [Run(each, outcome) for (_, each), outcome in zip(asked, outcomes, strict=True)]
    return Sweep(
        {
            reading: tuple(r for r in runs[longer:] if r.asked.parameters["queue_reading"] == reading)
            for reading in READINGS
        },
        tuple(runs[:longer]),
        (layered.duration_min - layered.counted_from_min) / 1440.0,
    )
