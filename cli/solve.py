"""The command `solve`: place the operators of an instance file."""

from __future__ import annotations

import json
import time
from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.errors import UserError

if TYPE_CHECKING:
    from rich.table import Table

    from scheduler.problem import Problem
    from scheduler.result import Result

INFEASIBLE_STATUS = 3


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(solve)


def solve(
    file: Annotated[Path, typer.Argument(help="Instance file (JSON).", show_default=False)],
    strategy: Annotated[str | None, typer.Option(help="Name of the strategy.", show_default=False)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the strategy's random choices.", min=0)] = 0,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which the best placement so far counts.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Place the operators of an instance file and print the placement with its worth.

    Exit status: 0 solved, 2 bad input, 3 infeasible.
    """
    # numpy loads only when something is solved, so that other commands start at once
    from scheduler.checks import ModelError  # noqa: PLC0415
    from scheduler.deadline import Deadline  # noqa: PLC0415
    from scheduler.instance import parse_instance  # noqa: PLC0415
    from scheduler.plan import plan  # noqa: PLC0415
    from scheduler.registry import STRATEGIES  # noqa: PLC0415

    names = ", ".join(STRATEGIES)
    if strategy is None:
        raise UserError(f"--strategy is missing; the strategies are {names}")
    if strategy not in STRATEGIES:
        raise UserError(f'--strategy: unknown strategy "{strategy}"; the strategies are {names}')
    if time_limit is not None and not 0 < time_limit < float("inf"):
        raise UserError(f"--time-limit: expected a number of seconds > 0, got {time_limit:g}")
    try:
        problem = parse_instance(_read(file))
    except ModelError as error:
        raise UserError(f"{file}: {error}") from None
    started = time.monotonic()
    deadline = Deadline.none() if time_limit is None else Deadline(time.monotonic, started + time_limit)
    result = plan(problem, strategy, seed=seed, deadline=deadline)
    seconds = time.monotonic() - started
    if as_json:
        typer.echo(json.dumps(_document(problem, result, seconds)))
    elif result.placement is not None:
        _print_tables(problem, result, seconds)
    if result.status == "infeasible":
        raise UserError(f"{file}: infeasible: {result.reason}", status=INFEASIBLE_STATUS)


def _read(file: Path) -> object:
    """Return the parsed JSON of a file.

    Raises:
        UserError: The file cannot be read or is no JSON; an object with a key given twice is none.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: not a UTF-8 text (byte {error.start})") from None

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if key in seen:
                raise UserError(f'{file}: the key "{key}" is given twice in one object')
            seen[key] = value
        return seen

    try:
        return json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise UserError(
            f"{file}: not JSON: {error.msg} (line {error.lineno}, column {error.colno})"
        ) from None
    except RecursionError:
        raise UserError(f"{file}: objects are nested too deeply") from None
    except ValueError as error:  # an integer with thousands of digits
        raise UserError(f"{file}: not JSON: {error}") from None


def _document(problem: Problem, result: Result, seconds: float) -> dict[str, Any]:
    """Return the JSON answer; metrics are null if there is no placement."""
    from scheduler.instance import named_placement  # noqa: PLC0415  # see solve

    worth = result.evaluation
    operators = problem.application.operators
    return {
        "placement": None if result.placement is None else named_placement(problem, result.placement),
        "objective": worth and worth.objective,
        "response_time_ms": worth and worth.response_time_ms,
        "availability": worth and worth.availability,
        "network_usage_bytes": worth and worth.network_usage_bytes,
        "mean_delay_ms": worth and worth.mean_delay_ms,
        "critical_path": worth and [operators[i].name for i in worth.critical_path],
        "range": {metric: list(limits) for metric, limits in problem.ranges.items()},
        "bound": result.bound,
        "status": result.status,
        "reason": result.reason,
        "seconds": seconds,
        "strategy": result.strategy,
        "seed": result.seed,
    }


def _print_tables(problem: Problem, result: Result, seconds: float) -> None:
    from rich.console import Console  # noqa: PLC0415  # not needed with --json

    console = Console()
    console.print(_placement_table(problem, result))
    console.print(_worth_table(problem, result))
    console.print(
        f"{result.status}: {result.reason} (strategy {result.strategy}, seed {result.seed}, {seconds:.3f} s)",
        highlight=False,
        markup=False,
    )


def _placement_table(problem: Problem, result: Result) -> Table:
    from rich.table import Table  # noqa: PLC0415  # not needed with --json
    from rich.text import Text  # noqa: PLC0415

    table = Table("operator", "node", "site", title="Placement")
    if result.placement is not None:
        for operator, u in zip(problem.application.operators, result.placement, strict=True):
            node = problem.network.nodes[u]
            table.add_row(Text(operator.name), Text(node.name), Text(node.site or "-"))
    return table


def _worth_table(problem: Problem, result: Result) -> Table:
    from rich.table import Table  # noqa: PLC0415  # not needed with --json

    table = Table("metric", "value", "range", "weight", title="Worth")
    worth = result.evaluation
    if worth is not None:
        weights, ranges = problem.objective.weights, problem.ranges
        values = {
            "response_time": (worth.response_time_ms, "ms"),
            "availability": (worth.availability, ""),
            "network_usage": (worth.network_usage_bytes, "bytes"),
        }
        for metric, (value, unit) in values.items():
            low, high = ranges[metric]
            limits = f"{low:.6g} .. {high:.6g}"
            table.add_row(metric, f"{value:.6g} {unit}", limits, f"{weights[metric]:g}")
        table.add_row("mean delay of streams", f"{worth.mean_delay_ms:.6g} ms", "", "tie-break")
        table.add_row("objective F", f"{worth.objective:.6g}", "0 .. 1", "")
        if result.bound is not None:
            table.add_row("bound on F", f"{result.bound:.6g}", "", "")
    return table
