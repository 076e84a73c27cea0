"""What `solve` prints: one JSON object, or tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cli.wording import printable

if TYPE_CHECKING:
    from rich.table import Table

    from scheduler.contract.result import Result
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem
    from scheduler.moving.prices import Stay

MOST_NOTES = 5
"""Nodes of which capacities that may be misspelt are noted."""


def document(problem: Problem, result: Result, seconds: float) -> dict[str, Any]:
    """Return the JSON answer; metrics are null if there is no placement."""
    # numpy loads only when something is solved
    from scheduler.instances.writing import named_placement  # noqa: PLC0415
    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415

    worth = result.evaluation
    operators = problem.application.operators
    return {
        "placement": None if result.placement is None else named_placement(problem, result.placement),
        "objective": worth and worth.objective,
        **{metric.answer: worth and worth.values[name] for name, metric in METRICS.items()},
        "total_cost": worth and _total_cost(problem, worth),
        **_graphs(problem, result),
        "mean_delay_ms": worth and worth.mean_delay_ms,
        "moves": _moves(problem, result),
        "loading_s": _loading(problem, result),
        "stay": _stay(problem),
        "exceeded": _exceeded(problem, result),
        "tiers": _tiers(problem, result),
        "added": {
            "allowed": {operator: list(nodes) for operator, nodes in result.added.allowed.items()},
            "pinned": dict(result.added.pinned),
            "colocated": [list(pair) for pair in result.added.colocated],
        },
        "overfull": _overfull(problem, result),
        "notes": _notes(problem),
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


def _graphs(problem: Problem, result: Result) -> dict[str, Any]:
    """Return the answer's key of several graphs: what each of them takes; nothing of a single one."""
    from scheduler.evaluation.critical_path import longest_paths  # noqa: PLC0415  # see document

    if problem.application.graphs.count == 1 or result.placement is None:
        return {}
    each = longest_paths(problem, result.placement)
    return {"graphs": {name: {"response_time_ms": taken} for name, taken in each.items()}}


def _total_cost(problem: Problem, worth: Evaluation) -> float:
    """Return the weighed sum of placement and link cost (paper 002, eq. 7), whatever else is weighed."""
    weights = problem.objective.weights
    return sum(weights[each] * worth.values[each] for each in ("placement_cost", "link_cost"))


def _tiers(problem: Problem, result: Result) -> dict[str, int] | None:
    """Return how many operators are in each tier, sources and sinks apart; null without a placement."""
    from formats.tier import TIERS  # noqa: PLC0415  # see document

    if result.placement is None:
        return None
    tiers = [problem.network.nodes[u].tier for u in result.placement[~problem.application.terminal].tolist()]
    known = any(node.tier for node in problem.network.nodes)
    return {tier: tiers.count(tier) for tier in TIERS} if known else {}


def _overfull(problem: Problem, result: Result) -> list[dict[str, Any]] | None:
    from scheduler.model.constraints.link_bandwidth import overfull_links  # noqa: PLC0415  # see document

    if result.placement is None:
        return None
    return [
        {"link": link, "bytes_per_s": used, "bandwidth_bytes_per_s": most}
        for link, used, most in overfull_links(problem, result.placement)
    ]


def _moves(problem: Problem, result: Result) -> list[dict[str, Any]] | None:
    from scheduler.moving.prices import moves_of  # noqa: PLC0415  # see document

    if result.placement is None:
        return None
    return [
        {
            "operator": each.operator,
            "from": each.source,
            "to": each.target,
            "pull_s": each.pull_s,
            "cost": each.cost,
        }
        for each in moves_of(problem, result.placement)
    ]


def _loading(problem: Problem, result: Result) -> dict[str, float] | None:
    from scheduler.moving.prices import loading_s  # noqa: PLC0415  # see document

    return None if result.placement is None else loading_s(problem, result.placement)


def _notes(problem: Problem) -> list[str]:
    """Return a sentence on each thing that is weighed and of which there is nothing to weigh."""
    from scheduler.moving.prices import without_price  # noqa: PLC0415  # see document

    note = without_price(problem)
    alike = [
        f"{metric} is weighed, and all placements are alike in it"
        for metric, weight in problem.objective.weights.items()
        if weight > 0 and not problem.scale.factor(metric)
    ]
    return [*_unnamed(problem), *alike, *([] if note is None else [note])]


def _unnamed(problem: Problem) -> list[str]:
    """Return a sentence on each node that is unlimited in one resource, and states one that means nothing."""
    demanded = {name for each in problem.application.operators for name in each.demand}
    return [
        f'node {node.name} names no capacity "{min(missing)}", so that it is unlimited there; '
        f'"{min(strange)}", which it names, is demanded by no operator'
        for node in problem.network.nodes
        if (missing := demanded - node.capacity.keys()) and (strange := node.capacity.keys() - demanded)
    ][:MOST_NOTES]


def _exceeded(problem: Problem, result: Result) -> list[dict[str, Any]] | None:
    from scheduler.evaluation.exceeded import exceeded  # noqa: PLC0415  # see document

    if result.placement is None:
        return None
    return [
        {
            "operator": each.operator,
            "node": each.node,
            "duration_ms": each.duration_ms,
            "duration_max_ms": each.limit_ms,
        }
        for each in exceeded(problem, result.placement)
    ]


