"""One run of a sweep, as an executor does it: solve, and leave the result as a whole file or none."""

from __future__ import annotations

import json
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

    from experiments.sweep.sweep_plan import Run
    from scheduler.contract.result import Result

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
        # only a time limit needs solvers where they can be killed
        with nullcontext(INLINE) if time_limit_s is None else ChildProcesses() as children:
            began = time.monotonic()
            result = solve(problem, run.strategy, run.seed, time_limit_s, children)
            seconds = time.monotonic() - began
        write_parquet(pa.Table.from_pylist([_row(run, result, seconds)], schema=SCHEMA), parts / run.part, [])
    except Exception as error:  # noqa: BLE001  # one fault must not end a sweep of many hours
        return Finished(run, " ".join(f"{type(error).__name__}: {error}".split()))
    return Finished(run, None)


def _row(run: Run, result: Result, seconds: float) -> dict[str, Any]:
    """Return a result as a row of `SCHEMA`."""
    key = {"instance": run.instance, "strategy": run.strategy, "seed": run.seed}
    return {**key, **figures(result), "seconds": seconds}
