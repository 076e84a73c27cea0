"""What the sources of topologies usually emit at each hour of the week, by the names of the topologies.

A topology that is submitted anew keeps its name, and with it what is known of its week. No clock here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from formats.rates_reading import HOURS_AHEAD, LIFETIME_S
from formats.week_curve import HOUR_S, HourMean, WeekCurve, hour_of_week
from monitoring.json_input import amount_at, json_object, list_at

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
MOST_NAMES = 1000
"""Topologies whose week is kept; those that were seen last."""
LEAST_WEEKS = 2
"""Weeks in which an hour was seen before something follows from it: a single one may have been a holiday."""
_LEAST_SEEN_S = HOUR_S / 2
"""Part of an hour from which it counts as seen."""
_LEAST_WEIGHT = 0.25
"""Weight of the last week, at least: what is usual changes."""
_ID = re.compile(r"(.+)-\d+-\d+")
"""Storm makes a topology's id of its name, a number and the time of its submission."""


@dataclass
class _Known:
    """One topology.

    Attributes:
        curve: What is usual.
        seen_s: Unix time at which it was seen last.
        weighed: Tuples of the present hour, as far as it was seen.
        seconds: Time of the present hour that was seen.
    """

    curve: WeekCurve = field(default_factory=WeekCurve)
    seen_s: float = 0.0
    weighed: float = 0.0
    seconds: float = 0.0


def name_of(topology: str) -> str:
    """Return the name of a topology by its id."""
    match = _ID.fullmatch(topology)
    return topology if match is None else match[1]


class WeekMemory:
    """Takes rates as they come, and says how busy the hours to come usually are."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def take(self, name: str, unix_s: float, rate: float) -> bool:
        """Take the rate of a topology's sources.

        Args:
            name: The topology.
            unix_s: Time of the rate, s since 1970; it holds for the time since the last one, if that was
                lately.
            rate: Tuples per second.

        Returns:
            Whether an hour has ended of which enough was seen, so that something is worth keeping.
        """
        known = self._known.setdefault(name, _Known(seen_s=unix_s))
        ended = False
        if unix_s // HOUR_S != known.seen_s // HOUR_S:
            if known.seconds >= _LEAST_SEEN_S:
                hour, mean = hour_of_week(known.seen_s), known.weighed / known.seconds
                known.curve = known.curve.with_hour(hour, mean, _LEAST_WEIGHT)
                ended = True
            known.weighed = known.seconds = 0.0
        since_s = min(max(unix_s - known.seen_s, 0.0), LIFETIME_S)
        known.weighed += rate * since_s
        known.seconds += since_s
        known.seen_s = unix_s
        if ended and len(self._known) > MOST_NAMES:
            latest = sorted(self._known, key=lambda each: self._known[each].seen_s)
            for each in latest[:-MOST_NAMES]:
                del self._known[each]
        return ended

    def ahead(self, name: str, unix_s: float) -> tuple[float | None, ...]:
        """Return the factors of the next hours against the present one; empty if none is known."""
        if name not in self._known:
            return ()
        found = self._known[name].curve.factors(hour_of_week(unix_s), HOURS_AHEAD, LEAST_WEEKS)
        return found if any(each is not None for each in found) else ()

    def content(self) -> dict[str, Any]:
        """Return what is to be kept as a JSON object; the hour under way is not."""
        return {
            "version": VERSION,
            "weeks": {
                name: {
                    "seen": known.seen_s,
                    "hours": [[hour, *seen] for hour, seen in sorted(known.curve.hours.items())],
                }
                for name, known in sorted(self._known.items())
            },
        }

    @staticmethod
    def read(text: bytes) -> WeekMemory:
        """Return what was kept.

        Raises:
            ValueError: The text is no such content, with the reason.
        """
        fields = json_object(text)
        if fields.get("version") != VERSION:
            raise ValueError(f"not a state file of version {VERSION}")
        memory = WeekMemory()
        for name, one in _object("weeks", fields.get("weeks")).items():
            entry = _object(name, one)
            hours = [_hour(name, each) for each in list_at(f"{name}.hours", entry.get("hours"))]
            curve = WeekCurve(dict(hours))
            memory._known[name] = _Known(curve, amount_at(f"{name}.seen", entry.get("seen")))
        return memory


def _object(place: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place} is not an object")  # noqa: TRY004 - one kind of error for all bad content
    return value


def _hour(name: str, value: object) -> tuple[int, HourMean]:
    numbers = list_at(f"{name}.hours[]", value)
    if len(numbers) != 3:
        raise ValueError(f"{name}.hours: an entry is not hour, mean and weeks")
    hour, mean, weeks = (amount_at(f"{name}.hours[]", each) for each in numbers)
    return int(hour), HourMean(mean, int(weeks))
