"""What came of a turn: response times, hosts, costs, lost items and pauses. Pure."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from provisioning.providers.billing import bill

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.elasticity.loads import Floats
    from experiments.lab_elasticity.kept import ElasticityDone, Items, Look
    from provisioning.providers.entry import Entry

WINDOW_S = 10.0
PAUSE_WITHIN_S = 60.0
"""A lull of results counts as the pause of a change that came at most so long before."""
_LULL = 0.5
"""Share of what is due; when fewer results come items stand still, but for some."""
_RESULTS_S, _DUE_S, _EVERY_S = 1.0, 10.0, 0.1
"""Results are counted over so long, and what is due, at moments so far apart."""


@dataclass(frozen=True)
class Window:
    """Some seconds of a turn.

    Attributes:
        from_s: Their begin, s since the start of what is measured.
        rate: Items that were due, per second.
        result_rate: Items that came, per second; those that came again are left out.
        executors: By component, as seen last by then.
        hosts: That were there and paid, on average.
        waiting: Items that no source had taken, at the most.
        mean_s: Response time of the items that were due, s; NaN without any that came.
        p95_s: The same.
    """

    from_s: float
    rate: float
    result_rate: float
    executors: Mapping[str, int]
    hosts: float
    waiting: int
    mean_s: float
    p95_s: float


@dataclass(frozen=True)
class Change:
    """A reconfiguration.

    Attributes:
        at_s: When Nimbus was asked for it, s since the start of what is measured.
        pause_s: Longest time after it in which less than half as many results come as items are due, s.
        expected_s: What the loop had expected, s; None: nothing.
    """

    at_s: float
    pause_s: float
    expected_s: float | None = None

    @property
    def error(self) -> float | None:
        """By how much more was expected, as a share of the pause; None if nothing was.

        What is too short to be seen counts as the time over which results are counted.
        """
        if self.expected_s is None:
            return None
        return self.expected_s / max(self.pause_s, _RESULTS_S) - 1.0


@dataclass(frozen=True)
class Outcome:
    """What came of a turn; without the warm-up, except for what is lost or came twice.

    Attributes:
        items: That were due.
        lost: That never came.
        twice: That came more than once.
        late: Share of items that took longer than they may, lost ones included.
        mean_s: Response time, s.
        p50_s, p95_s, p99_s: The same.
        host_s: Hosts times the seconds for which they were there.
        static_host_s: The same of as many hosts as the peak needs.
        units: Billing units that had begun, those of hosts that are not leased included.
        static_units: The same of as many hosts as the peak needs.
        leases: Hosts that were leased.
        hosts_most: Most hosts at once.
        changes: Reconfigurations.
        windows: The turn over time.
        start_s: Start of what is measured, unix time.
    """

    items: int
    lost: int
    twice: int
    late: float
    mean_s: float
    p50_s: float
    p95_s: float
    p99_s: float
    host_s: float
    static_host_s: float
    units: int
    static_units: int
    leases: int
    hosts_most: int
    changes: tuple[Change, ...]
    windows: tuple[Window, ...]
    start_s: float

    @property
    def host_share(self) -> float:
        """Hosts' time as a part of that of the hosts that the peak needs."""
        return self.host_s / self.static_host_s

    @property
    def longest_pause_s(self) -> float:
        """Longest pause of all changes, s; 0 without any."""
        return max((each.pause_s for each in self.changes), default=0.0)


@dataclass(frozen=True)
class Raw:
    """All that was noted in a turn.

    Attributes:
        done: What it was.
        items: What was due and what came.
        looks: What was seen, in order.
        leases: Of hosts.
        changes: When Nimbus was asked to change executors, unix time, and the pause that was expected, s.
    """

    done: ElasticityDone
    items: Items
    looks: Sequence[Look]
    leases: Sequence[Entry]
    changes: Sequence[tuple[float, float | None]]


def outcome(raw: Raw) -> Outcome:
    """Return what came of a turn."""
    done = raw.done
    start_s = raw.items.start_us / 1e6
    due_s = np.asarray(raw.items.due_us, dtype=np.float64) / 1e6 - start_s
    came_s, twice = _first_arrivals(raw.items, start_s)
    counted = due_s >= 0.0
    response_s = (came_s - due_s)[counted]
    there = response_s[np.isfinite(response_s)]
    spans = _spans(raw.leases, start_s, done.run_s)
    static_units = done.static_hosts * math.ceil(done.run_s / done.billing_unit_s)
    quantiles = np.quantile(there, (0.5, 0.95, 0.99)) if len(there) else np.full(3, np.nan)
    return Outcome(
        items=int(counted.sum()),
        lost=int((~np.isfinite(came_s)).sum()),
        twice=twice,
        late=float((~(response_s <= done.bound_s)).mean()) if len(response_s) else 0.0,
        mean_s=float(there.mean()) if len(there) else math.nan,
        p50_s=float(quantiles[0]),
        p95_s=float(quantiles[1]),
        p99_s=float(quantiles[2]),
        host_s=done.fixed_hosts * done.run_s + sum(until - begin for begin, until in spans),
        static_host_s=done.static_hosts * done.run_s,
        units=done.fixed_hosts * math.ceil(done.run_s / done.billing_unit_s)
        + sum(_units(each, start_s + done.run_s) for each in raw.leases if _counts(each, start_s)),
        static_units=static_units,
        leases=len(spans),
        hosts_most=done.fixed_hosts + _most(spans),
        changes=_changes([(at_s - start_s, each) for at_s, each in raw.changes], (due_s, came_s), done.run_s),
        windows=_windows(raw, due_s, came_s, spans),
        start_s=start_s,
    )


