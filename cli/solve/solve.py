"""The command `solve`: place the operators of an instance file."""

from __future__ import annotations

import json
import math
import time
from dataclasses import replace
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from cli.errors import UserError
from cli.interrupt import INTERRUPTED_STATUS, Interrupt, ends_at_once
from cli.solve.solve_input import file_name, read_problem
from cli.solve.solve_output import document, print_tables
from cli.solve.strategy_parameters import read_parameters

if TYPE_CHECKING:
    from scheduler.contract.result import Result
    from scheduler.contract.strategy import Report, StrategyEntry
    from scheduler.model.problem import Problem

INFEASIBLE_STATUS = 3
CONFLICT_S = 5.0
"""Seconds for finding out which budget contradicts the other constraints."""


class NamingStrategies(TyperCommand):
    """The command, whose help names the strategies: the registry loads numpy, so that no other help waits."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help.

        It shows --strategy as required, though `solve` refuses its absence itself, with the names.

        Args:
            ctx: typer's context; typer keeps its type and the next one private.
            formatter: Of the help.
        """
        from scheduler.registry import STRATEGIES  # noqa: PLC0415

        option = next(each for each in self.params if each.name == "strategy")
        assert isinstance(option, TyperOption)  # noqa: S101 - see solve
        usual = option.required, option.help
        option.required, option.help = True, f"{option.help} One of {', '.join(STRATEGIES)}."
        try:
            super().format_help(ctx, formatter)
        finally:
            option.required, option.help = usual


def solve(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Instance file (JSON); - for standard input.",
            parser=file_name,
            show_default=False,
        ),
    ],
    strategy: Annotated[str | None, typer.Option(help="Name of the strategy.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the strategy's random choices.", min=0)] = 0,
    time_limit: Annotated[
        float | None,
        typer.Option(help="Seconds to use for the best placement, by strategies that gain from time."),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A parameter of the strategy.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Place the operators of an instance file and print the placement with its worth.

    On a terminal a line shows how far the search has come. Ctrl-C, SIGTERM and SIGHUP end it with the best
    placement so far.
    Without --time-limit, odp goes on to the proof, however long it takes; the others end by themselves.

    Exit status: 0 solved, 2 bad input, 3 infeasible, 130 ended by Ctrl-C, SIGTERM or SIGHUP.
    """
    if time_limit is not None and not 0 < time_limit < math.inf:
        raise UserError(f"--time-limit: expected a number of seconds > 0, got {time_limit:g}")
    try:
        with ends_at_once():
            entry = _entry(strategy)
            to_the_end = time_limit is not None or entry.ends_with_proof
            parameters = read_parameters(entry, settings or [], until_deadline=to_the_end)
            problem = read_problem(file)
        result, seconds, interrupted = _solved(problem, entry, parameters, seed, time_limit, show=not as_json)
    except KeyboardInterrupt:
        raise UserError("interrupted", status=INTERRUPTED_STATUS) from None
    if as_json:
        typer.echo(json.dumps(document(problem, result, seconds)))
    elif result.placement is not None:
        print_tables(problem, result, seconds)
    if interrupted:
        what = "no placement was found yet" if result.placement is None else "this is the best one so far"
        raise UserError(f"interrupted: {what}", status=INTERRUPTED_STATUS)
    if result.status == "infeasible":
        raise UserError(f"{file}: infeasible: {result.reason}", status=INFEASIBLE_STATUS)


def _entry(strategy: str | None) -> StrategyEntry[Any]:
    # numpy loads only when something is solved, so that other commands start at once
    from scheduler.registry import STRATEGIES  # noqa: PLC0415

    names = ", ".join(STRATEGIES)
    if strategy is None:
        raise UserError(f"--strategy is missing; the strategies are {names}")
    if strategy not in STRATEGIES:
        raise UserError(f'--strategy: unknown strategy "{strategy}"; the strategies are {names}')
    return STRATEGIES[strategy]


def _solved(
    problem: Problem,
    entry: StrategyEntry[Any],
    parameters: object,
    seed: int,
    time_limit_s: float | None,
    *,
    show: bool,
) -> tuple[Result, float, bool]:
    """Return the result, the seconds that it took, and whether a signal ended the search."""
    import numpy as np  # noqa: PLC0415  # see _entry

    from bridge.children.processes import ChildProcesses  # noqa: PLC0415
    from bridge.children.time_limit import TimeLimit  # noqa: PLC0415
    from cli.solve.solve_live import LiveLine  # noqa: PLC0415
    from scheduler.base.deadline import Deadline  # noqa: PLC0415
    from scheduler.budget_conflict import budget_conflict  # noqa: PLC0415
    from scheduler.contract.strategy import Context, ignore  # noqa: PLC0415
    from scheduler.latency_conflict import latency_conflict  # noqa: PLC0415
    from scheduler.plan import plan  # noqa: PLC0415

    def run(report: Report) -> Result:
        limit = TimeLimit(Deadline(interrupt.clock, end), children)
        found = plan(
            problem, entry.name, parameters, seed, limit.deadline, children=limit.children, report=report
        )
        if found.status != "infeasible":
            return found
        limit = TimeLimit(Deadline(interrupt.clock, min(end, time.monotonic() + CONFLICT_S)), children)
        context = Context(np.random.default_rng(seed), limit.deadline, limit.children, ignore)
        why = budget_conflict(problem, context) or latency_conflict(problem, context)
        return replace(found, reason=why or found.reason)

    with Interrupt(every_ending=True) as interrupt, ChildProcesses() as children:
        if entry.exact:
            # What solvers need loads while greedy works.
            children.warm_up()
        began = time.monotonic()
        end = math.inf if time_limit_s is None else began + time_limit_s
        if show:
            with LiveLine(problem, entry.name, time_limit_s) as line:
                result = run(line.report)
        else:
            result = run(ignore)
        seconds = time.monotonic() - began
    if interrupt.happened:
        result = replace(result, reason=f"interrupted; {result.reason}")
    return result, seconds, interrupt.happened
