"""When the response time is back: rolling median, settled level, and the moment from which it stays there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from replay.adaptation.deliveries import Deliveries
    from scheduler.arrays import FloatArray, IntArray

WINDOW_S = 5.0
"""Length of the rolling median's window, which ends with the row in question."""
SETTLING_S = 30.0
"""The settled level is the median over so long a time before the next event."""
TOLERANCE = 1.2
"""Most times the settled level that counts as recovered."""
OUTAGE_S = 5.0
"""Longer than this no row may wait, and no stretch of rows be without result: it is an outage."""


def rolling_median_ms(rows: Deliveries) -> FloatArray:
    """Return for each row the median response time of the rows available in the 5 s up to it.

    Returns:
        (n_rows,) ms; infinite where half of the rows or more have no result.
    """
    starts = np.searchsorted(rows.available_s, rows.available_s - WINDOW_S, side="right")
    return np.array([np.median(rows.response_ms[start : row + 1]) for row, start in enumerate(starts)])


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


def recovered_after_s(
    rows: Deliveries, medians_ms: FloatArray, start_s: float, end_s: float, rate: float
) -> float | None:
    """Return how long after the start of a phase the response time is back for the rest of the phase.

    It is back at the first row from which on, for all rows of the phase, the rolling median is at most 1.2
    times the settled level (and below an outage's 5 s), no more rows wait for a result than come in 5 s, and
    no 5 s pass without a row that has one.

    Args:
        rows: The rows.
        medians_ms: Their rolling medians.
        start_s: The event, unix time.
        end_s: The next event, or the end.
        rate: Rows per second.

    Returns:
        Seconds; 0 if it was never away; None if it does not come back before the end.
    """
    level_ms = settled_ms(rows, start_s, end_s)
    inside = np.flatnonzero((rows.available_s >= start_s) & (rows.available_s < end_s))
    if level_ms is None or not len(inside):
        return None
    limit_ms = TOLERANCE * level_ms
    moments_s = rows.available_s[inside]
    late = medians_ms[inside] > min(limit_ms, OUTAGE_S * 1000.0)
    backlog = _waiting(rows, moments_s, limit_ms) > OUTAGE_S * rate
    pauses = np.diff(moments_s, prepend=start_s) > OUTAGE_S
    # a row after a pause is the first that may be the one from which on all is well
    away = np.flatnonzero(late | backlog) + 1
    back = max(away.max(initial=0), np.flatnonzero(pauses).max(initial=0))
    if back == len(inside) or end_s - moments_s[-1] > OUTAGE_S:
        return None
    return 0.0 if back == 0 and not pauses[0] else float(moments_s[back] - start_s)


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
