"""Settings of the network: delays where nothing is measured, and what is so of sites and of their links."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from bridge.settings_section import Section
from formats.tier import Tier  # noqa: TC001 - pydantic reads it at run time

if TYPE_CHECKING:
    from collections.abc import Iterable

SiteName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
_Cost = Annotated[float, Field(ge=0, le=1e9)]
_BytesPerS = Annotated[float, Field(gt=0, le=1e12)]


class SiteDelay(Section):
    """The one-way delay between two sites."""

    between: tuple[SiteName, SiteName] = Field(strict=False)
    """Two site names."""
    delay_ms: float = Field(ge=0, le=60_000)
    """One-way delay, ms."""


class SiteSettings(Section):
    """What is so of a site, and of all of its hosts."""

    name: SiteName
    """Name of the site."""
    tier: Tier | None = None
    """Tier of its hosts where neither their supervisors nor their agents name one."""
    unit_cost: _Cost | None = None
    """Cost of a unit of load (1 % of a core) on its hosts, where their supervisors state none."""
    uplink_bytes_per_s: _BytesPerS | None = None
    """What may leave and enter the site, both directions together, bytes/s."""

    @model_validator(mode="after")
    def _says_something(self) -> SiteSettings:
        if self.tier is None and self.unit_cost is None and self.uplink_bytes_per_s is None:
            raise ValueError(f"states nothing of {self.name}: expected tier, unit_cost or uplink_bytes_per_s")
        return self


class SiteLink(Section):
    """What is so of the way between two sites."""

    between: tuple[SiteName, SiteName] = Field(strict=False)
    """Two site names."""
    cost: _Cost | None = None
    """Cost of a stream between them."""
    bandwidth_bytes_per_s: _BytesPerS | None = None
    """What may flow between them, both directions together, bytes/s."""

    @model_validator(mode="after")
    def _says_something(self) -> SiteLink:
        if self.cost is None and self.bandwidth_bytes_per_s is None:
            ends = " - ".join(self.between)
            raise ValueError(f"states nothing of {ends}: expected cost or bandwidth_bytes_per_s")
        return self


class NetworkSettings(Section):
    """Delays where nothing is measured; tiers, costs and bandwidths of sites."""

    hop_overhead_ms: float = Field(default=2.0, ge=0, le=1000)
    """Cost of leaving a worker (queues, serialisation), ms, added to delays of hosts."""
    local_delay_ms: float = Field(default=0.25, ge=0, le=60_000)
    """One-way delay between hosts of one site without measurement, ms."""
    unknown_delay_ms: float = Field(default=100.0, ge=0, le=60_000)
    """One-way delay between hosts of which nothing is known, ms."""
    max_hosts: int = Field(default=400, ge=1, le=10_000)
    """Hosts up to which the delays of all pairs are worked out; larger clusters are planned by counts."""
    max_embedding_error: float = Field(default=0.3, gt=0, le=10)
    """Coordinates with a larger median error against fresh links are not used."""
    site_delay: tuple[SiteDelay, ...] = Field(default=(), strict=False)
    """Delays without measurement: `[[network.site_delay]]`, `between = ["a", "b"]`, `delay_ms` (one way)."""
    site: tuple[SiteSettings, ...] = Field(default=(), strict=False)
    """What is so of sites: `[[network.site]]`, `name`, and any of `tier` (`edge`, `fog` or `cloud`) and
    `unit_cost` (of 1 % of a core), which are for hosts whose supervisors and agents name none, and
    `uplink_bytes_per_s` (both directions together)."""
    link: tuple[SiteLink, ...] = Field(default=(), strict=False)
    """Ways between sites: `[[network.link]]`, `between = ["a", "b"]`, and any of `cost` (of a stream) and
    `bandwidth_bytes_per_s` (both directions together)."""

    @property
    def tier_of_site(self) -> dict[str, str]:
        """Tier by site, of those that have one."""
        return {each.name: each.tier for each in self.site if each.tier is not None}

    @property
    def unit_cost_of_site(self) -> dict[str, float]:
        """Unit cost by site, of those that have one."""
        return {each.name: each.unit_cost for each in self.site if each.unit_cost is not None}

    @model_validator(mode="after")
    def _each_site_once(self) -> NetworkSettings:
        twice = sorted(name for name, count in Counter(each.name for each in self.site).items() if count > 1)
        if twice:
            raise ValueError(f"site names {twice[0]} twice")
        return self

    @model_validator(mode="after")
    def _each_pair_once(self) -> NetworkSettings:
        _check_pairs("site_delay", (each.between for each in self.site_delay))
        _check_pairs("link", (each.between for each in self.link))
        return self


def _check_pairs(key: str, pairs: Iterable[tuple[str, str]]) -> None:
    seen: set[frozenset[str]] = set()
    for between in pairs:
        pair = frozenset(between)
        if len(pair) != 2 or pair in seen:
            raise ValueError(f"{key} names the pair {' - '.join(between)} twice or a site with itself")
        seen.add(pair)
