"""The counters of one executor over time, and its rates over a window of them. No clock here.

Storm renders statistics every `executor.metrics.frequency.secs` (60 s by default), so most looks show what
the one before has shown. That is no rate of zero: the worker's own age, rendered with the counters, shows
when they are new, and the time between two renderings.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from monitoring.rates.beginning import Beginning
from monitoring.rates.counters import ACKED, ACKER, Counters, Stream, is_user_stream

if TYPE_CHECKING:
    from collections.abc import Mapping


WINDOW_S = 60.0
"""Length of the sliding window. Ages of workers are whole seconds, so a rate over it is off by up to
`1 / WINDOW_S` of itself, besides two steps of the sampling."""

_SHORTEST_S = 20.0
"""Length below which no rate is given."""

STALE_S = 150.0
"""Time without new statistics after which an executor counts as one without any: two refreshes at Storm's
default and half a minute."""

_SLACK_S = 5.0
"""How far apart two estimates of a worker's start may be: truncated seconds, and statistics that were some
time on their way to ZooKeeper."""

_FOLLOWED_S = 60.0
"""Longest time between two looks at a worker that has just started: that of a collector's slowest pace."""

_ACKED = Stream(ACKER, ACKED)


@dataclass(frozen=True, slots=True)
class Window:
    """Rates of one executor over one window.

    Attributes:
        length_s: Length of the window, s.
        emitted: Stream id -> tuples/s emitted.
        transferred: Stream id -> copies/s sent to tasks.
        executed: Stream -> tuples/s taken from it.
        execute_ms: Mean time of one execution, ms; None if there was none or Storm does not measure it.
        step: See `Counters`.
        busy_percent: Part of the time that was spent in executions, percent; None if it is not measured.
        complete_ms: Mean time from a spout's emission to the acknowledgement, ms; None likewise, or if
            nothing was acknowledged.
    """

    length_s: float
    emitted: Mapping[str, float]
    transferred: Mapping[str, float]
    executed: Mapping[Stream, float]
    execute_ms: float | None
    step: float
    busy_percent: float | None = None
    complete_ms: float | None = None

    @property
    def acked(self) -> float:
        """Trees of tuples per second that a spout counts as acked."""
        return self.executed.get(_ACKED, 0.0)

    @property
    def executed_total(self) -> float:
        """Tuples/s taken from all streams."""
        return sum(self.executed.values())

    @property
    def emitted_by_user(self) -> float:
        """Tuples/s emitted over the streams that the topology declares."""
        return sum(rate for stream, rate in self.emitted.items() if is_user_stream(stream))


@dataclass(frozen=True, slots=True)
class _Rendering:
    """Counters with the look that found them new, and the one before it (minus infinity: none)."""

    seen_after_s: float
    seen_s: float
    counters: Counters


