"""The best areas of all shares, and whether the query's answer has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from topologies.taxi.areas.share_ranking import REPORTED, TOP

if TYPE_CHECKING:
    from collections.abc import Sequence

    from topologies.taxi.areas.profitability import RankedArea


class AreaMerge:
    """Merges the shares' tops.

    Args:
        q2_emit: `areas`: an answer is another one when its ten areas or their order are others; `values`:
            also when an area's number of empty taxis or profit is.
    """

    def __init__(self, q2_emit: Literal["areas", "values"] = "areas") -> None:
        self._compares_values = q2_emit == "values"
        self._tops: dict[int, Sequence[RankedArea]] = {}
        self._best: list[RankedArea] = []
        self._answer: list[tuple[int, ...]] = []

    def put(self, share: int, top: Sequence[RankedArea]) -> None:
        """Take a share's best `REPORTED` areas; they stand until its next."""
        self._tops[share] = top

    def settle(self) -> bool:
        """Merge after one row.

        Returns:
            Whether the answer changed.
        """
        best = sorted((area for top in self._tops.values() for area in top), reverse=True)
        self._best = best[:REPORTED]
        if self._compares_values:
            answer: list[tuple[int, ...]] = [(each.place, each.empty, each.half_cents) for each in best[:TOP]]
        else:
            answer = [(each.place,) for each in best[:TOP]]
        changed = answer != self._answer
        self._answer = answer
        return changed

    def best(self) -> list[RankedArea]:
        """Return the best `REPORTED` areas at the last `settle`, best first: the answer, and the eleventh."""
        return self._best
