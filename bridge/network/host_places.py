"""Where hosts are: the site and the tier of each, and whose word counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from formats.tier import TIERS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bridge.readings.believed import Readings
    from bridge.wire.messages import Supervisor

META_SITE = "stormplace.site"
META_TIER = "stormplace.tier"
_NO_TIER = f"none of {', '.join(TIERS)}"


@dataclass(frozen=True, slots=True)
class HostPlace:
    """Where a host is.

    Attributes:
        site: Its site, if known.
        tier: Its tier, one of `TIERS`, if known.
        silent: What of both may be lost: it has no reading, while readings of others tell it.
    """

    site: str | None
    tier: str | None
    silent: frozenset[str]


def locate(
    hosts: Mapping[str, Collection[Supervisor]],
    readings: Readings,
    tier_of_site: Mapping[str, str],
    faults: list[str],
) -> dict[str, HostPlace]:
    """Find out where hosts are.

    What the supervisors' metadata says counts before what the agent says or said last, and both before the
    tier that the settings give the site. Where nothing is said nothing is known.

    Args:
        hosts: Supervisors by host.
        readings: Believed readings.
        tier_of_site: Tier of the hosts of some sites.
        faults: Takes one phrase per contradiction and per tier that is none.
    """
    sites = _sites_by_agents(readings)
    tiers = _tiers_by_agents(readings, hosts, faults)
    read = readings.by_host.keys() | set(readings.stale)
    agents_know_tiers = bool(tiers) or not tier_of_site.keys().isdisjoint(sites.values())
    places: dict[str, HostPlace] = {}
    for name, supervisors in hosts.items():
        stated = [site for each in supervisors if (site := each.meta.get(META_SITE))]
        site = _first_word("site", name, stated, sites.get(name), faults)
        tier = _first_word("tier", name, _stated_tiers(supervisors, faults), tiers.get(name), faults)
        if tier is None and site is not None:
            tier = tier_of_site.get(site)
        lost = {"site": site is None and bool(sites), "tier": tier is None and agents_know_tiers}
        silent = frozenset[str]() if name in read else frozenset(kind for kind in lost if lost[kind])
        places[name] = HostPlace(site, tier, silent)
    return places


def _sites_by_agents(readings: Readings) -> dict[str, str]:
    """Return what agents say or said last."""
    fresh = {host: each.site for host, each in readings.by_host.items() if each.site is not None}
    return {**readings.stale_sites, **fresh}


def _tiers_by_agents(readings: Readings, hosts: Collection[str], faults: list[str]) -> dict[str, str]:
    fresh = {host: each.tier for host, each in readings.by_host.items() if each.tier is not None}
    said = {**readings.stale_tiers, **fresh}
    faults.extend(
        f"tier of {host} by its agent is {_NO_TIER} ({tier!r})"
        for host, tier in sorted(said.items())
        if host in hosts and tier not in TIERS
    )
    return {host: tier for host, tier in said.items() if tier in TIERS}


def _stated_tiers(supervisors: Collection[Supervisor], faults: list[str]) -> list[str]:
    stated = [(each.id, tier) for each in supervisors if (tier := each.meta.get(META_TIER)) is not None]
    faults.extend(
        f"{META_TIER} of supervisor {supervisor} is {_NO_TIER} ({tier!r})"
        for supervisor, tier in stated
        if tier not in TIERS
    )
    return [tier for _, tier in stated if tier in TIERS]


def _first_word(
    kind: Literal["site", "tier"], host: str, stated: list[str], by_agent: str | None, faults: list[str]
) -> str | None:
    """Return what supervisors state, else what the agent says; the first name of several."""
    if not stated:
        return by_agent
    said = sorted(set(stated))
    if len(said) > 1:
        faults.append(f"supervisors of {host} name several {kind}s ({', '.join(said)})")
    if by_agent is not None and by_agent not in said:
        faults.append(f"{host} is at {kind} {said[0]} by its supervisor and at {by_agent} by its agent")
    return said[0]