class ExecutorHistory:
    """Remembers renderings for as long as the window needs them.

    Args:
        window_s: Length of the sliding window, s.
    """

    def __init__(self, window_s: float = WINDOW_S) -> None:
        self._window_s = window_s
        self._renderings: deque[_Rendering] = deque()
        self._place: tuple[str, int] = ("", 0)
        self._looked_s = -math.inf
        self._start_s = (-math.inf, math.inf)
        self._begun = Beginning()
        self.restarts = 0

    def look(self, now_s: float, place: tuple[str, int], counters: Counters) -> bool:
        """Take what one look has shown.

        Args:
            now_s: Time of the look, s of a clock that does not go back.
            place: Host and port of the worker.
            counters: What Nimbus gave.

        Returns:
            Whether the statistics were rendered anew since the last look.
        """
        looked_s, self._looked_s = self._looked_s, now_s
        rendering = _Rendering(looked_s, now_s, counters)
        if not self._renderings:
            self._place = place
            self._take(rendering)
            return True
        newest = self._renderings[-1]
        if place == self._place and counters == newest.counters:
            return False
        if place != self._place or not self._same_run(newest, rendering):
            self.restarts += 1
            self._renderings.clear()
            self._place = place
            self._start_s = (-math.inf, math.inf)
            self._begun = Beginning()
        self._take(rendering)
        # one rendering from before the window stays, on which the window rests; a tenth less is as good
        while len(self._renderings) > 1:
            if counters.uptime_s - self._renderings[1].counters.uptime_s < 0.9 * self._window_s:
                break
            self._renderings.popleft()
        return True

    def _same_run(self, before: _Rendering, after: _Rendering) -> bool:
        """Say whether no restart lies between two renderings.

        Counters that went back or another step give a restart away. Else the worker's age does: it must
        have grown by the time that passed, as far as the looks can show.
        """
        if before.counters.step != after.counters.step or not before.counters.precedes(after.counters):
            return False
        grown_s = after.counters.uptime_s - before.counters.uptime_s
        at_least_s = after.seen_after_s - before.seen_s - _SLACK_S
        at_most_s = after.seen_s - before.seen_after_s + _SLACK_S
        return at_least_s <= grown_s <= at_most_s

    @property
    def start_s(self) -> float | None:
        """When the worker began to run, s of the clock of the looks; None before there are statistics.

        It is the middle of what all renderings of this run leave possible, at most half the time between two
        looks off from the second one on.
        """
        earliest_s, latest_s = self._start_s
        if latest_s == math.inf:
            return None
        return latest_s if earliest_s == -math.inf else (earliest_s + latest_s) / 2

    @property
    def worked_after_s(self) -> float | None:
        """Age of the worker at which the executor took or emitted its first tuple, s; None if not known."""
        return self._begun.worked_s(self._renderings[-1].counters) if self._renderings else None

    @property
    def ready_after_s(self) -> float | None:
        """Age of the worker at which the executor was there and had no tuple yet, s; None if it had some."""
        return self._begun.ready_s

    def look_in_vain(self, now_s: float) -> None:
        """Take note of a look at which there are no statistics."""
        self._looked_s = now_s

    def _take(self, rendering: _Rendering) -> None:
        self._renderings.append(rendering)
        self._narrow_start(rendering)
        followed = rendering.seen_s - rendering.seen_after_s <= _FOLLOWED_S
        self._begun = self._begun.after(rendering.counters, followed=followed)

    def _narrow_start(self, rendering: _Rendering) -> None:
        """Take what a rendering says of the start: it came between two looks, its age in whole seconds."""
        earliest_s, latest_s = self._start_s
        age_s = rendering.counters.uptime_s
        self._start_s = (
            max(earliest_s, rendering.seen_after_s - age_s - 1),
            min(latest_s, rendering.seen_s - age_s),
        )

    def window(self, now_s: float) -> Window | None:
        """Return the rates over the window that ends with the newest rendering.

        Returns:
            None without statistics: no two renderings of one run far enough apart, or the newest is stale.
        """
        if not self._renderings or now_s - self._renderings[-1].seen_s > STALE_S:
            return None
        before, after = self._renderings[0].counters, self._renderings[-1].counters
        length_s = float(after.uptime_s - before.uptime_s)
        if length_s < _SHORTEST_S:
            return None
        return Window(
            length_s=length_s,
            emitted=_rates(before.emitted, after.emitted, length_s),
            transferred=_rates(before.transferred, after.transferred, length_s),
            executed=_rates(before.executed, after.executed, length_s),
            execute_ms=_mean_execution_ms(before, after),
            step=after.step,
            busy_percent=_busy_percent(before, after, length_s),
            complete_ms=_mean_complete_ms(before, after),
        )


def _rates(before: Mapping[Any, int], after: Mapping[Any, int], length_s: float) -> dict[Any, float]:
    """Return differences per second; a counter appears with its first tuple, before that it stood at zero."""
    return {key: (count - before.get(key, 0)) / length_s for key, count in after.items()}


def _mean_execution_ms(before: Counters, after: Counters) -> float | None:
    """Return time spent in sampled executions by their number, over the window."""
    if before.execute_ms is None or after.execute_ms is None:
        return None
    count = sum(after.executed.values()) - sum(before.executed.values())
    spent_ms = sum(after.execute_ms.values()) - sum(before.execute_ms.values())
    return max(0.0, spent_ms / (count / after.step)) if count > 0 else None


def _mean_complete_ms(before: Counters, after: Counters) -> float | None:
    """Return the time that trees of tuples took by their number, over the window."""
    if before.complete_ms is None or after.complete_ms is None:
        return None
    count = after.executed.get(_ACKED, 0) - before.executed.get(_ACKED, 0)
    return max(0.0, (after.complete_ms - before.complete_ms) / count) if count > 0 else None


def _busy_percent(before: Counters, after: Counters, length_s: float) -> float | None:
    """Return the part of a window that was spent in executions: a thread cannot be busier than always."""
    if before.busy_ms is None or after.busy_ms is None:
        return None
    return min(max((after.busy_ms - before.busy_ms) / length_s / 10.0, 0.0), 100.0)
