"""`data sweep`: instances x strategies x seeds of the decision core on Spark, resumable."""

from __future__ import annotations

import math
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.data.session import DriverMemory, Master, bad_input
from cli.data.sweeping import refuse_failures, swept
from cli.errors import UserError, refused
from cli.interrupt import ends_at_once
from cli.solve.solve_input import read_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Column

    from experiments.sweep.sweep_plan import SweepPlan
    from experiments.sweep.sweep_summary import InstanceSummary, StrategySummary

ALL = "all"
TABLE_WIDTH = 130
"""Columns of the tables where no terminal says how wide it is."""


def sweep(
    instances: Annotated[list[Path], typer.Argument(help="Instance files (JSON).", show_default=False)],
    strategies: Annotated[str, typer.Option(help="Comma-separated names of strategies, or `all`.")],
    out: Annotated[Path, typer.Option(help="Folder of the sweep; a started one goes on.")],
    seeds: Annotated[str, typer.Option(help="Seeds, such as 0-4 or 0,3,7-9.")] = "0",
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds for each run; without it each ends by itself, odp with its proof."),
    ] = None,
    master: Master = "local[*]",
    driver_memory: DriverMemory = "1g",
) -> None:
    """Solve every instance with every strategy and seed, one Spark task per run; results as Parquet.

    Finished runs stay in the folder: the same command goes on after any interruption, and further instances,
    strategies and seeds add to it.

    Exit status: 0 done, 1 a run failed, 2 bad input, 130 ended by Ctrl-C.
    """
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise UserError(f"--time-limit: expected a number of seconds > 0, got {time_limit:g}")
    with ends_at_once():
        from experiments.sweep.sweep_folder import SweepFolder  # noqa: PLC0415  # Spark loads slowly
        from experiments.sweep.sweep_summary import by_instance, by_strategy  # noqa: PLC0415  # likewise

        with bad_input():
            plan = _plan(instances, strategies, seeds, time_limit)
    failed, kept, summaries = swept(
        plan, out, master, driver_memory, lambda table: (by_strategy(table), by_instance(table))
    )
    _print(*summaries)
    done = len(plan.runs()) - kept - len(failed)
    typer.echo(f"{done} runs done now, {kept} kept; all runs: {SweepFolder(out).runs}")
    refuse_failures(failed)


def _plan(instances: Sequence[Path], strategies: str, seeds: str, time_limit_s: float | None) -> SweepPlan:
    """Read what is to be run; instances are parsed here, so that none is refused in the middle."""
    from experiments.sweep.sweep_plan import Instance, SweepPlan, read_seeds  # noqa: PLC0415  # numpy loads slowly

    with refused(ValueError, by="--seeds"):
        numbers = read_seeds(seeds)
    read = []
    for file in instances:
        read_problem(file)
        read.append(Instance(file.stem, file.read_text(encoding="utf-8")))
    return SweepPlan(tuple(read), _strategies(strategies), numbers, time_limit_s)


def _strategies(text: str) -> tuple[str, ...]:
    from scheduler.registry import STRATEGIES, anywhere  # noqa: PLC0415  # numpy loads slowly

    if text == ALL:
        return anywhere()
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in STRATEGIES:
            raise UserError(
                f'--strategies: unknown strategy "{name}"; the strategies are {", ".join(STRATEGIES)}'
            )
    return names


def _print(strategies: Sequence[StrategySummary], instances: Sequence[InstanceSummary]) -> None:
    from rich.console import Console  # noqa: PLC0415  # not needed by the other commands
    from rich.table import Table  # noqa: PLC0415  # likewise

    console = Console()
    if not console.is_terminal:
        console = Console(width=TABLE_WIDTH)
    table = Table("strategy", *_right("runs", "best found", "proved", "none", "failed"), title="By strategy")
    for name in ("mean gap", "worst gap", "median s"):
        table.add_column(name, justify="right")
    for each in strategies:
        counts = (each.runs, each.best, each.optimal, each.infeasible, each.failed)
        median = "-" if each.median_s is None else f"{each.median_s:.3f}"
        table.add_row(
            each.strategy,
            *(str(count) for count in counts),
            _percent(each.mean_gap),
            _percent(each.worst_gap),
            median,
        )
    console.print(table)
    table = Table(
        "instance", *_right("runs", "best F", "bound", "worst F"), "best found by", title="By instance"
    )
    for one in instances:
        found_by = (
            ", ".join(one.strategies) if len(one.strategies) < 4 else f"{len(one.strategies)} strategies"
        )
        table.add_row(
            one.instance, str(one.runs), _f(one.best), _f(one.bound), _f(one.worst), found_by or "-"
        )
    console.print(table)


def _right(*names: str) -> list[Column]:
    from rich.table import Column  # noqa: PLC0415  # as above

    return [Column(name, justify="right") for name in names]


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.2f} %"


def _f(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
