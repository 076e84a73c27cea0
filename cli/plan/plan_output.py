"""What `plan` prints: what the next round would do, what there is to be had, and what it costs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cli.wording import printable
from formats.counted import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
        _print_price(console, following["price"])
    if candidate["moves"] and candidate["moves"] != following["moves"]:
        console.print(_moves_table("The best that was found, whatever it gains, moves", candidate["moves"]))
        _print_price(console, candidate["price"])
    elif not candidate["moves"]:
        why = f": {candidate['status']}" if candidate["status"] != following["status"] else "."
        _say(console, f"Nothing else to be had{why}")
    if answer["metrics"]:
        console.print(_metrics_table(answer, moves=bool(candidate["moves"])))
    limits = answer["thresholds"]
    _say(
        console,
        f"A move has to gain {limits['min_gain']:.0%} (move.min_gain), and {limits['min_gain_ms']:g} ms "
        "where the response time is all that is weighed (move.min_gain_ms); "
        f"{counted(limits['max_restarts_per_round'], 'executor')} may restart in a round.",
    )
    age_s = answer["state_age_s"]
    _say(
        console,
        f"By the state of the cluster {age_s:.0f} s ago, when Nimbus last asked for a plan. "
        "Nothing was moved.",
    )


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


def _print_price(console: Console, price: Mapping[str, Any] | None) -> None:
    """Print what restarts in a sentence, and the rest of the price list as far as it is known."""
    if price is None:
        return
    gain = f", for a gain of {price['gain']:.1%}" if price["gain"] else ""
    moves = counted(price["executors_moved"], "running executor moves", "running executors move")
    workers, executors = price["workers_restarted"], counted(price["executors_restarted"], "executor")
    restart = counted(workers, f"worker with {executors} restarts", f"workers with {executors} restart")
    _say(console, f"Price: {moves}, {restart}{gain}.")
    table = Table("price", "about", title="What it costs", title_justify="left")
    for row in _price_rows(price):
        table.add_row(*row)
    if table.rows:
        console.print(table)


def _price_rows(price: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    # An older daemon names none of these.
    pause_s, replayed = price.get("pause_s"), price.get("replayed_tuples")
    pulled_mb, cost = price.get("pulled_mb"), price.get("move_cost")
    if pause_s is not None:
        samples, source = price["pause_samples"], price["pause_source"]
        basis = f"by {samples} {source}" if samples else "default"
        yield "pause", f"{pause_s:.0f} s ({basis})"
    if replayed is not None:
        yield "replayed", "1 tuple" if round(replayed) == 1 else f"{replayed:,.0f} tuples"
    if pulled_mb is not None:
        yield "loaded", f"{pulled_mb:g} MB"
    if cost is not None:
        payback_s = price["payback_s"]
        yield "cost of moving", f"{cost:.6g} units"
        yield "paid back", "never" if payback_s is None else f"after {payback_s:,.3g} s"


def _metrics_table(answer: Mapping[str, Any], *, moves: bool) -> Table:
    columns = ("metric", "staying", *(("after", "change") if moves else ()))
    table = Table(*columns, title="Worth", title_justify="left")
    objective = (answer["candidate"]["price"] or {}).get("objective")
    rows = dict(answer["metrics"]) | ({"objective F": {**objective, "unit": ""}} if objective else {})
    for name, values in rows.items():
        before, after, unit = values["staying"], values["candidate"], values["unit"]
        cells = [_value(before, unit)]
        if moves:
            change = None if before is None or after is None else after - before
            cells += [_value(after, unit), _value(change, unit, sign="+")]
        table.add_row(name, *cells)
    return table


def _value(value: float | None, unit: str, sign: str = "") -> str:
    return "-" if value is None else f"{value:{sign}.6g} {unit}".strip()
