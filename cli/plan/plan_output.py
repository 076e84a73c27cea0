"""What `plan` prints: what the next round would do, what there is to be had, and what it costs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.wording import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

_WIDTH = 140
_MOST_MOVES = 40


def print_preview(answer: Mapping[str, Any]) -> None:
    """Print the daemon's answer.

    Args:
        answer: As `stormplace plan --json` prints it.
    """
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=_WIDTH)
    following, candidate = answer["next_round"], answer["candidate"]
    _say(console, f"Next round: {following['status']}")
    if following["moves"]:
        console.print(_moves_table("The next round moves", following["moves"]))
        _say(console, _price(following["price"]))
    if candidate["moves"] and candidate["moves"] != following["moves"]:
        console.print(_moves_table("The best that was found, whatever it gains, moves", candidate["moves"]))
        _say(console, _price(candidate["price"]))
    elif not candidate["moves"]:
        _say(console, f"Nothing else to be had: {candidate['status']}")
    if answer["metrics"]:
        console.print(_metrics_table(answer["metrics"], moves=bool(candidate["moves"])))
    limits = answer["thresholds"]
    _say(
        console,
        f"A move has to gain {limits['min_gain']:.0%} (move.min_gain), and {limits['min_gain_ms']:g} ms "
        "where the response time is all that is weighed (move.min_gain_ms); "
        f"{limits['max_restarts_per_round']} executors may restart in a round.",
    )
    _say(console, f"By the state of the cluster {answer['state_age_s']:.0f} s ago. Nothing was moved.")


def _say(console: Console, line: str) -> None:
    if line:
        console.print(Text(printable(line)), highlight=False)


def _moves_table(title: str, moves: list[dict[str, Any]]) -> Table:
    shown = moves[:_MOST_MOVES]
    if len(shown) < len(moves):
        title += f": the first {_MOST_MOVES} of {len(moves)}"
    table = Table("component", "tasks", "from", "to", title=title, title_justify="left")
    for move in shown:
        first, last = move["tasks"]
        table.add_row(
            Text(printable(move["component"])),
            str(first) if first == last else f"{first}-{last}",
            Text(printable(_slot(move["from"]))),
            Text(printable(_slot(move["to"]))),
        )
    return table


def _slot(slot: Mapping[str, Any] | None) -> str:
    return "-" if slot is None else f"{slot['host']}:{slot['port']}"


def _price(price: Mapping[str, Any] | None) -> str:
    if price is None:
        return ""
    gain = f", for a gain of {price['gain']:.1%}" if price["gain"] else ""
    return (
        f"Price: {price['executors_moved']} running executors move, {price['workers_restarted']} workers "
        f"with {price['executors_restarted']} executors restart{gain}."
    )


def _metrics_table(metrics: Mapping[str, Any], *, moves: bool) -> Table:
    columns = ("metric", "staying", *(("after",) if moves else ()))
    table = Table(*columns, title="Worth", title_justify="left")
    for name, values in metrics.items():
        keys = ("staying", "candidate") if moves else ("staying",)
        table.add_row(name, *(_value(values[key], values["unit"]) for key in keys))
    return table


def _value(value: float | None, unit: str) -> str:
    return "-" if value is None else f"{value:.6g} {unit}".strip()
