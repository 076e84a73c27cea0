"""One run of a sweep, as an executor does it: solve, and leave the result as a whole file or none."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa  # type: ignore[import-untyped]  # pyarrow ships no types
import pyarrow.parquet as pq  # type: ignore[import-untyped]  # likewise

from bridge.children.processes import ChildProcesses
from bridge.children.time_limit import TimeLimit
from scheduler.base.deadline import Deadline
from scheduler.contract.children import INLINE
from scheduler.instances.document import parse_instance
from scheduler.plan import plan
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.sweep.sweep_plan import Run
    from scheduler.contract.result import Result
    from scheduler.model.problem import Problem

FAILED = "failed"
METRICS = ("response_time", "availability", "network_usage")
"""Metrics that a part has a column of, in this order."""

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
    ]
)
"""Columns of a part: F, R, A and Z are null without a placement, the bound where none is proved."""


@dataclass(frozen=True)
class Finished:
    """What became of a run.

    Attributes:
        run: The run.
        failure: Why there is no result, in one sentence; None if there is one.
    """

    run: Run
    failure: str | None


def carry_out(run: Run, texts: Mapping[str, str], time_limit_s: float | None, parts: Path) -> Finished:
    """Solve one run and write its part.

    Args:
        run: What to solve.
        texts: Instance documents as JSON, by digest.
        time_limit_s: Seconds for the search; None: it ends by itself.
        parts: Folder of the parts, the same for all executors.
    """
    try:
        problem = parse_instance(json.loads(texts[run.digest]))
        began = time.monotonic()
        result = _solve(problem, run, time_limit_s)
        seconds = time.monotonic() - began
        _write(parts / run.part, row(run, result, seconds))
    except Exception as error:  # noqa: BLE001  # one fault must not end a sweep of many hours
        return Finished(run, " ".join(f"{type(error).__name__}: {error}".split()))
    return Finished(run, None)


def _solve(problem: Problem, run: Run, time_limit_s: float | None) -> Result:
    """Plan as the command `solve` does: with a time limit, solvers run where they can be killed."""
    entry = STRATEGIES[run.strategy]
    parameters = entry.parameters()
    if time_limit_s is not None or entry.ends_with_proof:
        parameters = entry.until_deadline(parameters)
    if time_limit_s is None:
        return plan(problem, run.strategy, parameters, run.seed, children=INLINE)
    with ChildProcesses() as children:
        limit = TimeLimit(Deadline(time.monotonic, time.monotonic() + time_limit_s), children)
        return plan(problem, run.strategy, parameters, run.seed, limit.deadline, children=limit.children)


def row(run: Run, result: Result, seconds: float) -> dict[str, Any]:
    """Return a result as a row of `SCHEMA`."""
    worth = result.evaluation
    metrics: tuple[float | None, ...] = (None,) * (1 + len(METRICS))
    if worth is not None:
        metrics = (worth.objective, *(worth.values[name] for name in METRICS))
    values = (
        *(run.instance, run.strategy, run.seed, result.status),
        *(_number(metric) for metric in (*metrics, result.bound)),
        *(seconds, result.reason),
    )
    return dict(zip(SCHEMA.names, values, strict=True))


def _number(value: float | None) -> float | None:
    """Return a number that Parquet and JSON readers take alike: no infinity where nothing is known."""
    return None if value is None or not math.isfinite(value) else float(value)


def _write(path: Path, content: dict[str, Any]) -> None:
    """Write a part beside its place and rename it: who is killed meanwhile leaves no part of that name."""
    scratch = path.with_name(f".{path.name}-{os.getpid()}")
    pq.write_table(pa.Table.from_pylist([content], schema=SCHEMA), scratch)
    scratch.replace(path)
