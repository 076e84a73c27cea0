"""Delays between hosts for `synthetic check`: of a site file, or as agents measured them."""

from __future__ import annotations

import os
from itertools import permutations
from typing import TYPE_CHECKING

from cli.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from cli.network.network_input import Snapshot

Pairs = dict[tuple[str, str], float]


def delays_of_sites(file: Path, hosts: set[str]) -> Pairs:
    """Return the one-way delays (ms) between hosts named SITE-N, as a site file states them.

    Raises:
        UserError: The file is none, or a host is of no site of it.
    """
    from lab.errors import LabError  # noqa: PLC0415 - loads pydantic
    from lab.sites import read_site_file, site_index  # noqa: PLC0415 - likewise

    try:
        sites = read_site_file(file)
        index = {host: site_index(sites, host.rpartition("-")[0]) for host in hosts}
    except LabError as error:
        raise UserError(f"--sites: {error}") from error
    table = sites.delays_ms()
    return {(u, v): table[index[u]][index[v]] for u, v in permutations(hosts, 2)}


def delays_of_file(readings: Path, hosts: set[str]) -> Pairs:
    """Return the one-way delays (ms) between hosts by readings in a file, or by recorded rounds.

    Raises:
        UserError: There are no readings, or none of a host.
    """
    from cli.network.network_input import read_snapshot  # noqa: PLC0415 - loads pydantic and Thrift

    return _surveyed(read_snapshot(readings), hosts)


def delays_of_agents(zookeeper: str, root: str, auth_file: Path | None, hosts: set[str]) -> Pairs:
    """Return the one-way delays (ms) between hosts by what agents publish now.

    Raises:
        UserError: ZooKeeper cannot be read, or there is no reading of a host.
    """
    from cli.network.network_input import snapshot_of  # noqa: PLC0415 - loads pydantic and Thrift
    from cli.network.network_live import check_addresses, read_live  # noqa: PLC0415 - loads kazoo
    from monitoring.zookeeper.access import read_auth  # noqa: PLC0415 - loads kazoo

    check_addresses(zookeeper, root, None)
    try:
        auth = read_auth(auth_file, os.environ)
    except ValueError as error:
        raise UserError(str(error)) from error
    found = read_live(zookeeper, root, auth)
    return _surveyed(snapshot_of(found, None, f"ZooKeeper {zookeeper}, {root}"), hosts)


def _surveyed(snapshot: Snapshot, hosts: set[str]) -> Pairs:
    from bridge.network.geography import survey  # noqa: PLC0415 - loads numpy
    from bridge.settings import Settings  # noqa: PLC0415 - loads pydantic

    geography = survey(
        snapshot.request,
        snapshot.settings or Settings(),
        supervisors_known=snapshot.supervisors_known,
    )
    index = {host.name: position for position, host in enumerate(geography.hosts)}
    missing = sorted(hosts - index.keys())
    if missing:
        raise UserError(f"{snapshot.origin}: no reading of {', '.join(missing)}", status=1)
    delay_ms = geography.delays.delay_ms
    return {(u, v): float(delay_ms[index[u], index[v]]) for u, v in permutations(hosts, 2)}
