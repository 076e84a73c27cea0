"""All runs of the evaluations of papers 003 and 004 on Spark, one task per run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from experiments.elasticity.asked import Asked
from experiments.elasticity.layered_run import LayeredRun, layered_run
from experiments.elasticity.outcome import Outcome
from experiments.elasticity.scenario_file import read_scenario
from experiments.elasticity.simulation import simulate
from experiments.spark_tasks import run_tasks
from scheduler.elasticity.leasing.observation import QueueReading

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


_SCENARIOS = Path(__file__).parent / "scenarios"
PAPER_003, PAPER_004 = _SCENARIOS / "paper-003.toml", _SCENARIOS / "paper-004.toml"
LOADS = ("stepwise", "two-level", "walk-1", "walk-2")
"""Paper 003's four patterns, by their names in its scenario."""
OFFERS = ("10-minutes", "30-minutes", "60-minutes")
THRESHOLD, AS_WRITTEN, RELEASED, BTU, SIZED = "threshold", "btu-as-written", "btu-released", "btu", "sized"
POLICIES = (THRESHOLD, AS_WRITTEN, RELEASED, BTU, SIZED)
"""The baseline; the paper's policy as its text has it, as its authors' program has it, and by default; and
ours."""
READINGS: tuple[QueueReading, ...] = get_args(QueueReading)
ROLLING, HINDSIGHT, LEARNED, JOINT, TUNED, PLAIN = (
    "rolling",
    "hindsight",
    "model-based",
    "model-based-joint",
    "threshold-tuned",
    "threshold-layers",
)
LAYERED = (PLAIN, TUNED, LEARNED, JOINT, ROLLING, HINDSIGHT)
"""Compared in paper 004's set-up with many seeds, by their names in its scenario."""
LEARNED_AS_WRITTEN = "model-based-as-written"
BESIDE = (
    "static-peak",
    LEARNED_AS_WRITTEN,
    "model-based-all-repairs",
    "threshold-idle-pool",
    "threshold-both",
    "model-based-idle-pool",
    "model-based-both",
    "rolling-idle-pool",
    "rolling-both",
    SIZED,
    "sized-without-season",
)
"""With few seeds: as the paper has it, operators of each kind beside hosts of each kind, and one decision for
both."""
TAXI_YEAR = "taxi-year"
OTHER_LOADS = ("taxi-minutes", "sinus", *LOADS, "even", "flash", "noisy")
"""Other loads of paper 004's set-up, by their names in its scenario."""
UNDER_OTHER_LOADS = (TUNED, LEARNED, JOINT, ROLLING, HINDSIGHT)
_OTHER_MIN = 8 * 1440.0
"""Of a run under another load, which comes again every day or sooner; the last day counts, min."""


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        seeds: Runs of each kind in paper 003's set-up (>= 0).
        layered_seeds: The same in paper 004's, of three weeks each (>= 1).
        few_seeds: Runs there of each kind that is not compared with many (>= 1).
        layered: Policies there.
        beside: Policies there with few seeds.
        loads: Other loads there, with few seeds.
        patterns: Loads in paper 003's set-up.
    """

    seeds: int = 5
    layered_seeds: int = 20
    few_seeds: int = 2
    layered: tuple[str, ...] = LAYERED
    beside: tuple[str, ...] = BESIDE
    loads: tuple[str, ...] = OTHER_LOADS
    patterns: tuple[str, ...] = LOADS


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
        layered: In paper 004's, with many seeds.
        counted_days: Of the latter, days that count.
        beside: In paper 004's, with few seeds.
        other_loads: The same under other loads; one day counts.
    """

    leased: dict[QueueReading, tuple[Run, ...]]
    layered: tuple[LayeredRun, ...]
    counted_days: float
    beside: tuple[LayeredRun, ...] = ()
    other_loads: tuple[LayeredRun, ...] = ()


def leased_runs(seeds: int, reading: QueueReading, patterns: tuple[str, ...] = LOADS) -> list[Asked]:
    """Return all runs in paper 003's set-up: every policy, pattern and billing unit."""
    return [
        Asked(policy, load, offer, seed, {"queue_reading": reading})
        for seed, load, offer, policy in product(range(seeds), patterns, OFFERS, POLICIES)
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
    shorter = layered.model_copy(update={"duration_min": _OTHER_MIN, "counted_from_min": _OTHER_MIN - 1440.0})
    many, few = range(1, extent.layered_seeds + 1), range(1, extent.few_seeds + 1)
    # the long ones first, so that no processor waits for the last of them
    main = [Asked(each, TAXI_YEAR, "small", seed) for seed, each in product(many, extent.layered)]
    beside = [Asked(each, TAXI_YEAR, "small", seed) for seed, each in product(few, extent.beside)]
    others = [
        Asked(policy, load, "small", seed)
        for load, policy, seed in product(extent.loads, UNDER_OTHER_LOADS, few)
    ]
    tasks: list[Callable[[], LayeredRun | Outcome]] = []
    tasks += [partial(layered_run, layered, each) for each in (*main, *beside)]
    tasks += [partial(layered_run, shorter, each) for each in others]
    asked = [each for reading in READINGS for each in leased_runs(extent.seeds, reading, extent.patterns)]
    tasks += [partial(simulate, leased, each) for each in asked]
    found = run_tasks(spark, "simulated elasticity", tasks, report)
    in_layers = [each for each in found if isinstance(each, LayeredRun)]
    outcomes = [each for each in found if isinstance(each, Outcome)]
    runs = [Run(each, outcome) for each, outcome in zip(asked, outcomes, strict=True)]
    first, second = len(main), len(main) + len(beside)
    return Sweep(
        {
            reading: tuple(r for r in runs if r.asked.parameters["queue_reading"] == reading)
            for reading in READINGS
        },
        tuple(in_layers[:first]),
        (layered.duration_min - layered.counted_from_min) / 1440.0,
        tuple(in_layers[first:second]),
        tuple(in_layers[second:]),
    )
