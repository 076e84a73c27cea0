"""Where hosts are: the site and the tier of each, and whose word counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from formats.tier import TIERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from bridge.readings.believed import Readings
    from bridge.wire.messages import Supervisor

META_SITE = "stormplace.site"
META_TIER = "stormplace.tier"


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
    agents_know = {
        "site": bool(sites),
        "tier": bool(tiers) or not tier_of_site.keys().isdisjoint(sites.values()),
    }
    places: dict[str, HostPlace] = {}
    for name, supervisors in hosts.items():
        stated = {site for each in supervisors if (site := each.meta.get(META_SITE))}
        site = _first_word("site", name, stated, sites.get(name), faults)
        tier = _first_word("tier", name, set(_stated_tiers(supervisors, faults)), tiers.get(name), faults)
        if tier is None and site is not None:
            tier = tier_of_site.get(site)
        known = {"site": site, "tier": tier}
        lost = frozenset(kind for kind, value in known.items() if agents_know[kind] and value is None)
        places[name] = HostPlace(site, tier, frozenset() if name in read else lost)
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


def _stated_tiers(supervisors: Collection[Supervisor], faults: list[str]) -> Iterator[str]:
    for each in supervisors:
        tier = each.meta.get(META_TIER)
        if tier in TIERS:
            yield tier
        elif tier is not None:
            faults.append(f"{META_TIER} of supervisor {each.id} is {_NO_TIER} ({tier!r})")


def _first_word(
    kind: Literal["site", "tier"], host: str, stated: set[str], by_agent: str | None, faults: list[str]
) -> str | None:
    """Return what supervisors state, else what the agent says; the first name of several."""
    said = sorted(stated)
    if len(said) > 1:
        faults.append(f"supervisors of {host} name several {kind}s ({', '.join(said)})")
    if said and by_agent is not None and by_agent not in said:
        faults.append(f"{host} is at {kind} {said[0]} by its supervisor and at {by_agent} by its agent")
    return said[0] if said else by_agent


_NO_TIER = f"none of {', '.join(TIERS)}"
