"""How much faster a sweep is on two cores than on one: the same runs at local[1] and local[2].

    python -m benchmarks.sweep_speedup [--repetitions 3]

The runs end by the work done, not by the clock, so that both masters do the same. Each session first does a
few small runs, so that its workers are there and have loaded what they need; then the clock starts. Ends
with status 1 if the answers differ or the median speed-up is below 1.7.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.library import FOLDER
from experiments.machine import provenance
from experiments.sweep.distribute import run_missing, write_runs
from experiments.sweep.sweep_folder import SweepFolder
from experiments.sweep.sweep_plan import Instance, SweepPlan
from replay.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTANCES = ("paper-sequential-64-equal", "geographic-layered-30x60-R")
STRATEGIES = ("ils", "tabu-search")
SEEDS = tuple(range(5))
TARGET = 1.7

Answers = list[tuple[str, str, int, float]]


def timed(master: str) -> tuple[float, Answers]:
    """Return the seconds that the sweep takes once the session and its workers are up, and its answers."""
    instances = tuple(Instance(name, (FOLDER / f"{name}.json").read_text("utf-8")) for name in INSTANCES)
    with spark_session(master) as spark, tempfile.TemporaryDirectory() as scratch:
        _sweep(spark, SweepPlan(instances, ("local-search",), SEEDS, None), Path(scratch) / "warm")
        began = time.monotonic()
        answers = _sweep(spark, SweepPlan(instances, STRATEGIES, SEEDS, None), Path(scratch) / "sweep")
        return time.monotonic() - began, answers


def _sweep(spark: SparkSession, plan: SweepPlan, out: Path) -> Answers:
    folder = SweepFolder(out)
    folder.open(plan)
    failed = run_missing(spark, plan, folder)
    table = write_runs(spark, folder, failed).orderBy("instance", "strategy", "seed")
    return [tuple(row) for row in table.select("instance", "strategy", "seed", "objective").collect()]


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=3, help="pairs of sweeps (default 3)")
    repetitions = parser.parse_args().repetitions
    print(f"{len(INSTANCES) * len(STRATEGIES) * len(SEEDS)} runs; {provenance().line()}")
    print("| local[1], s | local[2], s | times faster |\n| ---: | ---: | ---: |")
    factors = []
    same = True
    for _ in range(repetitions):
        (one_s, one), (two_s, two) = timed("local[1]"), timed("local[2]")
        factors.append(one_s / two_s)
        same = same and one == two
        print(f"| {one_s:.2f} | {two_s:.2f} | {factors[-1]:.2f} |", flush=True)
    median = statistics.median(factors)
    print(f"median {median:.2f} times faster (wanted: {TARGET}); answers {'equal' if same else 'DIFFERENT'}")
    return 0 if same and median >= TARGET else 1


if __name__ == "__main__":
    raise SystemExit(main())
