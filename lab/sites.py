"""The site file of a lab: its faults are errors of the lab."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from formats import site_file
from lab.emulator.narrow_links import NarrowLink
from lab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path


def read_site_file(path: Path) -> site_file.SiteFile:
    """Read and check a site file.

    Raises:
        LabError: The file cannot be read or holds errors; all of them are named with their key paths.
    """
    try:
        return site_file.read_site_file(path)
    except site_file.SiteFileError as error:
        raise LabError(str(error)) from None


def site_index(sites: site_file.SiteFile, name: str) -> int:
    """Return the position of a site.

    Raises:
        LabError: No site has this name.
    """
    if name not in sites.names:
        raise LabError(f"no site is named {name!r}; sites are {', '.join(sites.names)}")
    return sites.names.index(name)


def narrow_links(sites: site_file.SiteFile) -> tuple[NarrowLink, ...]:
    """Return the uplink of each site, limited or not, and the limited links between sites."""
    index = {name: k for k, name in enumerate(sites.names)}
    uplinks = [
        NarrowLink(f"uplink of {site.name}", (index[site.name],), site.uplink_bytes_per_s)
        for site in sites.site
    ]
    links = [
        NarrowLink("-".join(link.between), (index[a], index[b]), link.bandwidth_bytes_per_s)
        for link in sites.link
        for a, b in [link.between]
        if math.isfinite(link.bandwidth_bytes_per_s)
    ]
    return (*uplinks, *links)


def daemon_tables(sites: site_file.SiteFile) -> dict[str, dict[str, Any]]:
    """Return the placement daemon's settings by section: the site file's own, and its sites and links.

    What the file does not state of these is left out, so that the daemon has its own.
    """
    stated = {
        "site": [
            {
                "name": site.name,
                **_stated("tier", site.tier, ""),
                **_stated("unit_cost", site.unit_cost, 0.0),
                **_stated("uplink_bytes_per_s", site.uplink_bytes_per_s, math.inf),
            }
            for site in sites.site
            if site.tier or site.unit_cost
        ],
        "link": [
            {
                "between": link.between,
                "cost": link.cost,
                **_stated("bandwidth_bytes_per_s", link.bandwidth_bytes_per_s, math.inf),
            }
            for link in sites.link
            if link.cost and link.between[0] != link.between[1]
        ],
    }
    sections: dict[str, dict[str, Any]] = {name: dict(own) for name, own in sites.daemon.items()}
    network = {name: tables for name, tables in stated.items() if tables}
    if network:
        sections["network"] = network | sections.get("network", {})
    return sections


def _stated(key: str, value: object, unstated: object) -> dict[str, object]:
    return {} if value == unstated else {key: value}
