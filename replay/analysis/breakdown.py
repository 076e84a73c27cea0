"""Where the response time goes: the way of a row, leg by leg, from Redis to Redis."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace
    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True)
class Way:
    """The components that a row passes, in order.

    Attributes:
        components: From the source to the one that writes the answer.
        clocks: By component that waits for the clock's half of a row: the metronome that sends it.
    """

    components: tuple[str, ...]
    clocks: Mapping[str, str] = field(default_factory=dict)


QUERY_1 = Way(
    (
        *("dataSource", "parser", "filterByCoordinates", "computeRouteID"),
        *("countByWindow", "partialRank", "globalRank"),
    ),
    {"countByWindow": "metronome"},
)
"""Way of a row of query 1; metronome's half of it meets it at countByWindow."""

Kind = Literal["ends", "hop", "component", "wait"]


@dataclass(frozen=True)
class Leg:
    """One part of the way.

    Attributes:
        name: From where to where, or what.
        kind: `ends` from and to Redis, `hop` from one component's passing on to the next one's taking,
            `component` work in Python, `wait` for the metronome's half.
        place: Where it happens, or between which places; `N hosts` or `several places` where a component has
            executors on more than one host.
        median_ms: Median over the measured rows.
        p95_ms: 95th percentile.
        network_ms: The part that is the network's delay, by the site file; the mean over all pairs of
            executors where there are several, as trails do not say which of them had a row.
    """

    name: str
    kind: Kind
    place: str
    median_ms: float
    p95_ms: float
    network_ms: float

    @property
    def rest_ms(self) -> float:
        """What the network does not explain of the median."""
        return self.median_ms - self.network_ms


@dataclass(frozen=True)
class Parts:
    """The response time by cause, ms; sums of the legs' medians.

    Attributes:
        network: Delay between hosts, on the way of the rows.
        storm: The rest of the hops: Storm's queues, serialisation, pipes between Storm and Python.
        python: The components' own work.
        wait: countByWindow's wait for the metronome's half.
        redis: From Redis to the source and from globalRank to Redis, without the network's delay.
    """

    network: float
    storm: float
    python: float
    wait: float
    redis: float


def legs(
    rows: pd.DataFrame, places: Sequence[ExecutorPlace], sites: SiteFile, way: Way = QUERY_1
) -> tuple[Leg, ...]:
    """Cut the way of the measured rows into legs.

    Args:
        rows: As from `replay.analysis.measured_rows.read_rows`: `row_ms`, `emit_us`, `done_us`, `result_ms`,
            and in microseconds after the emit when each component took a row and passed it on, and when the
            clock's half of it came.
        places: Where the executors ran.
        sites: True delays.
        way: The components on the way; all have a place.
    """
    first, last = way.components[0], way.components[-1]
    executors: dict[str, list[ExecutorPlace]] = {}
    for each in places:
        executors.setdefault(each.component, []).append(each)
    where, network_ms = _between(executors[first], sites.redis, sites)
    from_redis = rows["emit_us"] - rows["row_ms"] * 1000
    found = [_leg(f"Redis - {first}", "ends", f"{sites.redis} - {where}", from_redis, network_ms)]
    for before, after in pairwise(way.components):
        passed_on = 0 if before == first else rows[f"{before}_out_us"]
        taken = rows[f"{after}_in_us"]
        where, network_ms = _apart(executors[before], executors[after], sites)
        found.append(_leg(f"{before} - {after}", "hop", where, taken - passed_on, network_ms))
        out = rows["done_us"] - rows["emit_us"] if after == last else rows[f"{after}_out_us"]
        begun = taken
        if after in way.clocks:
            metronome = way.clocks[after]
            begun = taken.combine(rows[f"{after}_clock_us"], max)
            at = f"{metronome} at {_hosts(executors[metronome])}"
            found.append(_leg(f"wait for {metronome}", "wait", at, begun - taken, 0.0))
        found.append(_leg(after, "component", _hosts(executors[after]), out - begun, 0.0))
    where, network_ms = _between(executors[last], sites.redis, sites)
    to_redis = rows["result_ms"] * 1000 - rows["done_us"]
    found.append(_leg(f"{last} - Redis", "ends", f"{where} - {sites.redis}", to_redis, network_ms))
    return tuple(found)


def parts(way: Sequence[Leg]) -> Parts:
    """Sum the legs up by cause."""

    def total(kind: Kind) -> float:
        return sum(leg.rest_ms for leg in way if leg.kind == kind)

    return Parts(
        network=sum(leg.network_ms for leg in way),
        storm=total("hop"),
        python=total("component"),
        wait=total("wait"),
        redis=total("ends"),
    )


def _leg(name: str, kind: Kind, place: str, microseconds: pd.Series[int], network_ms: float) -> Leg:
    values: FloatArray = np.asarray(microseconds, dtype=np.float64) / 1000.0
    median, p95 = np.percentile(values, (50, 95))
    return Leg(name, kind, place, float(median), float(p95), network_ms)


def _hosts(executors: Sequence[ExecutorPlace]) -> str:
    """Return the host of a component's executors, or how many there are."""
    hosts = {each.host for each in executors}
    return next(iter(hosts)) if len(hosts) == 1 else f"{len(hosts)} hosts"


def _between(executors: Sequence[ExecutorPlace], site: str, sites: SiteFile) -> tuple[str, float]:
    """Return where executors are, and their mean delay to a host of a site, ms."""
    return _hosts(executors), _mean(sites.between_ms(site, each.site) for each in executors)


def _apart(
    starts: Sequence[ExecutorPlace], ends: Sequence[ExecutorPlace], sites: SiteFile
) -> tuple[str, float]:
    """Return in words how executors of two components are apart, and the mean delay between them, ms."""
    pairs = [_pair(start, end, sites) for start in starts for end in ends]
    words = {words for words, _ in pairs}
    return next(iter(words)) if len(words) == 1 else "several places", _mean(ms for _, ms in pairs)


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def _pair(start: ExecutorPlace, end: ExecutorPlace, sites: SiteFile) -> tuple[str, float]:
    """Return in words how two executors are apart, and the network's delay between them in ms."""
    if (start.host, start.port) == (end.host, end.port):
        return "one worker", 0.0
    if start.host == end.host:
        return "one host", 0.0
    delay_ms = sites.between_ms(start.site, end.site)
    if start.site == end.site:
        return f"hosts of {start.site}", delay_ms
    return f"{start.site} - {end.site}", delay_ms
