"""When the response time is back: rolling median, settled level, and from when on all is well."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from experiments.adaptation.report.deliveries import Deliveries
    from scheduler.base.arrays import FloatArray, IntArray

WINDOW_S = 5.0
"""Length of the rolling median's window, which ends with the row in question."""
SETTLING_S = 30.0
"""The settled level is the median over so long a time before the next event."""
TOLERANCE = 1.2
"""Most times the settled level that counts as recovered."""
OUTAGE_S = 5.0
"""Longer than this no row may wait, and no stretch of rows be without result: it is an outage."""
HELD_S = 30.0
"""So long all must be well, counted from the last move of the phase, to be back for a first time."""


@dataclass(frozen=True)
class Recovery:
    """When the response time is back, from the start of the phase; 0 if it was never away.

    Attributes:
        back_s: From when on all is well until the end of the phase; None if it does not end well.
        first_s: From when on all is well for 30 s and the query moves no more, `back_s` at the latest. From
            then to `back_s` something else disturbed the query. None like `back_s`.
    """

    back_s: float | None
    first_s: float | None


NOT_BACK = Recovery(None, None)


def rolling_median_ms(rows: Deliveries) -> FloatArray:
    """Return for each row the median response time of the rows available in the 5 s up to it.

    Returns:
        (n_rows,) ms; infinite where half of the rows or more have no result.
    """
    response_ms = rows.response_ms.tolist()
    starts = np.searchsorted(rows.available_s, rows.available_s - WINDOW_S, side="right").tolist()
    medians: list[float] = []
    window: list[float] = []  # the window's values in order, of the rows from `first` to the present one
    first = 0
    for value, start in zip(response_ms, starts, strict=True):
        insort(window, value)
        for left in response_ms[first:start]:
            del window[bisect_left(window, left)]
        first = start
        half = len(window) // 2
        medians.append((window[half] + window[~half]) / 2)
    return np.array(medians)


def settled_ms(rows: Deliveries, start_s: float, end_s: float) -> float | None:
    """Return the median response time of the last 30 s of a phase, ms.

    Returns:
        None if there is no row, or half of them wait longer than an outage's 5 s.
    """
    inside = (rows.available_s >= max(start_s, end_s - SETTLING_S)) & (rows.available_s < end_s)
    if not inside.any():
        return None
    median = float(np.median(rows.response_ms[inside]))
    return median if median <= OUTAGE_S * 1000.0 else None


def recovery(
    rows: Deliveries, medians_ms: FloatArray, start_s: float, end_s: float, rate: float, *, moved_s: float
) -> Recovery:
    """Return how long after the start of a phase the response time is back, and was for a first time.

    All is well at a row if the rolling median is at most 1.2 times the settled level (and below an outage's
    5 s), no more rows wait for a result than come in 5 s, and no 5 s have passed without a row that has one.

    Args:
        rows: The rows.
        medians_ms: Their rolling medians.
        start_s: The event, unix time.
        end_s: The next event, or the end.
        rate: Rows per second.
        moved_s: The last move of the phase, unix time, or its start without one.
    """
    level_ms = settled_ms(rows, start_s, end_s)
    inside = np.flatnonzero((rows.available_s >= start_s) & (rows.available_s < end_s))
    if level_ms is None or not len(inside):
        return NOT_BACK
    limit_ms = TOLERANCE * level_ms
    moments_s = rows.available_s[inside]
    late = medians_ms[inside] > min(limit_ms, OUTAGE_S * 1000.0)
    backlog = _waiting(rows, moments_s, limit_ms) > OUTAGE_S * rate
    pauses = np.diff(moments_s, prepend=start_s) > OUTAGE_S
    # a row after a pause is the first that may be the one from which on all is well
    starts = np.unique(np.concatenate(([0], np.flatnonzero(late | backlog) + 1, np.flatnonzero(pauses))))
    if starts[-1] == len(inside) or end_s - moments_s[-1] > OUTAGE_S:
        return NOT_BACK
    begins_s = np.where((starts == 0) & ~pauses[0], start_s, moments_s[starts])
    lasts_s = np.append(moments_s[starts[1:] - 1], end_s) - np.maximum(begins_s, moved_s)
    first = np.flatnonzero(lasts_s >= HELD_S)
    first_s = begins_s[first[0]] if first.size else begins_s[-1]
    return Recovery(float(begins_s[-1] - start_s), float(first_s - start_s))


def longest_silence_s(rows: Deliveries, start_s: float, end_s: float) -> float:
    """Return the longest time in a phase in which no result came, s."""
    results_s = rows.result_s[(rows.result_s >= start_s) & (rows.result_s < end_s)]
    return float(np.diff(np.concatenate(([start_s], np.sort(results_s), [end_s]))).max())


def _waiting(rows: Deliveries, moments_s: FloatArray, limit_ms: float) -> IntArray:
    """Count at each moment the rows that should have a result by then and get it later.

    Rows that never get one are no backlog: they are lost, and late for the rolling median.
    """
    slow = np.isfinite(rows.response_ms) & (rows.response_ms > limit_ms)
    due_s = np.sort(rows.available_s[slow] + limit_ms / 1000.0)
    there_s = np.sort(rows.result_s[slow])
    begun = np.searchsorted(due_s, moments_s, side="right")
    ended = np.searchsorted(there_s, moments_s, side="right")
    return np.asarray(begun - ended, dtype=np.int64)
