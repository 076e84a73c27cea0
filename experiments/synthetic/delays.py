"""Delays between hosts for `synthetic check`: of a site file, or as agents measured them."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from pathlib import Path

    from bridge.network.geography import Geography

Pairs = dict[tuple[str, str], float]


def delays_of_sites(file: Path, hosts: set[str]) -> Pairs:
    """Return the one-way delays (ms) between hosts named SITE-N, as a site file states them.

    Raises:
        ExperimentError: The file is none, or a host is of no site of it.
    """
    from lab.errors import LabError  # noqa: PLC0415 - loads pydantic
    from lab.sites import read_site_file, site_index  # noqa: PLC0415 - likewise

    try:
        sites = read_site_file(file)
        index = {host: site_index(sites, host.rpartition("-")[0]) for host in hosts}
    except LabError as error:
        raise ExperimentError(f"--sites: {error}") from error
    table = sites.delays_ms()
    return {(u, v): table[index[u]][index[v]] for u, v in permutations(hosts, 2)}


def delays_of_readings(geography: Geography, origin: str, hosts: set[str]) -> Pairs:
    """Return the one-way delays (ms) between hosts by the readings of agents.

    Args:
        geography: What the readings say.
        origin: Where they come from, for people.
        hosts: Names of hosts.

    Raises:
        ExperimentError: There is no reading of a host.
    """
    index = {host.name: position for position, host in enumerate(geography.hosts)}
    missing = sorted(hosts - index.keys())
    if missing:
        raise ExperimentError(f"{origin}: no reading of {', '.join(missing)}", status=1)
    delay_ms = geography.delays.delay_ms
    return {(u, v): float(delay_ms[index[u], index[v]]) for u, v in permutations(hosts, 2)}
