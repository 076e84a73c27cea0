"""Commands of the group `instance`: make instance files; `ranges` has a file of its own."""

from __future__ import annotations

from pathlib import Path  # typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from cli.errors import UserError
from cli.instance.instance_ranges import ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.model.problem import Problem

app = typer.Typer(no_args_is_help=True)
app.command()(ranges)

OPTIONS = {"capacity": "slots"}
"""Options whose name is not that of the value that the model refuses."""


@app.callback()
def group() -> None:
    """Instance files for `stormplace solve`: seeded problems of several kinds."""


@app.command()
def generate(
    application: Annotated[
        str, typer.Option(help="sequential, diamond, replicated or layered.", show_default=False)
    ],
    network: Annotated[
        str, typer.Option(help="two-level (delay matrix) or geographic (coordinates).", show_default=False)
    ],
    nodes: Annotated[
        int, typer.Option(help="Number of nodes; two-level: a square number.", show_default=False)
    ],
    output: Annotated[Path, typer.Option(help="File to write.", show_default=False)],
    weights: Annotated[
        str, typer.Option(help="R, A, Z or equal; or as response_time=0.5,cost=0.5 with sum 1.")
    ] = "R",
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    operators: Annotated[int, typer.Option(help="Number of operators; replicated: 3 l + 2.")] = 20,
    layers: Annotated[int, typer.Option(help="layered: layers between source and sink.")] = 4,
    density: Annotated[
        float, typer.Option(help="layered: probability of a stream between operators of neighbouring layers.")
    ] = 0.3,
    sites: Annotated[int, typer.Option(help="geographic: number of sites.")] = 10,
    speedup: Annotated[str, typer.Option(help="Speed-ups that nodes draw, as 0.5,1,2.")] = "",
    slots: Annotated[str, typer.Option(help="Numbers of slots that nodes draw, as 1,2,4.")] = "",
    cost: Annotated[str, typer.Option(help="Costs that nodes draw, as 1,3.")] = "",
    force: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Write a seeded problem; source and sink are pinned to one node.

    The same options write the same file. Exit status: 0 written, 2 bad input.
    """
    # numpy loads only when something is made, so that other commands start at once
    from scheduler.base.checks import ModelError  # noqa: PLC0415
    from scheduler.instances.generators.heterogeneous import NodeChoices  # noqa: PLC0415
    from scheduler.instances.generators.recipe import Recipe, build  # noqa: PLC0415

    choices = NodeChoices(
        speedup=_numbers("--speedup", speedup),
        slots=_numbers("--slots", slots),
        cost=_numbers("--cost", cost),
    )
    if output.exists() and not force:
        raise UserError(f"{output}: exists already; --force replaces it")
    try:
        recipe = Recipe(
            application, network, nodes, _weights(weights), seed, operators, layers, density, sites, choices
        )
        problem = build(recipe)
    except ModelError as error:
        place = error.where.split(".")[0]
        raise UserError(f"--{OPTIONS.get(place, place)}: {error.message}") from None
    _write(output, problem)
    typer.echo(f"{output}: {problem.n_ops} operators, {problem.n_nodes} nodes")


def _write(output: Path, problem: Problem) -> None:
    from experiments.instance_text import instance_text  # noqa: PLC0415  # see generate
    from scheduler.instances.writing import to_document  # noqa: PLC0415

    text = instance_text(to_document(problem))
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{output}: {error.strerror}") from None


def _weights(text: str) -> Mapping[str, float]:
    """Return the weights by metric name: those of a named objective, or as they are listed."""
    from scheduler.instances.generators.paper import OBJECTIVES  # noqa: PLC0415  # see generate

    if text in OBJECTIVES:
        return OBJECTIVES[text]
    weights: dict[str, float] = {}
    for part in text.split(","):
        metric, separator, value = part.partition("=")
        if not separator or metric in weights:
            raise UserError(
                f'--weights: expected {", ".join(OBJECTIVES)} or a list as metric=weight, got "{text}"'
            )
        weights[metric] = _number("--weights", value)
    return weights


def _numbers(option: str, text: str) -> tuple[float, ...]:
    return tuple(_number(option, part) for part in text.split(",")) if text else ()


def _number(option: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f'{option}: expected a number, got "{text}"') from None
