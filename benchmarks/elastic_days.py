"""How long simulated days of four components take: one day of each policy, and many days on Spark.

    python -m benchmarks.elastic_days [--seeds 20]

A day of paper 004's set-up under the taxis' load. The first day of each policy is timed after a short run, so
that what it needs is loaded. Then each policy has ten days with each seed, 1,000 days in all by default, on
two cores. Ends with status 1 if a day takes a second or more, or a thousand days take eight minutes or more.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from experiments.elasticity.asked import Asked
from experiments.elasticity.scenario_file import read_scenario
from experiments.elasticity.simulation import simulate
from experiments.elasticity.sweep import JOINT, LEARNED, PAPER_004, PLAIN, ROLLING, SIZED, TAXI_YEAR
from experiments.machine import provenance
from experiments.spark_tasks import run_tasks
from replay.session import spark_session

if TYPE_CHECKING:
    from experiments.elasticity.scenario import Scenario

POLICIES = (PLAIN, LEARNED, JOINT, ROLLING, SIZED)
DAYS = 10
DAY_MIN = 1440.0
DAY_TARGET_S = 1.0
THOUSAND_TARGET_S = 480.0


def lasting(scenario: Scenario, minutes: float) -> Scenario:
    """Return a scenario of another length, of which everything counts."""
    return scenario.model_copy(update={"duration_min": minutes, "counted_from_min": 0.0})


def day_s(scenario: Scenario, policy: str) -> float:
    """Return the seconds that a policy's first day takes."""
    asked = Asked(policy, TAXI_YEAR, "small", seed=1)
    simulate(lasting(scenario, DAY_MIN / 24), asked)
    began_s = time.perf_counter()
    simulate(lasting(scenario, DAY_MIN), asked)
    return time.perf_counter() - began_s


def many_days_s(scenario: Scenario, seeds: int) -> float:
    """Return the seconds that all policies take on Spark with so many seeds, once its workers are up."""
    longer = lasting(scenario, DAYS * DAY_MIN)
    runs = [
        Asked(policy, TAXI_YEAR, "small", seed) for seed, policy in product(range(1, seeds + 1), POLICIES)
    ]
    with spark_session("local[2]") as spark:
        short = lasting(scenario, DAY_MIN / 24)
        run_tasks(spark, "warming up", [partial(simulate, short, each) for each in runs[:2]])
        began_s = time.perf_counter()
        run_tasks(spark, "simulated days", [partial(simulate, longer, each) for each in runs])
        return time.perf_counter() - began_s


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="of each policy on Spark (default 20)")
    seeds = parser.parse_args().seeds
    scenario = read_scenario(PAPER_004)
    print(provenance().line())
    print("| policy | first day, s |\n| --- | ---: |")
    slowest_s = 0.0
    for policy in POLICIES:
        took_s = day_s(scenario, policy)
        slowest_s = max(slowest_s, took_s)
        print(f"| {policy} | {took_s:.2f} |", flush=True)
    days = len(POLICIES) * seeds * DAYS
    took_s = many_days_s(scenario, seeds)
    thousand_s = took_s * 1000.0 / days
    print(f"{days} days on two cores: {took_s / 60:.1f} min; a thousand: {thousand_s / 60:.1f} min")
    return 0 if slowest_s < DAY_TARGET_S and thousand_s < THOUSAND_TARGET_S else 1


if __name__ == "__main__":
    raise SystemExit(main())
