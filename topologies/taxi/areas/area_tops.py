"""The best areas of a share, row by row, as one text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from topologies.taxi.areas.profitability import rank_exactly
from topologies.taxi.tops import ShareTop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from topologies.taxi.areas.profitability import RankedArea


def pack_tops(tops: Iterable[ShareTop]) -> str:
    """Return one line for each: `n pickup time`, then `area half_cents empty freshest` for each area."""
    return "\n".join(
        " ".join(
            [
                f"{top.n} {top.pickup_s} {top.time_s}",
                *(f"{each.area} {each.half_cents} {each.empty} {each.freshest}" for each in top.best),
            ]
        )
        for top in tops
    )


def unpack_tops(
    packed: str, rank: Callable[[int, int, int, int], RankedArea] = rank_exactly
) -> Iterator[ShareTop]:
    """Yield what was packed.

    Args:
        packed: What `pack_tops` returned.
        rank: What ranked the areas.

    Raises:
        ValueError: The text was not made by `pack_tops`.
    """
    for line in packed.split("\n") if packed else ():
        n, pickup_s, time_s, *areas = map(int, line.split(" "))
        values = iter(areas)
        best = [rank(*each) for each in zip(values, values, values, values, strict=True)]
        yield ShareTop(n, pickup_s, time_s, best)
