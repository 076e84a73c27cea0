"""Commands of the group `simulate`: what would happen, without a cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.errors import UserError, refused
from cli.interrupt import ends_at_once
from cli.native_output import native_output_hidden

if TYPE_CHECKING:
    from experiments.elasticity.asked import Asked
    from experiments.elasticity.outcome import Outcome

app = typer.Typer(no_args_is_help=True, help="See what would happen, without a cluster.")


@app.callback()
def simulate() -> None:
    """See what would happen, without a cluster."""


@app.command()
def elastic(
    scenario: Annotated[
        Path,
        typer.Argument(
            metavar="SCENARIO",
            help="Scenario file (TOML), such as those in experiments/elasticity/scenarios.",
        ),
    ],
    *,
    policy: Annotated[
        str, typer.Option(help="Policy: btu, threshold or sized, or one that the scenario names.")
    ],
    load: Annotated[
        str, typer.Option(help="Load, by its name in the scenario; without it the first.", show_default=False)
    ] = "",
    offer: Annotated[
        str, typer.Option(help="Kind of hosts, by its name in the scenario; likewise.", show_default=False)
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Of load, disturbances and durations.")] = 0,
    parameters: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="Parameters of the policy, beside those of the scenario: a JSON object such as "
            '\'{"queue_reading": "in-system"}\'.',
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with every minute.")] = False,
) -> None:
    """Simulate how a policy scales components and leases hosts, and what that costs.

    Exit status: 0 done, 2 bad input, 130 ended by Ctrl-C.
    """
    more = _parameters(parameters)
    with ends_at_once():
        from experiments.elasticity.asked import Asked  # noqa: PLC0415 - loads numpy
        from experiments.elasticity.scenario_file import ScenarioError, read_scenario  # noqa: PLC0415 - numpy
        from experiments.elasticity.simulation import simulate  # noqa: PLC0415 - likewise

        with refused(ScenarioError):
            given = read_scenario(scenario)
        with refused(ScenarioError, by=str(scenario)):
            asked = Asked(
                policy, load or next(iter(given.load)), offer or next(iter(given.offer)), seed, more
            )
            with native_output_hidden():
                outcome = simulate(given, asked)
        if as_json:
            json.dump(_document(asked, outcome), sys.stdout, indent=1, allow_nan=False)
            sys.stdout.write("\n")
        else:
            _print(asked, given.late_factors, outcome)


def _parameters(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    with refused(ValueError, RecursionError, by="--parameters: is no JSON"):
        found = json.loads(text)
    if not isinstance(found, dict):
        raise UserError("--parameters: is no JSON object")
    return found


def _document(asked: Asked, outcome: Outcome) -> dict[str, object]:
    from dataclasses import asdict  # noqa: PLC0415 - other commands need it not

    found = asdict(outcome)
    periods = found.pop("periods")
    return {**asdict(asked), "in_all": found, "periods": periods}


def _print(asked: Asked, factors: tuple[float, ...], outcome: Outcome) -> None:
    from rich.console import Console  # noqa: PLC0415 - loads slowly
    from rich.table import Table  # noqa: PLC0415 - likewise

    table = Table("", *(f"within {each:g} x" for each in factors), title=_title(asked), title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("in time", *(f"{share:.1%}" for share in outcome.shares))
    table.add_row("cost", *(f"{cost:.2f}" for cost in outcome.total_costs))
    console = Console(highlight=False)
    console.print(table)
    if outcome.violations is not None:
        console.print(f"The response time is above its bound for {outcome.violations:.2%} of the time.")
    console.print(
        f"{outcome.units} billing units of hosts cost {outcome.resource_cost:g}; {outcome.leases} leases, "
        f"{outcome.host_hours:.1f} host hours, {outcome.executor_hours:.1f} executor hours; "
        f"{outcome.reconfigurations} reconfigurations; "
        f"{outcome.items:,.0f} items, each counted at every component"
    )


def _title(asked: Asked) -> str:
    return f"{asked.policy} under {asked.load}, hosts {asked.offer}, seed {asked.seed}"
