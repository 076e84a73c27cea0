"""What `network` prints: one JSON object, or tables and a summary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bridge.network.delays import Provenance
from bridge.network.embedding import LEAST_PAIRS
from bridge.network.geography import ReadingState, worst_first
from bridge.readings.drains import read_drains
from bridge.wire.messages import ReadingKind
from cli.network.network_input import drain_entry, entry
from cli.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.network.geography import Geography, HostView
    from bridge.readings.drains import Announcement, Drains, Place
    from cli.network.network_input import Snapshot

MOST_HOSTS = 40
MOST_SITES = 16
_NAMED = 10
_WIDTH = 140
_CELL_WIDTH = 15
_SOURCE = {
    Provenance.MEASURED: "measured",
    Provenance.COORDINATES: "coordinates",
    Provenance.SITE_MEDIAN: "site median",
    Provenance.SITE_TABLE: "site table",
    Provenance.UNIFORM: "uniform",
}
_LETTER = {kind: name[0] for kind, name in _SOURCE.items()} | {Provenance.SITE_TABLE: "t"}

_LOAD = ("cpu", "memory", "run_queue", "slots_used", "slots")
"""Keys of `load`; what an agent does not know is null."""


def document(geography: Geography, snapshot: Snapshot) -> dict[str, object]:
    """Return the JSON answer; `--readings` reads it again. Delays are one way, in ms."""
    request = snapshot.request
    embedding = geography.delays.embedding
    return {
        "origin": snapshot.origin,
        "live": geography.live,
        "sites": [
            {
                "between": [_site_name(geography, index) for index in cell.sites],
                "delay_ms": cell.delay_ms,
                "source": None if cell.source is None else _SOURCE[cell.source],
                "pairs": cell.pairs,
                "all_pairs": cell.all_pairs,
            }
            for cell in geography.cells
        ],
        "hosts": [_host(host) for host in geography.hosts],
        "embedding": {
            "error": embedding.error,
            "pairs": embedding.pairs,
            "max_error": geography.max_embedding_error,
            "trusted": embedding.trusted,
        },
        "contradictions": [list(pair) for pair in geography.contradictions],
        "faults": list(geography.faults),
        "without_agent": geography.without_agent and list(geography.without_agent),
        "without_supervisor": geography.without_supervisor and list(geography.without_supervisor),
        "strangers": geography.strangers and [_host(host) for host in geography.strangers],
        "supervisors": sorted({each.host for each in request.supervisors})
        if snapshot.supervisors_known
        else None,
        "drains": [drain_entry(drain) for drain in request.drains],
        "readings": [entry(reading) for reading in request.readings if reading.kind is ReadingKind.NODE],
    }


def _host(host: HostView) -> dict[str, object]:
    return {
        "host": host.name,
        "site": host.site,
        "tier": host.tier,
        "reading": host.state.value,
        "age_s": host.age_s,
        "coordinate": host.coordinate and list(host.coordinate.position_ms),
        "height": host.coordinate and host.coordinate.height_ms,
        "error": host.error,
        "measured_error": host.measured_error,
        "links": host.links,
        "availability": host.availability,
        "outages": host.outages and {"count": host.outages["count"], "last_s": host.outages.get("last_s")},
        "load": host.load and dict.fromkeys(_LOAD) | dict(host.load),
        "faults": list(host.faults),
    }


def print_geography(geography: Geography, snapshot: Snapshot, *, show_all: bool) -> None:
    """Print delays by sites, hosts, and what is wrong.

    Args:
        geography: What to show.
        snapshot: Where it comes from.
        show_all: Also hosts above `MOST_HOSTS` and sites above `MOST_SITES`.
    """
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=_WIDTH)
    for table in _matrices(geography, console.width, show_all=show_all):
        console.print(table)
    drains = read_drains(snapshot.request.drains)
    console.print(_hosts_table("Hosts", geography.hosts, drains, show_all=show_all))
    if geography.strangers:
        title = "Agents without supervisor, which the planner leaves aside"
        console.print(_hosts_table(title, geography.strangers, drains, show_all=show_all))
    for line in _summary(geography, snapshot):
        console.print(Text(printable(line)), highlight=False)


def _matrices(geography: Geography, width: int, *, show_all: bool) -> Iterable[Table]:
    """Give the lower half of the delay matrix, in as many tables as the width asks for."""
    members: dict[int, int] = {}
    for index in geography.delays.site.tolist():
        members[index] = members.get(index, 0) + 1
    chosen = sorted(members)
    if not show_all:
        chosen = sorted(sorted(members, key=lambda index: (-members[index], index))[:MOST_SITES])
    names = {
        index: printable(f"{_site_name(geography, index) or 'no site'} ({members[index]})")
        for index in chosen
    }
    cells = {cell.sites: cell for cell in geography.cells}
    label = max(map(len, names.values()), default=0) + 4
    column = max(_CELL_WIDTH, label - 1)
    per_table = max(1, (width - label) // column)
    sources = sorted({cell.source for cell in geography.cells if cell.source is not None})
    letters = ", ".join(f"{_LETTER[source]} {_SOURCE[source]}" for source in sources)
    title = f"One-way delay between sites: median in ms, source ({letters}), pairs of hosts with it / all"
    if len(chosen) < len(members):
        title += f"; the {len(chosen)} largest of {len(members)} sites"
    for begin in range(0, len(chosen), per_table):
        shown = chosen[begin : begin + per_table]
        table = Table("site (hosts)", title=title, title_justify="left")
        for index in shown:
            table.add_column(Text(names[index]), justify="right", no_wrap=True)
        for row in chosen[begin:]:
            texts = []
            for other in shown:
                cell = cells[other, row] if other <= row else None
                if cell is None:
                    texts.append("")
                elif cell.delay_ms is None or cell.source is None:
                    texts.append("-")
                else:
                    texts.append(f"{cell.delay_ms:.1f} {_LETTER[cell.source]} {cell.pairs}/{cell.all_pairs}")
            table.add_row(Text(names[row]), *texts)
        yield table
        title = ""


def _site_name(geography: Geography, index: int) -> str | None:
    return geography.sites[index] if index < len(geography.sites) else None


def _hosts_table(title: str, hosts: Sequence[HostView], drains: Drains, *, show_all: bool) -> Table:
    shown = sorted(hosts, key=lambda host: (host.site is None, host.site, host.name))
    if not show_all and len(hosts) > MOST_HOSTS:
        shown = worst_first(hosts)[:MOST_HOSTS]
        title += f": the worst {MOST_HOSTS} of {len(hosts)} (--all shows every one)"
    table = Table(title=title, title_justify="left")
    tiers = any(host.tier for host in hosts)
    for name in ("host", "site", *(["tier"] if tiers else [])):
        table.add_column(name, no_wrap=True)
    for name in ("error:\nown", "measured\n(links)", "avail-\nability", "outages,\nlast", "CPU", "mem."):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("queue\n/core", "slots", "age"):
        table.add_column(name, justify="right", no_wrap=True)
    any_drain = drains.left_s or drains.announced
    table.add_column("drained, faults" if any_drain else "faults", overflow="fold")
    for host in shown:
        load, outages = host.load, host.outages
        drained = _of_host(drains, host)
        slots, queue = (load.get("slots"), load.get("run_queue")) if load else (None, None)
        table.add_row(
            Text(printable(host.name)),
            Text(printable(host.site or "-")),
            *([host.tier or "-"] if tiers else []),
            _percent(host.error),
            "-" if host.measured_error is None else f"{_percent(host.measured_error)} ({host.links})",
            "-" if host.availability is None else f"{100 * host.availability:.2f} %",
            "-" if outages is None else _outages(outages["count"], outages.get("last_s")),
            _percent(load["cpu"] if load else None),
            _percent(load["memory"] if load else None),
            "-" if queue is None else f"{queue:.1f}",
            "-" if load is None or slots is None else f"{_or_unknown(load.get('slots_used'))}/{slots}",
            "-" if host.age_s is None else _duration(host.age_s),
            Text(printable("; ".join((*drained, *host.faults)))),
        )
    return table


def _summary(geography: Geography, snapshot: Snapshot) -> Iterable[str]:
    by_state = {state: geography.in_state(state) for state in ReadingState}
    counted = ", ".join(f"{len(by_state[state])} {state}" for state in (*ReadingState,)[:-1])
    yield f"{snapshot.origin}: {len(geography.hosts)} hosts; readings: {counted}"
    if not geography.live:
        yield "The shim had no connection to ZooKeeper: these are the last readings it got."
    if not snapshot.metadata_known:
        yield "Sites and tiers: as agents report them (the planner takes what supervisors state first)"
    yield f"Sources: {geography.delays.summary()}"
    yield _embedding(geography)
    if geography.without_agent is None:
        yield "Hosts without agent: not known without the supervisors (--nimbus), and every agent counts"
    else:
        yield f"Hosts without agent: {_names(geography.without_agent)}"
        if geography.without_supervisor:
            yield f"Agents without supervisor: {_names(geography.without_supervisor)}"
    stale = by_state[ReadingState.STALE]
    yield f"Stale readings: {_names(stale)}"
    if stale and not by_state[ReadingState.BELIEVED]:
        yield "All readings are stale: no agent writes, or this machine's clock is ahead of ZooKeeper's."
    if by_state[ReadingState.REFUSED]:
        yield f"Refused readings: {_names(by_state[ReadingState.REFUSED])}"
    yield from _drains(read_drains(snapshot.request.drains))
    pairs = [f"{one} and {other}" for one, other in geography.contradictions]
    yield f"Contradictory links: {_names(pairs)}"
    for fault in geography.faults:
        yield f"Contradiction: {fault}"


def _drains(drains: Drains) -> Iterable[str]:
    if drains.left_s:
        now = [f"{' '.join(place)} {_until(left_s)}" for place, left_s in sorted(drains.left_s.items())]
        yield f"Drained: {_names(now)}"
    if drains.announced:
        later = [_announced(*each) for each in sorted(drains.announced.items())]
        yield f"To be drained: {_names(later)}"
    for fault in drains.faults:
        yield f"Without effect: {fault}"


def _announced(place: Place, announced: Announcement) -> str:
    left_s = None if announced.left_s is None else announced.left_s - announced.begins_s
    return f"{' '.join(place)} in {_duration(announced.begins_s)} {_until(left_s)}"


def _until(left_s: float | None) -> str:
    return "until undrain" if left_s is None else f"for {_duration(left_s)}"


def _of_host(drains: Drains, host: HostView) -> tuple[str, ...]:
    if drains.cover(host.name, host.site):
        return ("drained",)
    begins_s = drains.begins_s(host.name, host.site)
    return () if begins_s is None else (f"drained in {_duration(begins_s)}",)


def _embedding(geography: Geography) -> str:
    embedding = geography.delays.embedding
    if embedding.error is None:
        return "Coordinates: cannot be judged, as no pair with coordinates has a fresh direct link"
    verdict = "they are used" if embedding.trusted else "they are NOT used"
    if embedding.pairs < LEAST_PAIRS:
        verdict += f", as fewer than {LEAST_PAIRS} pairs say nothing"
    return (
        f"Coordinates: off by {100 * embedding.error:.1f} % (median of {embedding.pairs} pairs with a direct "
        f"link; limit {100 * geography.max_embedding_error:g} %): {verdict}"
    )


def _names(names: Sequence[str]) -> str:
    if not names:
        return "none"
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} ({', '.join(names[:_NAMED])}{more})"


def _percent(fraction: float | None) -> str:
    return "-" if fraction is None else f"{100 * fraction:.0f} %"


def _or_unknown(number: int | None) -> str:
    return "?" if number is None else str(number)


def _outages(count: float, last_s: float | None) -> str:
    return f"{count:.1f}" if last_s is None else f"{count:.1f}, {_duration(last_s)} ago"


def _duration(seconds: float) -> str:
    """Return a duration in its greatest unit: `42 s`, `12 min`, `3 h`, `2 d`."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s"
