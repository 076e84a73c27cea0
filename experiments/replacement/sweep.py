"""All simulated runs of a report on Spark, one task per run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from experiments.replacement.day import Day, day, days
from experiments.replacement.simulation import RULES, Outcome, RuleName, Setting, simulate
from experiments.replacement.steadiness import SHOWN, Calm, Followed, calm, followed
from experiments.spark_tasks import run_tasks

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession


_LOADS = (
    Setting("static", noisy=False),
    Setting("static", noisy=False, form="square"),
    Setting("static", noisy=False, loses=False),
    # the paper's mean rate, at which its slowest operator is never done
    Setting("static", noisy=False, rate=1.0),
)
_LOAD_RULES: tuple[RuleName, ...] = ("static", "ours")
_WRONG_DAYS = 3
_CALM_RULES: tuple[RuleName, ...] = ("paper", "ours")


@dataclass(frozen=True)
class Extent:
    """How much is simulated.

    Attributes:
        seeds: Runs of each rule in each setting (>= 1).
        calm_runs: Runs of each rule without a real change, 13 cycles each (>= 1).
        changes: Random real changes of each kind (>= 1).
        first_seed: Smallest seed (>= 0); that of the default was not used to choose the rule.
    """

    seeds: int = 20
    calm_runs: int = 250
    changes: int = 250
    first_seed: int = 5000


@dataclass(frozen=True)
class Sweep:
    """What came of all runs.

    Attributes:
        outcomes: Runs of scenarios, in the order of their settings.
        calm: Runs in which nothing real changes.
        followed: Runs in which something does.
        days: Runs of a day in which something is announced and forecast.
    """

    outcomes: tuple[Outcome, ...]
    calm: tuple[Calm, ...]
    followed: tuple[Followed, ...]
    days: tuple[Day, ...]


def settings_of(extent: Extent) -> list[Setting]:
    """Return the settings: both scenarios with equal weights, and the first by the response time alone."""
    seeds = range(extent.first_seed, extent.first_seed + extent.seeds)
    return [
        *(Setting(rule, scenario="table-2", seed=seed) for rule, seed in product(RULES, seeds)),
        *(Setting(rule, seed=seed) for rule, seed in product(RULES, seeds)),
        *(Setting(rule, weights="response", seed=seed) for rule, seed in product(RULES, seeds)),
        *(replace(load, rule=rule, seed=extent.first_seed) for load, rule in product(_LOADS, _LOAD_RULES)),
    ]


def run_sweep(
    spark: SparkSession, extent: Extent, report: Callable[[int, int], None] = lambda _done, _all: None
) -> Sweep:
    """Carry out all runs.

    Args:
        spark: Session.
        extent: How much.
        report: Gets, about twice a second, how many of how many tasks are done.

    Raises:
        MachineError: Spark ended a run.
    """
    seeds = range(extent.first_seed, extent.first_seed + extent.calm_runs)
    tasks: list[Callable[[], Any]] = [
        *(partial(simulate, setting) for setting in settings_of(extent)),
        *(partial(day, rule, seed) for rule, seed in days(_WRONG_DAYS)),
        *(partial(calm, rule, seed) for rule, seed in product(_CALM_RULES, seeds)),
        *(
            partial(followed, shown, extent.first_seed + number)
            for shown, number in product(SHOWN, range(extent.changes))
        ),
    ]
    done = run_tasks(spark, "simulated re-placement", tasks, report)
    return Sweep(
        tuple(each for each in done if isinstance(each, Outcome)),
        tuple(each for each in done if isinstance(each, Calm)),
        tuple(each for each in done if isinstance(each, Followed)),
        tuple(each for each in done if isinstance(each, Day)),
    )
