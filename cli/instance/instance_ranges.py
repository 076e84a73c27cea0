"""The command `instance ranges`: an instance with the optimum and anti-optimum of each metric as ranges."""

from __future__ import annotations

import math
import os
import time
from dataclasses import replace
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS, Interrupt, ends_at_once
from cli.solve.solve_input import read_problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.contract.strategy import Progress
    from scheduler.model.problem import Problem
    from scheduler.optimal_ranges import End, MetricRange

INFEASIBLE_STATUS = 3


def ranges(
    file: Annotated[Path, typer.Argument(help="Instance file (JSON).", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "--out", help="File to write.", show_default=False)],
    time_limit: Annotated[
        float, typer.Option(help="Seconds for all ends together; one not proved by then is a bound.")
    ] = 120.0,
    seed: Annotated[int, typer.Option(help="Seed of the searches' random choices.", min=0)] = 0,
    force: Annotated[bool, typer.Option(help="Replace the file to write if it exists.")] = False,
) -> None:
    """Write an instance with the optimum and anti-optimum of every metric as its ranges.

    Each end is an exact solution for one metric alone. Ranges that the instance has are not looked at.

    Exit status: 0 written, 2 bad input, 3 infeasible, 130 ended by Ctrl-C; but for 0 nothing is written.
    """
    if not 0 < time_limit < math.inf:
        raise UserError(f"--time-limit: expected a number of seconds > 0, got {time_limit:g}")
    if output.exists() and not force:
        raise UserError(f"{output}: exists already; --force replaces it")
    if output.is_dir():
        raise UserError(f"{output}: Is a directory")
    if not output.parent.is_dir():
        raise UserError(f"{output}: No such file or directory")
    try:
        with ends_at_once():
            problem = read_problem(file)
        found, interrupted = _found(problem, file, seed, time_limit)
    except KeyboardInterrupt:
        interrupted = True
    if interrupted:
        raise UserError("interrupted: nothing was written", status=INTERRUPTED_STATUS)
    _write(output, problem, found)
    _print(found)


def _found(
    problem: Problem, file: Path, seed: int, time_limit_s: float
) -> tuple[Mapping[str, MetricRange], bool]:
    """Return the ranges, and whether Ctrl-C ended the search for them."""
    # numpy loads only when something is solved, so that other commands start at once
    import numpy as np  # noqa: PLC0415

    from bridge.children.processes import ChildProcesses  # noqa: PLC0415
    from bridge.children.time_limit import TimeLimit  # noqa: PLC0415
    from cli.progress import StepProgress  # noqa: PLC0415
    from scheduler.base.deadline import Deadline  # noqa: PLC0415
    from scheduler.contract.strategy import Context  # noqa: PLC0415
    from scheduler.optimal_ranges import NoPlacementError, open_ends, optimal_ranges  # noqa: PLC0415

    with (
        Interrupt() as interrupt,
        ChildProcesses() as children,
        StepProgress(len(open_ends(problem))) as progress,
    ):

        def show(metric: str, end: End) -> None:
            progress.step(f"{metric}: {end}")

        def report(latest: Progress) -> None:
            bound = "" if latest.bound is None else f", bound {latest.bound:.6f}"
            progress.detail(f"F {latest.objective:.6f}{bound} by {latest.source}")

        limit = TimeLimit(Deadline(interrupt.clock, time.monotonic() + time_limit_s), children)
        context = Context(np.random.default_rng(seed), limit.deadline, limit.children, report)
        try:
            return optimal_ranges(problem, context, show), interrupt.happened
        except NoPlacementError as error:
            raise UserError(f"{file}: infeasible: {error}", status=INFEASIBLE_STATUS) from None


def _write(output: Path, problem: Problem, found: Mapping[str, MetricRange]) -> None:
    """Write all or nothing; numbers as they are, since the ranges are those of these numbers."""
    from experiments.instance_text import instance_text  # noqa: PLC0415  # see _found
    from scheduler.instances.writing import to_document  # noqa: PLC0415
    from scheduler.model.objective import Objective  # noqa: PLC0415

    kept = {metric: each for metric, each in problem.objective.ranges.items() if metric not in found}
    given = kept | {metric: each.range for metric, each in found.items() if each.range is not None}
    ranged = replace(problem, objective=Objective(problem.objective.weights, given))
    beside = output.with_name(f"{output.name}.partial-{os.getpid()}")
    try:
        beside.write_text(instance_text(to_document(ranged), decimals={}), encoding="utf-8")
        beside.replace(output)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise UserError(f"{output}: {error.strerror}") from None


def _print(found: Mapping[str, MetricRange]) -> None:
    from rich.console import Console  # noqa: PLC0415  # not needed by other commands
    from rich.table import Table  # noqa: PLC0415

    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415  # see _found

    table = Table("metric", "best", "", "worst", "", title="Ranges")
    for name, each in found.items():
        metric = METRICS[name]
        low = (f"{each.low:.6g} {metric.unit}".strip(), "proved" if each.low_proved else "bound")
        high = (f"{each.high:.6g} {metric.unit}".strip(), "proved" if each.high_proved else "bound")
        if each.range is None:
            table.add_row(name, *low, "the same", "no range")
        else:
            best, worst = (high, low) if metric.statement.higher_is_better else (low, high)
            table.add_row(name, *best, *worst)
    Console().print(table)
