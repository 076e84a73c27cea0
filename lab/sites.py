"""The site file: which sites a lab has, how many supervisors, and how far apart they are."""

from __future__ import annotations

import tomllib
from collections import Counter
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_DELAY_MS = 60_000.0
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)

SiteName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=40)]
Milliseconds = Annotated[float, Field(ge=0.0, le=MAX_DELAY_MS, allow_inf_nan=False)]


class NetworkSettings(BaseModel):
    """What holds for every pair of hosts.

    Attributes:
        jitter_ms: Standard deviation of a truncated normal added to each packet's delay.
        loss: Probability that a packet is dropped.
        local_delay_ms: One-way delay between two hosts of one site.
        seed: Seed of jitter and loss.
    """

    model_config = _STRICT
    jitter_ms: Milliseconds = 0.0
    loss: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    local_delay_ms: Milliseconds = 0.25
    seed: int = 1


class Site(BaseModel):
    """One data centre; the services' site also holds Nimbus, ZooKeeper, the placement daemon and Redis."""

    model_config = _STRICT
    name: SiteName
    supervisors: Annotated[int, Field(ge=1, le=200)]
    slots: Annotated[int, Field(ge=1, le=32)]
    services: bool = False


class Link(BaseModel):
    """The symmetric one-way delay between two sites."""

    model_config = _STRICT
    between: Annotated[list[SiteName], Field(min_length=2, max_length=2)]
    delay_ms: Milliseconds


class SiteFile(BaseModel):
    """A whole site file.

    Attributes:
        executors_per_host: Capacity of a supervisor host for the placement daemon; None: the daemon's own.
    """

    model_config = _STRICT
    executors_per_host: Annotated[int, Field(ge=1)] | None = None
    network: NetworkSettings = NetworkSettings()
    site: Annotated[list[Site], Field(min_length=1, max_length=200)]
    link: list[Link] = []

    def site_index(self, name: str) -> int:
        """Return the position of a site.

        Raises:
            LabError: No site has this name.
        """
        for index, site in enumerate(self.site):
            if site.name == name:
                return index
        raise LabError(f"no site is named {name!r}; sites are {', '.join(site.name for site in self.site)}")

    def delays_ms(self) -> list[list[float]]:
        """Return the one-way delays between sites (n_sites, n_sites), local delays on the diagonal."""
        count = len(self.site)
        table = [[self.network.local_delay_ms] * count for _ in range(count)]
        for link in self.link:
            a, b = (self.site_index(name) for name in link.between)
            table[a][b] = table[b][a] = link.delay_ms
        return table


def read_site_file(path: Path) -> SiteFile:
    """Read and check a site file.

    Raises:
        LabError: The file cannot be read or holds errors; all of them are named with their key paths.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"site file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LabError(f"site file {path} is no TOML: {error}") from None
    try:
        sites = SiteFile.model_validate(content)
    except ValidationError as error:
        faults = [f"{_key_path(fault['loc'])}: {fault['msg']}" for fault in error.errors()]
    else:
        faults = list(_contradictions(sites))
        if not faults:
            return sites
    raise LabError(f"site file {path}: {'; '.join(faults)}")


def _key_path(location: tuple[int | str, ...]) -> str:
    """Return a key path such as `site[0].slots`."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def _contradictions(sites: SiteFile) -> Iterator[str]:
    """Yield what is wrong between the tables of a file whose tables are right in themselves."""
    names = [site.name for site in sites.site]
    for name, count in Counter(names).items():
        if count > 1:
            yield f"site: {count} sites are named {name!r}"
    homes = [site.name for site in sites.site if site.services]
    if len(homes) != 1:
        yield f"site: exactly one site must have services = true, not {len(homes)}"
    seen: dict[frozenset[str], int] = {}
    for index, link in enumerate(sites.link):
        pair = frozenset(link.between)
        for name in sorted(pair - set(names)):
            yield f"link[{index}].between: no site is named {name!r}"
        if len(pair) == 1:
            yield f"link[{index}].between: both ends are {link.between[0]!r}; see network.local_delay_ms"
        elif pair in seen:
            yield f"link[{index}].between: this pair is already given by link[{seen[pair]}]"
        seen.setdefault(pair, index)
    for a, b in combinations(dict.fromkeys(names), 2):
        if frozenset((a, b)) not in seen:
            yield f"link: the delay between {a!r} and {b!r} is missing"
