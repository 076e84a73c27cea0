"""When two states of query 2 count as equal: as for query 1 (`replay.compare.state_rule`), by profitability.

An engine may give ten ranks or eleven. Values are compared as they are written: medians to a tenth of a cent,
profitabilities to a millionth of a dollar.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from replay.expected.query1 import STATE_RANKS, TOP

if TYPE_CHECKING:
    from collections.abc import Sequence


class AreaRank(NamedTuple):
    """An area with its values.

    Attributes:
        area: For example `311.315`.
        empty: Empty taxis.
        median: Thousandths of a dollar.
        profitability: Millionths of a dollar.
    """

    area: str
    empty: int
    median: int
    profitability: int


def area_rank(area: str, empty: int, median: float, profitability: float) -> AreaRank:
    """Return an area with its values in dollars."""
    return AreaRank(area, empty, round(median * 1000), round(profitability * 1_000_000))


def parse(value: object) -> list[AreaRank] | None:
    """Read a parsed JSON value, a list of [area, empty, median, profitability]; None if it is something else.

    The amounts may be numbers or texts.
    """
    if not isinstance(value, list):
        return None
    ranks = []
    for entry in value:
        if not isinstance(entry, list) or len(entry) != 4:
            return None
        area, empty, *amounts = entry
        dollars = [_dollars(amount) for amount in amounts]
        if not isinstance(area, str) or not isinstance(empty, int) or isinstance(empty, bool):
            return None
        if not all(map(math.isfinite, dollars)):
            return None
        ranks.append(area_rank(area, empty, dollars[0], dollars[1]))
    return ranks


def _dollars(amount: object) -> float:
    if isinstance(amount, bool) or not isinstance(amount, int | float | str):
        return math.nan
    try:
        return float(amount)
    except ValueError:
        return math.nan


def difference(expected: Sequence[AreaRank], got: Sequence[AreaRank], *, free_ties: bool) -> str | None:
    """Say how a state differs from the expected one.

    Args:
        expected: Ranks 1 to 11 and behind them all areas of rank 11's profitability, best first; fewer if
            fewer areas are listed.
        got: The engine's ten or eleven best.
        free_ties: Whether areas of one profitability may come in any order, and any of those of the last
            rank's may be there.

    Returns:
        One sentence, or None if the states are equal.
    """
    wanted = {min(len(expected), TOP), min(len(expected), STATE_RANKS)}
    if len(got) not in wanted:
        return f"{max(wanted)} ranks expected, {len(got)} found"
    true = {each.area: each for each in expected}
    found: set[str] = set()
    for rank, (want, have) in enumerate(zip(expected, got, strict=False), start=1):
        if have.profitability != want.profitability:
            return f"rank {rank} has profitability {_amount(have)} instead of {_amount(want)}"
        if not free_ties and have.area != want.area:
            return f"rank {rank} is area {have.area} instead of {want.area}"
        if have.area in found:
            return f"area {have.area} holds two ranks"
        found.add(have.area)
        if true.get(have.area) != have:
            other = true.get(have.area)
            return f"area {have.area} is given {_values(have)}, " + (
                f"it has {_values(other)}" if other is not None else "it belongs to no such rank"
            )
    return None


def show(state: Sequence[AreaRank]) -> str:
    """Return a state as one line, best first."""
    return ", ".join(f"{each.area} {_values(each)}" for each in state) or "(no area)"


def _amount(rank: AreaRank) -> str:
    return f"{rank.profitability / 1_000_000:.6f}"


def _values(rank: AreaRank) -> str:
    return f"{rank.median / 1000:.3f}/{rank.empty} = {_amount(rank)}"
