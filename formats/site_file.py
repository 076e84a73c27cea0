"""The site file: which sites a lab has, how many supervisors, and how far apart they are."""

from __future__ import annotations

import math
import tomllib
from collections import Counter
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

from formats import value_checks as checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MAX_DELAY_MS = 60_000.0


class SiteFileError(ValueError):
    """A site file cannot be read or holds errors; one sentence that names the file and every key at fault."""


_DELAY = checks.between(0, MAX_DELAY_MS)
_LOSS = checks.between(0, 1, below=True)
_BANDWIDTH = checks.between(1, 1e12)
_COST = checks.between(0, 1e9)
_VALUES: dict[str, checks.Check] = {
    "executors_per_host": checks.between(1, 1e9, whole=True),
    "standby_nimbus": checks.flag,
    "bandwidth_share": checks.between(0.002, 0.1),
    "storm": checks.plain_table,
    "daemon": checks.tables,
}
"""Keys that are no records."""


def _key(check: checks.Check, default: Any = None) -> Any:
    """Return a field with its check; without a default the key must be there."""
    if default is None:
        return field(metadata={"check": check})
    if isinstance(default, type):
        return field(default_factory=default, metadata={"check": check})
    return field(default=default, metadata={"check": check})


@dataclass(frozen=True)
class NetworkSettings:
    """What holds for every pair of hosts.

    Attributes:
        jitter_ms: Standard deviation of a truncated normal added to each packet's delay.
        loss: Probability that a packet is dropped.
        local_delay_ms: One-way delay between two hosts of one site.
        seed: Seed of jitter and loss.
        queue_ms: Longest wait before a link of limited bandwidth; what would wait longer is dropped.
    """

    jitter_ms: float = _key(_DELAY, 0.0)
    loss: float = _key(_LOSS, 0.0)
    local_delay_ms: float = _key(_DELAY, 0.25)
    seed: int = _key(checks.between(-(2**63), 2**63, whole=True), 1)
    queue_ms: float = _key(checks.between(1, MAX_DELAY_MS), 200.0)


@dataclass(frozen=True)
class Site:
    """One data centre; the services' site also holds Nimbus, ZooKeeper, the placement daemon and Redis.

    Attributes:
        redis: Whether Redis stands here, in the place of the services' site.
        tier: `edge`, `fog` or `cloud`; empty: none is stated.
        unit_cost: Price of 1 % of a core on its hosts, for the placement daemon, in cost units.
        uplink_bytes_per_s: What it sends to and gets from all other sites together; without it no limit.
    """

    name: str = _key(checks.site_name)
    supervisors: int = _key(checks.between(1, 200, whole=True))
    slots: int = _key(checks.between(1, 32, whole=True))
    services: bool = _key(checks.flag, default=False)
    redis: bool = _key(checks.flag, default=False)
    tier: str = _key(checks.tier, default="")
    unit_cost: float = _key(_COST, 0.0)
    uplink_bytes_per_s: float = _key(_BANDWIDTH, math.inf)


@dataclass(frozen=True)
class Link:
    """What is between two sites, or between two hosts of one that is named twice.

    Attributes:
        between: The sites.
        delay_ms: One-way delay, the same in both directions.
        bandwidth_bytes_per_s: Of both directions together; without it no limit.
        loss: Probability that a packet is dropped here, beside that of all pairs.
        cost: What a stream costs here, for the placement daemon, in cost units.
    """

    between: list[str] = _key(checks.two_names)  # noqa: RUF009  # it makes a field, as `field` does
    delay_ms: float = _key(_DELAY)
    bandwidth_bytes_per_s: float = _key(_BANDWIDTH, math.inf)
    loss: float = _key(_LOSS, 0.0)
    cost: float = _key(_COST, 0.0)


@dataclass(frozen=True)
class OwnHost:
    """What one supervisor host has of its own.

    Attributes:
        name: The host.
        joined: Whether its supervisor and agent start with the lab; others are started by a command.
        meta: Its supervisor's metadata.
        storm: Keys of its storm.yaml, in the place of all others.
    """

    name: str = _key(checks.text)
    joined: bool = _key(checks.flag, default=True)
    meta: Mapping[str, str] = _key(checks.texts, dict)
    storm: Mapping[str, str | float] = _key(checks.plain_table, dict)