def _first_arrivals(items: Items, start_s: float) -> tuple[Floats, int]:
    """Return when each item came for the first time (n,), infinite if never, and how many came again."""
    came_s = np.full(len(items.due_us), np.inf)
    for number, at_us in items.arrived:
        came_s[number] = min(came_s[number], at_us / 1e6 - start_s)
    again = Counter(number for number, _ in items.arrived)
    return came_s, sum(count > 1 for count in again.values())


def _spans(leases: Sequence[Entry], start_s: float, run_s: float) -> list[tuple[float, float]]:
    """Return from when until when leased hosts were there, within what is measured."""
    found = []
    for each in leases:
        if each.ready_at_s is None or each.failed:
            continue
        begin = max(each.ready_at_s - start_s, 0.0)
        until = run_s if each.ended_at_s is None else min(each.ended_at_s - start_s, run_s)
        if until > begin:
            found.append((begin, until))
    return found


def _counts(entry: Entry, start_s: float) -> bool:
    """Return whether a host was there after the start."""
    return entry.ended_at_s is None or entry.ended_at_s > start_s


def _units(entry: Entry, until_s: float) -> int:
    """Return what of a lease was billed by the end of what is measured."""
    if entry.ready_at_s is None or entry.failed or entry.ready_at_s >= until_s:
        return 0
    if entry.ended_at_s is not None and entry.ended_at_s <= until_s:
        return bill(entry, "ready", until_s).units
    return math.ceil((until_s - entry.ready_at_s) / entry.billing_unit_s)


def _most(spans: Sequence[tuple[float, float]]) -> int:
    return max((sum(begin <= at < until for begin, until in spans) for at, _ in spans), default=0)


def _changes(
    asked: Sequence[tuple[float, float | None]], due_and_came_s: tuple[Floats, Floats], run_s: float
) -> tuple[Change, ...]:
    """Return the changes within what is measured; a lull belongs to the last one before it."""
    found = []
    for k, (begin, expected_s) in enumerate(asked):
        if not 0.0 <= begin <= run_s:
            continue
        until = min([begin + PAUSE_WITHIN_S, *(at_s for at_s, _ in asked[k + 1 : k + 2])])
        found.append(Change(begin, longest_lull_s(*due_and_came_s, begin, until), expected_s))
    return tuple(found)


def longest_lull_s(due_s: Floats, came_s: Floats, begin_s: float, until_s: float) -> float:
    """Return the longest time in which less than half as many results come as items are due, s.

    Args:
        due_s: (n,) when items are due.
        came_s: (n,) when their results come, in any order; infinite: never.
        begin_s: From when on it is looked for.
        until_s: Until when.
    """
    at = np.arange(begin_s, until_s, _EVERY_S)
    coming = _around(np.sort(due_s), at, _DUE_S) / _DUE_S
    results = _around(np.sort(came_s), at, _RESULTS_S) / _RESULTS_S
    lull = np.concatenate(([False], results < _LULL * coming, [False])).astype(np.int8)
    edges = np.diff(lull)
    lengths = np.flatnonzero(edges < 0) - np.flatnonzero(edges > 0)
    return float(lengths.max(initial=0)) * _EVERY_S


def _around(moments_s: Floats, at_s: Floats, width_s: float) -> Floats:
    """Return how many moments, ascending, are less than half a width from some times (n,)."""
    first = np.searchsorted(moments_s, at_s - width_s / 2)
    return (np.searchsorted(moments_s, at_s + width_s / 2) - first).astype(np.float64)


def _windows(
    raw: Raw, due_s: Floats, came_s: Floats, spans: Sequence[tuple[float, float]]
) -> tuple[Window, ...]:
    done, start_s = raw.done, raw.items.start_us / 1e6
    found = []
    seen: Mapping[str, int] = {}
    for begin in np.arange(0.0, done.run_s, WINDOW_S).tolist():
        end = min(begin + WINDOW_S, done.run_s)
        length = end - begin
        due = (due_s >= begin) & (due_s < end)
        response_s = (came_s - due_s)[due & np.isfinite(came_s)]
        looks = [each for each in raw.looks if begin <= each.time_s - start_s < end]
        earlier = [each for each in raw.looks if each.time_s - start_s < end]
        seen = earlier[-1].executors if earlier else seen
        leased = sum(max(0.0, min(until, end) - max(since, begin)) for since, until in spans)
        found.append(
            Window(
                from_s=begin,
                rate=float(due.sum()) / length,
                result_rate=float(((came_s >= begin) & (came_s < end)).sum()) / length,
                executors=dict(seen),
                hosts=done.fixed_hosts + leased / length,
                waiting=max((each.waiting for each in looks), default=0),
                mean_s=float(response_s.mean()) if len(response_s) else math.nan,
                p95_s=float(np.quantile(response_s, 0.95)) if len(response_s) else math.nan,
            )
        )
    return tuple(found)
