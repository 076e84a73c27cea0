"""What `solve` prints: one JSON object, or tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cli.wording import printable

if TYPE_CHECKING:
    from rich.table import Table

    from scheduler.contract.result import Result
    from scheduler.model.problem import Problem


def document(problem: Problem, result: Result, seconds: float) -> dict[str, Any]:
    """Return the JSON answer; metrics are null if there is no placement."""
    # numpy loads only when something is solved
    from scheduler.instances.document import named_placement  # noqa: PLC0415
    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415

    worth = result.evaluation
    operators = problem.application.operators
    return {
        "placement": None if result.placement is None else named_placement(problem, result.placement),
        "objective": worth and worth.objective,
        **{metric.answer: worth and worth.values[name] for name, metric in METRICS.items()},
        "mean_delay_ms": worth and worth.mean_delay_ms,
        "critical_path": worth and [operators[i].name for i in worth.critical_path],
        "range": {metric: list(limits) for metric, limits in problem.ranges.items()},
        "bound": result.bound,
        "gap": result.gap,
        "status": result.status,
        "reason": result.reason,
        "seconds": seconds,
        "strategy": result.strategy,
        "seed": result.seed,
    }


def print_tables(problem: Problem, result: Result, seconds: float) -> None:
    """Print where every operator goes and what that is worth."""
    from rich.console import Console  # noqa: PLC0415  # not needed with --json

    console = Console()
    console.print(_placement_table(problem, result))
    console.print(_worth_table(problem, result))
    reason = f"{result.status}: {printable(result.reason)}"
    console.print(
        f"{reason} (strategy {result.author}, seed {result.seed}, {seconds:.3f} s)",
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
            table.add_row(*(Text(printable(each)) for each in (operator.name, node.name, node.site or "-")))
    return table


def _worth_table(problem: Problem, result: Result) -> Table:
    from rich.table import Table  # noqa: PLC0415  # not needed with --json

    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415  # see document

    table = Table("metric", "value", "range", "weight", title="Worth")
    worth = result.evaluation
    if worth is not None:
        weights, ranges = problem.objective.weights, problem.ranges
        for name, metric in METRICS.items():
            low, high = ranges[name]
            value = f"{worth.values[name]:.6g} {metric.unit}".strip()
            table.add_row(name, value, f"{low:.6g} .. {high:.6g}", f"{weights[name]:g}")
        table.add_row("mean delay of streams", f"{worth.mean_delay_ms:.6g} ms", "", "tie-break")
        table.add_row("objective F", f"{worth.objective:.6g}", "0 .. 1", "")
        if result.bound is not None:
            table.add_row("bound on F", f"{result.bound:.6g}", "", "")
        if result.gap is not None:
            table.add_row("gap", f"{100 * result.gap:.2f} %", "", "")
    return table
