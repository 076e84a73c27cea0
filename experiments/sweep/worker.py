"""One run of a sweep, as an executor does it: solve, and leave the result as a whole file or none."""

from __future__ import annotations

import json
import math
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types

from bridge.children.processes import ChildProcesses
from experiments.sweep.one_run import figures, solve
from replay.trips.table import write_parquet
from scheduler.contract.children import INLINE
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.sweep.sweep_plan import Run, SweepPlan
    from scheduler.contract.result import Result
    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem

SCHEMA = pa.schema(
    [
        ("instance", pa.string()),
        ("strategy", pa.string()),
        ("seed", pa.int64()),
        ("status", pa.string()),
        ("objective", pa.float64()),
        ("response_time_ms", pa.float64()),
        ("availability", pa.float64()),
        ("network_usage_bytes", pa.float64()),
        ("bound", pa.float64()),
        ("seconds", pa.float64()),
        ("reason", pa.string()),
        ("placement", pa.list_(pa.string())),
        ("better_at_s", pa.list_(pa.float64())),
        ("better_objective", pa.list_(pa.float64())),
    ]
)
"""Columns of a part: F, R, A and Z are null without a placement, the bound where none is proved.

The placement is the node of each operator, in the order of the instance. Better placements on the way to it
are those that the strategy reports: when, and their F.
"""


@dataclass(frozen=True)
class Finished:
    """What became of a run.

    Attributes:
        run: The run.
        failure: Why there is no result, in one sentence; None if there is one.
    """

    run: Run
    failure: str | None


def carry_out(run: Run, texts: Mapping[str, str], plan: SweepPlan, parts: Path) -> Finished:
    """Solve one run and write its part.

    Args:
        run: What to solve.
        texts: Instance documents as JSON, by digest.
        plan: Its sweep: how long the search may take.
        parts: Folder of the parts, the same for all executors.
    """
    try:
        problem = parse_instance(json.loads(texts[run.digest]))
        # only a time limit needs solvers where they can be killed
        with nullcontext(INLINE) if plan.time_limit_s is None else ChildProcesses() as children:
            if isinstance(children, ChildProcesses):
                children.warm_up()
            watch = _Watch()
            result = solve(
                problem,
                run.strategy,
                run.seed,
                plan.time_limit_s,
                children,
                until_deadline=plan.until_deadline,
                report=watch,
            )
            seconds = watch.seconds()
        row = {**_row(run, problem, result), "seconds": seconds, **watch.columns()}
        write_parquet(pa.Table.from_pylist([row], schema=SCHEMA), parts / run.part, [])
    except Exception as error:  # noqa: BLE001  # one fault must not end a sweep of many hours
        return Finished(run, " ".join(f"{type(error).__name__}: {error}".split()))
    return Finished(run, None)


class _Watch:
    """Notes when placements got better."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._better: list[tuple[float, float]] = []

    def __call__(self, progress: Progress, /) -> None:
        if math.isfinite(progress.objective) and (
            not self._better or progress.objective < self._better[-1][1]
        ):
            self._better.append((self.seconds(), progress.objective))

    def seconds(self) -> float:
        """Return the time since the beginning."""
        return time.monotonic() - self._began

    def columns(self) -> dict[str, list[float]]:
        """Return the columns of what got better."""
        return {
            "better_at_s": [seconds for seconds, _ in self._better],
            "better_objective": [objective for _, objective in self._better],
        }


def _row(run: Run, problem: Problem, result: Result) -> dict[str, Any]:
    """Return a result as a row of `SCHEMA`."""
    key = {"instance": run.instance, "strategy": run.strategy, "seed": run.seed}
    nodes = [node.name for node in problem.network.nodes]
    at = None if result.placement is None else [nodes[u] for u in result.placement.tolist()]
    return {**key, **figures(result), "placement": at}
