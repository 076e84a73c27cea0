"""The network as it was: true delays by the site file and the events, and when the planner saw a change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.adaptation.report.kept import Event, PlannedRound, Source
    from formats.site_file import SiteFile

Pair: TypeAlias = frozenset[str]
"""Two different sites."""


@dataclass(frozen=True)
class Epoch:
    """The network between two events.

    Attributes:
        start_s: Unix time of the event that began it; -inf for the first one.
        delay_ms: True one-way delay by pair of sites.
        isolated: Sites without links to others.
    """

    start_s: float
    delay_ms: Mapping[Pair, float]
    isolated: frozenset[str]

    def between_ms(self, pair: Pair) -> float | None:
        """Return the true delay of a pair of sites, None while there is no link."""
        return None if pair & self.isolated else self.delay_ms[pair]


def epochs(events: Sequence[Event], sites: SiteFile, path: Path) -> tuple[Epoch, ...]:
    """Return the network before the first event and after each, in order.

    Args:
        events: What happened.
        sites: The network before.
        path: The events' file, for messages.

    Raises:
        DataError: An event names a site that the site file does not have, or comes before the one before it.
    """
    found = [Epoch(float("-inf"), dict(sites.delay_ms), frozenset())]
    for number, event in enumerate(events):
        last = found[-1]
        if event.time_s < last.start_s:
            raise DataError(f"{path}: {number}.time_s: earlier than the event before")
        strangers = {*event.sites, *(name for a, b, _ in event.delays for name in (a, b))} - {*sites.names}
        if strangers:
            raise DataError(f"{path}: {number}: {', '.join(sorted(strangers))} is no site of the site file")
        isolated = last.isolated
        if event.kind == "isolate":
            isolated |= set(event.sites)
        elif event.kind == "rejoin":
            isolated -= set(event.sites)
        changed = {frozenset((a, b)): delay_ms for a, b, delay_ms in event.delays}
        found.append(Epoch(event.time_s, {**last.delay_ms, **changed}, isolated))
    return tuple(found)


def at(found: Sequence[Epoch], time_s: float) -> Epoch:
    """Return the network at a moment; at the moment of an event it is the one after it."""
    return next(epoch for epoch in reversed(found) if epoch.start_s <= time_s)


def seen_delays(each: PlannedRound) -> dict[Pair, tuple[float, Source]]:
    """Return the delays between different sites as the planner saw them in a round, ms, and their source."""
    return {frozenset((a, b)): (delay_ms, source) for a, b, delay_ms, source in each.delays if a != b}


@dataclass(frozen=True)
class Change:
    """An event and what it did.

    Attributes:
        event: The event.
        before: The network before it.
        after: The network after it.
        end_s: The next event, or the end of the scenario.
    """

    event: Event
    before: Epoch
    after: Epoch
    end_s: float


def seen_after_s(change: Change, rounds: Sequence[PlannedRound], sites: SiteFile) -> float | None:
    """Return how long after an event the first round began whose data show it.

    A changed delay is seen when more than half of the change is, in the planner's delays of each pair that
    changed; an isolated site when nothing is known of its delays or an executor has been taken from it; a
    site that has rejoined when one of its delays is known.

    Args:
        change: The event.
        rounds: All rounds, in order.
        sites: Hosts of the sites.

    Returns:
        Seconds; None if no round before the next event shows it.
    """
    start_s = change.event.time_s
    earlier: PlannedRound | None = None
    for each in rounds:
        if each.time_s < start_s:
            earlier = each
        elif each.time_s < change.end_s and _shows(change, each, earlier, sites):
            return each.time_s - start_s
    return None


def _shows(change: Change, each: PlannedRound, earlier: PlannedRound | None, sites: SiteFile) -> bool:
    delays = {pair: delay_ms for pair, (delay_ms, _) in seen_delays(each).items()}
    concerned = frozenset(change.event.sites)
    known = any(pair & concerned for pair in delays)
    if change.event.kind == "isolate":
        return not known or (earlier is not None and _left(earlier, each, concerned, sites))
    if change.event.kind == "rejoin":
        return known
    old, new = change.before.delay_ms, change.after.delay_ms
    changed = [pair for pair in new if new[pair] != old[pair]]
    return bool(changed) and all(
        pair in delays and (delays[pair] - old[pair]) / (new[pair] - old[pair]) > 0.5 for pair in changed
    )


def _left(earlier: PlannedRound, each: PlannedRound, concerned: frozenset[str], sites: SiteFile) -> bool:
    """Whether an executor that had a host at one of the sites has none there any more."""

    def there(host: str | None) -> bool:
        return host is not None and sites.hosts.get(host) in concerned

    return any(there(host) and not there(each.hosts.get(task)) for task, host in earlier.hosts.items())
