"""Turns rates into counts: how many tuples an operator emits for one that it takes, without any chance.

Accumulators begin at multiples of the golden ratio, modulo 1: D. E. Knuth, "The Art of Computer Programming",
volume 3, second edition 1998, section 6.4, on why these are spread most evenly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_PATHS = 10_000
"""Paths that are counted apart; tuples of all others are counted together."""
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_ROUNDING = 1e-9
_OTHERS: tuple[int, ...] = ()


class Selectivity:
    """One accumulator per path on which tuples come, and per stream on which they go on.

    For every tuple a stream gets its rate divided by the rate of all that comes. Each path is passed on in
    that proportion for itself: an accumulator over all of them could meet paths that take turns always at
    the same ones, and the others would never reach a sink. The accumulators begin at different values,
    evenly spread, so that what goes on is spread over time and sums up to the stream's rate.

    Args:
        arriving_rate: Tuples per second that come on all critical streams.
        leaving: Tuples per second by stream.
    """

    def __init__(self, arriving_rate: float, leaving: Mapping[int, float]) -> None:
        self._ratios = {stream: rate / arriving_rate for stream, rate in leaving.items()}
        self._count: dict[tuple[int, ...], int] = {}
        self._phase: dict[tuple[int, ...], float] = {}

    def pass_on(self, path: tuple[int, ...]) -> list[tuple[int, int]]:
        """Take a tuple that came over these streams; return streams to emit on, with the number of tuples."""
        if path not in self._count and len(self._count) >= MOST_PATHS:
            path = _OTHERS
        before = self._count.get(path, 0)
        phase = self._phase.setdefault(path, len(self._phase) * _GOLDEN % 1.0)
        self._count[path] = before + 1
        emitted = []
        for stream, ratio in self._ratios.items():
            copies = _whole(phase + (before + 1) * ratio) - _whole(phase + before * ratio)
            if copies:
                emitted.append((stream, copies))
        return emitted


def _whole(value: float) -> int:
    """Return the whole part; a sum of thirds that should be whole is."""
    return math.floor(value + _ROUNDING)
