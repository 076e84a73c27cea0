"""Filters delays: a low percentile of the last ones to each peer.

Source: the moving-percentile filter of J. Ledlie, P. Gardner, M. Seltzer, "Network coordinates in the wild",
NSDI 2007; the rule for a longer path is ours.

Queues and late wake-ups only ever add to a round trip, so the lower samples show the path and the upper ones
the moment. The lowest alone would never see a path get longer while old samples remain; hence a percentile.
Two samples in a row that are far above it, and by the same, are a longer path: queues do not repeat.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_WINDOW = 5
"""Samples kept per peer. With the percentile 25 a slightly longer path shows after four samples, a much
longer or a shorter one after two; three spikes in five leave no trace unless two in a row are equal."""

_SHARE = 0.25
"""Percentile that is taken, as a fraction (nearest rank below)."""

MAX_AGE_S = 120.0
"""Older samples are dropped."""

# Two samples are of another path if they are further above the percentile than both, and apart by no more
# than this part of that. Small changes show in the percentile itself soon enough.
_FAR_FRACTION = 0.5
_FAR_MS = 10.0
_AGREE_FRACTION = 0.1

# A sample speaks for the percentile unless it is above it by more than both: then it may be of another path.
_SUPPORT_MS = 5.0
_SUPPORT_FRACTION = 0.3


@dataclass(frozen=True, slots=True)
class FilteredDelay:
    """A peer's filtered delay.

    Attributes:
        delay_ms: The delay, ms.
        samples: Samples behind it.
        supported_s: Time of the newest sample that agrees with it, s on the clock of the samples. Samples
            that are far above it may be queues or a longer path: they do not make it newer.
    """

    delay_ms: float
    samples: int
    supported_s: float


class LatencyFilter:
    """Recent samples per peer, bounded in number and age."""

    def __init__(self) -> None:
        self._samples: dict[str, deque[tuple[float, float]]] = {}

    def add(self, peer: str, now_s: float, delay_ms: float) -> float:
        """Take a sample and return the peer's filtered delay, in ms.

        Args:
            peer: Name of the peer.
            now_s: Time of the sample on any clock that does not go back, in s.
            delay_ms: The sample, in ms.
        """
        samples = self._samples.setdefault(peer, deque(maxlen=_WINDOW))
        self._drop_old(samples, now_s)
        samples.append((now_s, delay_ms))
        if self._on_another_path(samples):
            for _ in range(len(samples) - 2):
                samples.popleft()
        return self._percentile(samples)

    def look(self, peer: str, now_s: float) -> FilteredDelay | None:
        """Return a peer's filtered delay; None for one that was not reached for the age of a sample.

        Args:
            peer: Name of the peer.
            now_s: Time of the look on the clock of the samples, s.
        """
        samples = self._samples.get(peer)
        if samples is None:
            return None
        self._drop_old(samples, now_s)
        if not samples:
            del self._samples[peer]
            return None
        delay_ms = self._percentile(samples)
        supported_s = max(at_s for at_s, sample_ms in samples if _supports(sample_ms, delay_ms))
        return FilteredDelay(delay_ms, len(samples), supported_s)

    def samples(self, peer: str) -> tuple[tuple[float, float], ...]:
        """Return time (s) and delay (ms) of a peer's samples, the oldest first."""
        return tuple(self._samples.get(peer, ()))

    def restore(self, peer: str, now_s: float, samples: Iterable[tuple[float, float]]) -> None:
        """Take what `samples` gave before a restart; those that are too old by now are dropped."""
        fresh = deque((pair for pair in samples if now_s - pair[0] <= MAX_AGE_S), maxlen=_WINDOW)
        if fresh:
            self._samples[peer] = fresh

    def _drop_old(self, samples: deque[tuple[float, float]], now_s: float) -> None:
        while samples and now_s - samples[0][0] > MAX_AGE_S:
            samples.popleft()

    def _on_another_path(self, samples: deque[tuple[float, float]]) -> bool:
        if len(samples) < 3:
            return False
        lower, higher = sorted((samples[-2][1], samples[-1][1]))
        before = self._percentile(samples)
        further = lower - before
        far = further > max(_FAR_MS, _FAR_FRACTION * before)
        return far and higher - lower <= _AGREE_FRACTION * further

    def _percentile(self, samples: deque[tuple[float, float]]) -> float:
        ranked = sorted(delay for _, delay in samples)
        return ranked[math.floor(_SHARE * (len(ranked) - 1))]

    def forget(self, peer: str) -> None:
        """Drop all samples of a peer that is gone."""
        self._samples.pop(peer, None)

    def __len__(self) -> int:
        return len(self._samples)


def _supports(sample_ms: float, delay_ms: float) -> bool:
    return sample_ms - delay_ms <= max(_SUPPORT_MS, _SUPPORT_FRACTION * sample_ms)
