"""The best of each share, and what they come to: the query's answer, and whether it has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Rank = TypeVar("Rank")

TOP = 10
"""Ranks that the queries ask for."""

REPORTED = TOP + 1
"""Ranks that are passed on: with the eleventh a reader sees whether a tie decided the tenth."""


class ShareTop(NamedTuple):
    """What a row, or by choice an instant before it, has made of a share's best.

    Attributes:
        n: The row.
        pickup_s: Its pick-up, seconds since 1970, or the instant.
        time_s: The query's time then, seconds since 1970.
        best: The best, best first.
    """

    n: int
    pickup_s: int
    time_s: int
    best: Sequence[Any]


class Change(NamedTuple):
    """What a row or an instant has made of the best of all shares that it touched: `ShareTop`, by share."""

    n: int
    pickup_s: int
    time_s: int
    tops: dict[int, Sequence[Any]]


def changes_of(shares: Iterable[Iterable[ShareTop]]) -> list[Change]:
    """Return what the shares say of a batch, in order of the rows and of the instants between them."""
    moments: dict[tuple[int, int], Change] = {}
    for share, tops in enumerate(shares):
        for n, pickup_s, time_s, best in tops:
            moments.setdefault((n, time_s), Change(n, pickup_s, time_s, {})).tops[share] = best
    return [moments[moment] for moment in sorted(moments)]


class TopMerge(Generic[Rank]):
    """Merges the shares' best.

    Args:
        shown: What of a rank makes another answer when it is another one.
        order: The greater the better; None: the ranks themselves are compared.

    Attributes:
        best: The best `REPORTED` of all shares, best first: the answer, and the eleventh.
    """

    def __init__(self, shown: Callable[[Rank], object], order: Callable[[Rank], Any] | None = None) -> None:
        self._shown = shown
        self._order = order
        self._tops: dict[int, Sequence[Rank]] = {}
        self._answer: list[object] = []
        self.best: Sequence[Rank] = []

    def update(self, tops: Mapping[int, Sequence[Rank]]) -> bool:
        """Take the shares' tops after one row.

        Args:
            tops: New top by share; shares that are not named keep theirs.

        Returns:
            Whether the answer changed.
        """
        self._tops.update(tops)
        ranks: list[Any] = [each for top in self._tops.values() for each in top]
        ranks.sort(key=self._order, reverse=True)
        self.best = ranks[:REPORTED]
        answer = list(map(self._shown, ranks[:TOP]))
        changed = answer != self._answer
        self._answer = answer
        return changed