def _stay(problem: Problem) -> dict[str, Any] | None:
    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415  # see document
    from scheduler.moving.prices import staying  # noqa: PLC0415  # see document

    stay = staying(problem)
    if stay is None:
        return None
    shown = ("response_time", "cost", "duration_excess")
    values = {METRICS[name].answer: stay.worth.values[name] for name in shown}
    return {"objective": stay.worth.objective, **values, "violations": list(stay.violations)}


def print_tables(problem: Problem, result: Result, seconds: float) -> None:
    """Print where every operator goes and what that is worth."""
    from rich.console import Console  # noqa: PLC0415  # not needed with --json

    console = Console()
    console.print(_placement_table(problem, result))
    if problem.current is not None and (loading := _loading(problem, result)):
        each = ", ".join(f"{printable(node)} for {seconds:.6g} s" for node, seconds in loading.items())
        console.print(f"Nodes load: {each}.", highlight=False, markup=False)
    console.print(_worth_table(problem, result))
    for late in _exceeded(problem, result) or ():
        takes = f"{late['duration_ms']:.6g} ms per tuple on {printable(late['node'])}"
        most = f"and its limit is {late['duration_max_ms']:.6g} ms"
        console.print(f"{printable(late['operator'])} takes {takes}, {most}", highlight=False, markup=False)
    added = result.added
    for what, which in (
        ("pinned", [f"{operator}@{node}" for operator, node in added.pinned.items()]),
        ("together", ["+".join(pair) for pair in added.colocated]),
        ("restricted", list(added.allowed)),
    ):
        if which:
            console.print(f"Added: {what} {printable(', '.join(which))}", highlight=False, markup=False)
    for full in _overfull(problem, result) or ():
        has = f"{full['bandwidth_bytes_per_s']:.6g} bytes/s and carries {full['bytes_per_s']:.6g}"
        console.print(f"Overfull: {printable(full['link'])} has {has}", highlight=False, markup=False)
    for note in _notes(problem):
        console.print(f"Note: {printable(note)}", highlight=False, markup=False)
    for violation in (_stay(problem) or {}).get("violations", ()):
        console.print(f"Staying breaks a constraint: {printable(violation)}", highlight=False, markup=False)
    reason = f"{result.status}: {printable(result.reason)}"
    console.print(
        f"{reason} (strategy {result.author}, seed {result.seed}, {seconds:.3f} s)",
        highlight=False,
        markup=False,
    )


def _placement_table(problem: Problem, result: Result) -> Table:
    from rich.table import Table  # noqa: PLC0415  # not needed with --json
    from rich.text import Text  # noqa: PLC0415

    runs_already = problem.current is not None
    prices = ("comes from", "loads for, s", "price") if runs_already else ()
    table = Table("operator", "node", "site", *prices, title="Placement")
    if result.placement is not None:
        moves = {move["operator"]: move for move in _moves(problem, result) or ()}
        for operator, u in zip(problem.application.operators, result.placement, strict=True):
            node = problem.network.nodes[u]
            row = [operator.name, node.name, node.site or "-"]
            if move := moves.get(operator.name):
                row += [move["from"], f"{move['pull_s']:.6g}", f"{move['cost']:.6g}"]
            table.add_row(*(Text(printable(each)) for each in row))
    return table


def _worth_table(problem: Problem, result: Result) -> Table:
    from rich.table import Table  # noqa: PLC0415  # not needed with --json

    from scheduler.model.metrics.catalogue import METRICS  # noqa: PLC0415  # see document
    from scheduler.moving.prices import staying  # noqa: PLC0415  # see document

    stay = staying(problem)
    table = Table("metric", "value", "range", "weight", title="Worth")
    if stay is not None:
        table.add_column("staying")
    worth = result.evaluation
    if worth is not None:
        weights, ranges = problem.objective.weights, problem.ranges
        for name, metric in METRICS.items():
            if metric.default_range is not None and not weights[name]:
                continue
            low, high = ranges[name]
            values = [f"{each.values[name]:.6g} {metric.unit}".strip() for each in _both(worth, stay)]
            table.add_row(name, values[0], f"{low:.6g} .. {high:.6g}", f"{weights[name]:g}", *values[1:])
        for graph, taken in _graphs(problem, result).get("graphs", {}).items():
            table.add_row(
                f"longest path of {printable(graph)}", f"{taken['response_time_ms']:.6g} ms", "", ""
            )
        means = [f"{each.mean_delay_ms:.6g} ms" for each in _both(worth, stay)]
        table.add_row("mean delay of streams", means[0], "", "tie-break", *means[1:])
        objectives = [f"{each.objective:.6g}" for each in _both(worth, stay)]
        table.add_row("objective F", objectives[0], "0 .. 1", "", *objectives[1:])
        if result.bound is not None:
            table.add_row("bound on F", f"{result.bound:.6g}", "", "")
        if result.gap is not None:
            table.add_row("gap", f"{100 * result.gap:.2f} %", "", "")
    return table


def _both(worth: Evaluation, stay: Stay | None) -> list[Evaluation]:
    return [worth] if stay is None else [worth, stay.worth]
