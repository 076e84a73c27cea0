"""The reading of one topology as text: the JSON object of the znode `<root>/rates/<topology id>`."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING

from formats.rates_reading import LIFETIME_S, MAX_EXECUTORS, MAX_NAMED, MOST_FACTOR, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from formats.rates_reading import ExecutorsFields, RatesFields
    from monitoring.rates.rates_reading import Rates

_DIGITS = 6
_FACTOR_DIGITS = 3


def to_json(
    topology: str, rates: Rates, time_s: float, sequence: int, ahead: Sequence[float | None] = ()
) -> bytes:
    """Give the reading as text.

    Args:
        topology: Id of the topology.
        rates: What was measured.
        time_s: Unix time of the reading, s.
        sequence: Number of the reading, from 1 at each start of the collector.
        ahead: By what factor the next hours are usually busier; empty if that is not known.

    Raises:
        ValueError: If a number is not finite; such a reading must never be published.
    """
    content: RatesFields = {
        "version": VERSION,
        "time": round(time_s, 3),
        "sequence": sequence,
        "lifetime_s": LIFETIME_S,
        "topology": topology,
        "window_s": rates.window_s,
        "sample_rate": _short(rates.sample_rate),
        "streams": [
            {
                "from": stream.component,
                "stream": stream.id,
                "to": to,
                "rate": _short(rate),
                "tuple_bytes": None,
            }
            for stream, to, rate in rates.streams
        ],
        "emitted": [
            {
                "component": stream.component,
                "stream": stream.id,
                "rate": _short(rate),
                "transferred": _short(transferred),
            }
            for stream, rate, transferred in rates.emitted
        ],
        "executors": _executors_json(rates),
        "busy": [
            {"component": component, "percent": _short(percent)} for component, percent in rates.busy.items()
        ],
        "host_pairs": [(a, b, _short(rate)) for a, b, rate in rates.host_pairs],
        "complete": rates.complete,
        "missing": list(rates.missing[:MAX_NAMED]),
    }
    if rates.complete_ms is not None:
        content["complete_ms"] = _short(rates.complete_ms)
    if 0 < len(rates.started) <= MAX_EXECUTORS:
        content["started"] = _by_second(rates.started, time_s)
        content["worked"] = _by_second(rates.worked, time_s)
        if rates.ready:
            content["ready"] = _by_second(rates.ready, time_s)
    if ahead:
        content["hours_ahead"] = [
            None if each is None else round(min(each, MOST_FACTOR), _FACTOR_DIGITS) for each in ahead
        ]
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def _by_second(ages: Iterable[tuple[float, int]], time_s: float) -> list[tuple[int, list[int]]]:
    """Return the executors of each second in which they began: most of a topology's share few."""
    by_second: defaultdict[int, list[int]] = defaultdict(list)
    for age_s, first_task in ages:
        by_second[round(time_s - age_s)].append(first_task)
    return [(second, sorted(tasks)) for second, tasks in sorted(by_second.items())]


def _executors_json(rates: Rates) -> ExecutorsFields | None:
    if len(rates.executors) > MAX_EXECUTORS:
        return None
    return {
        "first_task": [look.first_task for look, _ in rates.executors],
        "executed": [_short(window.executed_total) for _, window in rates.executors],
        "emitted": [_short(window.emitted_by_user) for _, window in rates.executors],
        "execute_ms": [
            None if window.execute_ms is None else _short(window.execute_ms) for _, window in rates.executors
        ],
    }


def _short(number: float) -> float:
    """Round to six significant digits: no counter is known better, and the znode stays small."""
    if number == 0 or not math.isfinite(number):
        return number
    return round(number, _DIGITS - 1 - math.floor(math.log10(abs(number))))
