"""The best areas of all shares, and whether the query's answer has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from topologies.taxi.areas.share_ranking import REPORTED, TOP

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        self._best: Sequence[RankedArea] = ()
        self._answer: list[tuple[int, ...]] = []

    def update(self, tops: Mapping[int, Sequence[RankedArea]]) -> bool:
        """Take the shares' tops after one row.

        Args:
            tops: New top by share; shares that are not named keep theirs.

        Returns:
            Whether the answer changed.
        """
        self._tops.update(tops)
        best = sorted((area for top in self._tops.values() for area in top), reverse=True)
        self._best = best[:REPORTED]
        if self._compares_values:
            answer: list[tuple[int, ...]] = [(each.place, each.empty, each.half_cents) for each in best[:TOP]]
        else:
            answer = [(each.place,) for each in best[:TOP]]
        changed = answer != self._answer
        self._answer = answer
        return changed

    @property
    def best(self) -> Sequence[RankedArea]:
        """The best `REPORTED` areas of all shares, best first: the answer, and the eleventh."""
        return self._best
