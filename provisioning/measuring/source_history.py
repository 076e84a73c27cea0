"""How much comes to a source, by what it has said within the last minute. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from provisioning.measuring.lag import AtSource

_KEPT_S = 60.0
_COUNTED_S = 20.0
"""What came is counted over so long, or between the last two answers if they are further apart."""
_STEP, _LEAST_STEP = 1.7, 20.0
"""What came is counted over the last two times between answers alone if both brought so many times as much as
those before, and so many items: what comes has stepped up, and half of it is of before."""
_JUMP = 10.0
"""Times as many items as between any two answers before: by so many an answer is a jump."""
_LEAST_JUMP = 100.0
"""Fewer items are no jump."""
_WITH_IT = 2.0
"""So many times as much as came may wait more: what failed comes again."""
_LEAST_SAID = 4
"""Answers, the new one included, that it takes to know what is usual."""
_LEAST_SHARE = 0.3
"""Of the time in which spouts were counted, from which on it is known how what waits has grown meanwhile."""


@dataclass(frozen=True)
class SourceSaid:
    """What a source said.

    Attributes:
        at_s: When, s since 1970.
        waiting: Items that waited.
        arrived: Items that had ever come; None: it does not count them.
    """

    at_s: float
    waiting: float
    arrived: float | None = None


@dataclass(frozen=True)
class Since:
    """From when on answers count, s since 1970.

    Attributes:
        arrived_s: Of what has come: another process may have asked another source.
        waiting_s: Of what waits, too: while workers start, items wait.
    """

    arrived_s: float = 0.0
    waiting_s: float = 0.0


def with_said(
    before: Sequence[SourceSaid], said: AtSource, now_s: float, since: Since
) -> tuple[tuple[SourceSaid, ...], bool]:
    """Return what a source has said, with what it says now; after the clock was set back only that.

    A jump that the new answer takes back is forgotten. If it is confirmed, what was said before it is: how
    often such a number of items comes is not known, and what waits counts in any case.

    Returns:
        What was said, and whether the new answer confirms a jump.
    """
    kept = tuple(each for each in before if 0.0 < now_s - each.at_s <= _KEPT_S)
    new = SourceSaid(now_s, said.waiting, said.arrived)
    jumped = [of for of in _jumps(kept, since) if of(new) is not None]
    if not jumped:
        return (*kept, new), False
    *earlier, one, other = kept
    if any((of(new) or 0.0) < ((of(one) or 0.0) + (of(other) or 0.0)) / 2.0 for of in jumped):
        return (*earlier, one, new), False
    return (other, new), True


def jump(said: Sequence[SourceSaid], since: Since) -> float:
    """Return by how many items the last answer is above the one before, if that is to be confirmed; else 0.

    A number that is wrong once is no load; what is there still when the source is asked again is.

    Args:
        said: (n,) what the source has said, the oldest first.
        since: What counts of it.
    """
    return max(_jumps(said, since).values(), default=0.0)


def _arrived(said: SourceSaid) -> float | None:
    return said.arrived


def _waiting(said: SourceSaid) -> float | None:
    return said.waiting


def _jumps(said: Sequence[SourceSaid], since: Since) -> dict[Callable[[SourceSaid], float | None], float]:
    """Return what has jumped with the last answer, and by how many items."""
    found: dict[Callable[[SourceSaid], float | None], float] = {}
    for of, since_s in ((_arrived, since.arrived_s), (_waiting, max(since.arrived_s, since.waiting_s))):
        known = [
            (each.at_s, items) for each in said if each.at_s >= since_s and (items := of(each)) is not None
        ]
        if len(known) < _LEAST_SAID or known[-1][0] != said[-1].at_s:
            continue
        *earlier, (items, passed_s) = (
            (after - one, at_s - one_s) for (one_s, one), (at_s, after) in pairwise(known)
        )
        usual_per_s = max(max(0.0, more) / within_s for more, within_s in earlier)
        if items >= _LEAST_JUMP and items > _JUMP * usual_per_s * passed_s:
            found[of] = items
    if _arrived not in found and _waiting in found and found[_waiting] <= _WITH_IT * _came(said[-2:]):
        del found[_waiting]  # as much came, and more than is worked off
    return found


def _came(said: Sequence[SourceSaid]) -> float:
    one, other = (each.arrived for each in said)
    return 0.0 if one is None or other is None else other - one


def came_per_s(said: Sequence[SourceSaid], since_s: float) -> float | None:
    """Return how many items came per second; None if that is not known.

    Args:
        said: (n,) what the source has said, the oldest first.
        since_s: What was said before does not count, s since 1970: another process may have asked another
            source.
    """
    known = [(each.at_s, each.arrived) for each in said if each.arrived is not None and each.at_s >= since_s]
    # one that has counted less than before was made anew
    anew = [k + 1 for k, ((_, before), (_, after)) in enumerate(pairwise(known)) if after < before]
    known = known[max(anew, default=0) :]
    if len(known) < 2:
        return None
    recent = [each for each in known[:-1] if known[-1][0] - each[0] <= _COUNTED_S] or known[-2:-1]
    begin, latest = recent[0], known[-1]
    if len(recent) > 2:
        third, second = known[-3:-1]
        lately = min(_per_s(third, second), _per_s(second, latest))
        if lately > _STEP * _per_s(begin, third) and latest[1] - third[1] >= _LEAST_STEP:
            begin = third
    return _per_s(begin, latest)


def _per_s(begin: tuple[float, float], end: tuple[float, float]) -> float:
    return (end[1] - begin[1]) / (end[0] - begin[0])


def growth_per_s(said: Sequence[SourceSaid], span_s: tuple[float, float], since_s: float) -> float | None:
    """Return by how much what waits grew per second in some time; None if too little was said of it.

    Between two answers it is taken to have grown evenly.

    Args:
        said: (n,) what the source has said, the oldest first.
        span_s: From when until when, s since 1970: spouts were counted then.
        since_s: What was said before does not count, s since 1970.
    """
    counted = [each for each in said if each.at_s >= since_s]
    if len(counted) < 2:
        return None
    begin_s, end_s = max(span_s[0], counted[0].at_s), min(span_s[1], counted[-1].at_s)
    if end_s <= begin_s or end_s - begin_s < _LEAST_SHARE * (span_s[1] - span_s[0]):
        return None
    times_s = [each.at_s for each in counted]
    first, last = np.interp([begin_s, end_s], times_s, [each.waiting for each in counted])
    return float(last - first) / (end_s - begin_s)
