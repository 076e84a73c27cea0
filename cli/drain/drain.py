"""The commands `drain` and `undrain`: hosts are emptied for maintenance, and given back."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.errors import UserError, refused
from cli.interrupt import ends_at_once
from cli.zookeeper_options import ROOT, AuthFileOption, RootOption, read_zookeeper_auth

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cli.drain.drain_live import KnownHost, Span

LEFT = 3
"""Exit status where hosts are not empty when `--wait` is over."""
_LOOK_AGAIN_S = 2.0
_SETTLED_S = 10.0
"""A worker that was placed before the drain may only just start: so long none must be seen."""
_SHOWN = 10

HostsArgument = Annotated[
    list[str] | None, typer.Argument(metavar="[HOST]...", help="Hosts, by the names that Storm gives them.")
]
SitesOption = Annotated[list[str] | None, typer.Option("--site", help="A whole site; may be repeated.")]
ZookeeperOption = Annotated[
    str, typer.Option("--zookeeper", help="HOST:PORT of ZooKeeper; several separated by commas.")
]
NimbusOption = Annotated[
    str | None, typer.Option("--nimbus", help="HOST:PORT of Nimbus: knows hosts that have no agent, too.")
]


def drain(
    hosts: HostsArgument = None,
    *,
    zookeeper: ZookeeperOption,
    site: SitesOption = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help="When the drain begins, such as 2026-11-30T05:00; without it, or if that is over, now. "
            "Until then nothing leaves, but new executors go elsewhere if they can.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When the drain ends by itself, such as 2026-11-30T06:00 (local time, or with an offset); "
            "without it it holds until undrain.",
        ),
    ] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Wait for so long until agents report no worker there any more."
        ),
    ] = None,
    nimbus: NimbusOption = None,
    root: RootOption = ROOT,
    zookeeper_auth_file: AuthFileOption = None,
) -> None:
    """Empty hosts or sites: nothing comes to them, and what runs there leaves within the budgets of moves.

    With --from it is announced.

    Exit status: 0 written (and empty, with --wait), 2 bad input or no connection, 3 not empty in time.
    """
    places = _places(hosts, site)
    begins_s, ends_s = _span(begin, until)
    if wait is not None and begins_s > 0:
        raise UserError(f"--wait: nothing leaves before {begin}: wait from then on")
    with ends_at_once():
        others = _hosts_of(nimbus)
    with ends_at_once(), _asked(zookeeper, root, zookeeper_auth_file) as client:
        from cli.drain.drain_live import Span, drains_to_come, known_hosts, write_drains  # noqa: PLC0415 - kazoo

        known = known_hosts(client, root)
        now_ms = max(time.time() * 1000.0, *(each.changed_ms for each in known), 0.0)
        span = Span(begins_s, ends_s)
        _check(places, span, known, others, drains_to_come(client, root, now_ms))
        covered = {each.name for each in known if _covered(each, places)} | set(hosts or ())
        if wait is not None:
            _check_counted(covered, known)
        written_ms = write_drains(client, root, places, span)
        end = "until undrain" if until is None else f"until {until}"
        if begins_s > 0:
            typer.echo(f"To be drained from {begin} {end}: {', '.join(places)}. Nothing leaves before.")
        else:
            typer.echo(f"Drained {end}: {', '.join(places)}. Executors leave with the next rounds.")
        if wait is not None:
            _wait(lambda: known_hosts(client, root), covered, written_ms, wait)


def undrain(
    hosts: HostsArgument = None,
    *,
    zookeeper: ZookeeperOption,
    site: SitesOption = None,
    every: Annotated[bool, typer.Option("--all", help="Everything that is drained.")] = False,
    root: RootOption = ROOT,
    zookeeper_auth_file: AuthFileOption = None,
) -> None:
    """Give drained hosts or sites back: executors may come to them again, and return for a gain.

    Exit status: 0 given back, 2 bad input, nothing of the kind is drained, or no connection.
    """
    places = [] if every else _places(hosts, site)
    if every and (hosts or site):
        raise UserError("--all: hosts or sites are named beside it")
    with ends_at_once(), _asked(zookeeper, root, zookeeper_auth_file) as client:
        from cli.drain.drain_live import drained_places, remove_drains  # noqa: PLC0415 - loads kazoo

        drained = drained_places(client, root)
        absent = [place for place in places if place not in drained]
        if absent:
            raise UserError(f"{', '.join(absent)} is not drained; drained: {', '.join(drained) or 'nothing'}")
        if not drained:
            raise UserError("nothing is drained")
        remove_drains(client, root, places or drained)
        typer.echo(f"Given back: {', '.join(places or drained)}.")


def _places(hosts: Sequence[str] | None, sites: Sequence[str] | None) -> list[str]:
    from formats.drain import split  # noqa: PLC0415 - keeps other commands quick

    places = [*(f"host:{name}" for name in hosts or ()), *(f"site:{name}" for name in sites or ())]
    if not places:
        raise UserError("a HOST or --site is needed")
    for place in places:
        with refused(ValueError):
            split(place)
    return sorted(set(places))


def _span(begin: str | None, until: str | None) -> tuple[float, float]:
    """Return when a drain begins and ends, s from now: 0 is now, and it is infinite without an end."""
    now_s = time.time()
    begins_s = 0.0 if begin is None else max(_moment("--from", begin) - now_s, 0.0)
    ends_s = math.inf if until is None else _moment("--until", until) - now_s
    if ends_s <= 0:
        raise UserError(f"--until {until}: is over")
    if ends_s <= begins_s:
        raise UserError(f"--until {until}: is not after --from {begin}")
    return begins_s, ends_s


def _moment(option: str, text: str) -> float:
    try:
        return datetime.fromisoformat(text).astimezone().timestamp()
    except (ValueError, OverflowError, OSError):
        raise UserError(f"{option} {text}: is no time such as 2026-11-30T06:00") from None


@contextmanager
def _asked(zookeeper: str, root: str, auth_file: Path | None) -> Iterator[Any]:
    from cli.network.network_live import check_addresses, connected  # noqa: PLC0415 - loads kazoo
    from formats.drain import FOLDER  # noqa: PLC0415 - see above

    check_addresses(zookeeper, root, None)
    with connected(zookeeper, read_zookeeper_auth(auth_file), f"{root}/{FOLDER}") as client:
        yield client


def _hosts_of(nimbus: str | None) -> Sequence[str]:
    from cli.network.network_live import check_addresses, supervisor_hosts  # noqa: PLC0415 - loads Thrift

    if nimbus is None:
        return ()
    check_addresses(nimbus, "/", nimbus)
    return supervisor_hosts(nimbus)


def _check(
    places: Sequence[str],
    span: Span,
    known: Sequence[KnownHost],
    supervisors: Sequence[str],
    drained: Mapping[str, Span],
) -> None:
    """Refuse what is not known, and what would leave no host at all at some time.

    Args:
        places: What is to be drained.
        span: When.
        known: Hosts that have an agent.
        supervisors: Hosts that Nimbus names; empty if it was not asked: then all that have an agent count.
        drained: When what is drained or announced already is so, by place; those of `places` are replaced.
    """
    names = set(supervisors) or {each.name for each in known}
    sites = {each.site for each in known if each.site is not None}
    for place in places:
        kind, _, name = place.partition(":")
        if kind == "host" and name not in names:
            more = "" if supervisors else " (--nimbus knows those without agent)"
            raise UserError(f"host {name} is not known; known: {_some(names)}{more}")
        if kind == "site" and name not in sites:
            raise UserError(f"no agent is at site {name}; sites of agents: {_some(sites)}")
    others = {place: each for place, each in drained.items() if place not in places}
    # most is drained at a time at which a drain begins
    begins = [each.begins_s for each in others.values() if span.holds(each.begins_s)]
    for at_s in (span.begins_s, *begins):
        then = (*places, *(place for place, each in others.items() if each.holds(at_s)))
        covered = {each.name for each in known if _covered(each, then)}
        covered |= {name for name in names if f"host:{name}" in then}
        if covered >= names:
            raise UserError("this would leave no host that is known: nothing is drained")


def _check_counted(hosts: set[str], known: Sequence[KnownHost]) -> None:
    """Refuse to wait for hosts of which no agent says how many workers they have."""
    counted = {each.name for each in known if each.slots_used is not None}
    silent = hosts - counted
    if silent:
        raise UserError(
            f"--wait: no agent says how many workers {_some(silent)} has (agents need --slot-ports for it); "
            "nothing is drained"
        )


def _covered(host: KnownHost, places: Sequence[str]) -> bool:
    return f"host:{host.name}" in places or (host.site is not None and f"site:{host.site}" in places)


def _wait(look: Callable[[], Sequence[KnownHost]], hosts: set[str], since_ms: float, wait_s: float) -> None:
    """Look at the agents' readings until no worker is left; say what is left whenever it changes.

    Args:
        look: Reads what agents say.
        hosts: Those that are to be empty.
        since_ms: What agents said before, by ZooKeeper's clock, says nothing.
        wait_s: When to give up, s.
    """
    began_s = time.monotonic()
    empty_s = said = None
    while True:
        found = {each.name: each.slots_used for each in look() if each.changed_ms > since_ms}
        left = {name: found.get(name) for name in sorted(hosts) if found.get(name) != 0}
        now_s = time.monotonic()
        empty_s = None if left else now_s if empty_s is None else empty_s
        if empty_s is not None and now_s - empty_s >= _SETTLED_S:
            typer.echo("Empty: no worker is left there.")
            return
        counts = ", ".join(f"{name} {'not reported yet' if n is None else n}" for name, n in left.items())
        text = f"Workers left: {counts or 'none'}"
        if text != said:
            typer.echo(text)
            said = text
        if now_s - began_s >= wait_s:
            raise UserError(
                f"not seen empty for {_SETTLED_S:g} s within {wait_s:g} s; the drain goes on", status=LEFT
            )
        time.sleep(min(_LOOK_AGAIN_S, _SETTLED_S, max(began_s + wait_s - now_s, 0.0)))


def _some(names: set[str]) -> str:
    shown = sorted(names)[:_SHOWN]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(shown)}{more}" if shown else "none"