@dataclass(frozen=True)
class SiteFile:
    """A whole site file.

    Attributes:
        executors_per_host: Capacity of a supervisor host for the placement daemon; None: the daemon's own.
        standby_nimbus: Whether a second Nimbus waits to take over.
        storm: Keys of every host's storm.yaml, in the place of the lab's own.
        daemon: Settings of the placement daemon by section.
        host: Hosts with something of their own.
        bandwidth_share: What the agents may use of bandwidth to measure it; None: they do not measure it.
    """

    executors_per_host: int | None
    network: NetworkSettings
    site: tuple[Site, ...]
    link: tuple[Link, ...]
    standby_nimbus: bool = False
    storm: Mapping[str, str | float] = field(default_factory=dict)
    daemon: Mapping[str, Mapping[str, str | float]] = field(default_factory=dict)
    host: tuple[OwnHost, ...] = ()
    bandwidth_share: float | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sites, in the file's order."""
        return tuple(site.name for site in self.site)

    @property
    def services(self) -> str:
        """Site of Nimbus, ZooKeeper, the placement daemon and, unless another one has it, Redis."""
        return next(site.name for site in self.site if site.services)

    @property
    def redis(self) -> str:
        """Site of Redis: where rows come from and results go."""
        return next((site.name for site in self.site if site.redis), self.services)

    @cached_property
    def hosts(self) -> Mapping[str, str]:
        """Site of each supervisor host, by host name; sites in the file's order."""
        return {
            f"{site.name}-{number}": site.name
            for site in self.site
            for number in range(1, site.supervisors + 1)
        }

    def own(self, host: str) -> OwnHost:
        """Return what a host has of its own."""
        return next((each for each in self.host if each.name == host), OwnHost(host))

    @cached_property
    def delay_ms(self) -> Mapping[frozenset[str], float]:
        """One-way delay by unordered pair of sites; for one site its local delay, between two hosts."""
        local = {frozenset((name,)): self.network.local_delay_ms for name in self.names}
        return local | {frozenset(link.between): link.delay_ms for link in self.link}

    def between_ms(self, a: str, b: str) -> float:
        """Return the one-way delay between two different hosts of sites `a` and `b`, in ms."""
        return self.delay_ms[frozenset((a, b))]

    def delays_ms(self) -> list[list[float]]:
        """Return the one-way delays between sites (n_sites, n_sites), local delays on the diagonal."""
        return [[self.between_ms(a, b) for b in self.names] for a in self.names]

    def loss(self) -> list[list[float]]:
        """Return the probabilities that a packet between sites is dropped (n_sites, n_sites)."""
        of_pair = {frozenset(link.between): link.loss for link in self.link}
        kept = [[1.0 - of_pair.get(frozenset((a, b)), 0.0) for b in self.names] for a in self.names]
        return [[1.0 - (1.0 - self.network.loss) * each for each in row] for row in kept]


def read_site_file(path: Path) -> SiteFile:
    """Read and check a site file.

    Raises:
        SiteFileError: The file cannot be read or holds errors; all of them are named with their key paths.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SiteFileError(f"site file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SiteFileError(f"site file {path} is no TOML: {error}") from None
    faults = list(_faults(content))
    if not faults:
        sites = SiteFile(
            content.get("executors_per_host"),
            NetworkSettings(**content.get("network", {})),
            tuple(Site(**site) for site in content["site"]),
            tuple(Link(**link) for link in content.get("link", [])),
            content.get("standby_nimbus", False),
            content.get("storm", {}),
            content.get("daemon", {}),
            tuple(OwnHost(**host) for host in content.get("host", [])),
            content.get("bandwidth_share"),
        )
        faults = list(_contradictions(sites))
        if not faults:
            return sites
    raise SiteFileError(f"site file {path}: {'; '.join(faults)}")


def _faults(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong in each table for itself."""
    for key in content.keys() - {*_VALUES, "network", "site", "link", "host"}:
        yield f"{key}: no such key"
    for key, check in _VALUES.items():
        expected = check(content[key]) if key in content else None
        yield from [] if expected is None else [f"{key}: {expected}"]
    yield from _faults_of(NetworkSettings, "network", content.get("network", {}))
    for key, kind, least in (("site", Site, 1), ("link", Link, 0), ("host", OwnHost, 0)):
        tables = content.get(key, [])
        if not isinstance(tables, list) or not least <= len(tables) <= (200 if least else len(tables)):
            yield f"{key}: expected {'from 1 to 200 tables' if least else 'tables'} [[{key}]]"
            continue
        for index, table in enumerate(tables):
            yield from _faults_of(kind, f"{key}[{index}]", table)


def _faults_of(kind: Any, where: str, table: object) -> Iterator[str]:
    """Yield what is wrong in a table by the checks of a record's fields."""
    if not isinstance(table, dict):
        yield f"{where}: expected a table"
        return
    fields = kind.__dataclass_fields__
    for key in table.keys() - fields.keys():
        yield f"{where}.{key}: no such key"
    for key, about in fields.items():
        if key in table:
            expected = about.metadata["check"](table[key])
            if expected is not None:
                yield f"{where}.{key}: {expected}"
        elif about.default is MISSING and about.default_factory is MISSING:
            yield f"{where}.{key}: the key is missing"


def _contradictions(sites: SiteFile) -> Iterator[str]:
    """Yield what is wrong between the tables of a file whose tables are right in themselves."""
    for name, count in Counter(sites.names).items():
        if count > 1:
            yield f"site: {count} sites are named {name!r}"
    yield from _strangers(sites)
    homes = [site.name for site in sites.site if site.services]
    if len(homes) != 1:
        yield f"site: exactly one site must have services = true, not {len(homes)}"
    if sum(site.redis for site in sites.site) > 1:
        yield "site: at most one site may have redis = true"
    seen: dict[frozenset[str], int] = {}
    for index, link in enumerate(sites.link):
        pair = frozenset(link.between)
        for name in sorted(pair - set(sites.names)):
            yield f"link[{index}].between: no site is named {name!r}"
        if pair in seen:
            yield f"link[{index}].between: this pair is already given by link[{seen[pair]}]"
        seen.setdefault(pair, index)
    for a, b in combinations(dict.fromkeys(sites.names), 2):
        if frozenset((a, b)) not in seen:
            yield f"link: the delay between {a!r} and {b!r} is missing"


def _strangers(sites: SiteFile) -> Iterator[str]:
    for name, count in Counter(each.name for each in sites.host).items():
        if name not in sites.hosts:
            yield f"host: no supervisor host is named {name!r}"
        elif count > 1:
            yield f"host: {count} tables are named {name!r}"
