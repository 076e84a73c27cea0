"""The site file of a lab, as far as reports and predictions need it: hosts, sites and delays."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, Field, ValidationError

from replay.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Milliseconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class _Network(BaseModel):
    local_delay_ms: Milliseconds = 0.25


class _Site(BaseModel):
    name: str
    supervisors: Annotated[int, Field(ge=1)]
    services: bool = False


class _Link(BaseModel):
    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    delay_ms: Milliseconds


class _File(BaseModel):
    network: _Network = _Network()
    site: Annotated[list[_Site], Field(min_length=1)]
    link: list[_Link] = []


@dataclass(frozen=True)
class Sites:
    """Sites with their hosts and the true one-way delays.

    Attributes:
        hosts: Site of each supervisor host, by host name; sites in the file's order.
        services: Site of Redis, Nimbus and ZooKeeper.
        delay_ms: One-way delay by unordered pair of sites; for one site its local delay, between two hosts.
    """

    hosts: Mapping[str, str]
    services: str
    delay_ms: Mapping[frozenset[str], float]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the sites, in the file's order."""
        return tuple(dict.fromkeys(self.hosts.values()))

    def between_ms(self, a: str, b: str) -> float:
        """Return the one-way delay between two different hosts of sites `a` and `b`, in ms."""
        return self.delay_ms[frozenset((a, b))]


def read_sites(path: Path) -> Sites:
    """Read a site file.

    Raises:
        DataError: The file is missing, malformed, or lacks the delay of a pair of sites.
    """
    try:
        content = _File.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: no TOML file: {error}") from error
    except ValidationError as error:
        fault = error.errors()[0]
        raise DataError(f"{path}: {'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}") from error
    services = [site.name for site in content.site if site.services]
    if len(services) != 1:
        raise DataError(f"{path}: site: exactly one site must have services = true, not {len(services)}")
    delays = {frozenset((site.name,)): content.network.local_delay_ms for site in content.site}
    delays |= {frozenset(link.between): link.delay_ms for link in content.link}
    for a, b in combinations([site.name for site in content.site], 2):
        if frozenset((a, b)) not in delays:
            raise DataError(f"{path}: link: the delay between {a} and {b} is missing")
    hosts = {
        f"{site.name}-{number}": site.name
        for site in content.site
        for number in range(1, site.supervisors + 1)
    }
    return Sites(hosts, services[0], delays)
