"""Hosts of a lab that have not joined: its own commands let them join and leave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import ConfigDict, TypeAdapter, ValidationError

from bridge.faults import phrases
from formats.site_file import SiteFileError, read_site_file
from provisioning.providers.command import CommandMachines, Commands, Naming
from provisioning.providers.machines import Sighting
from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from provisioning.providers.entry import Entry
    from provisioning.providers.provider import HostOffer


@dataclass(frozen=True)
class _Host:
    name: str
    slots: int | None


@dataclass(frozen=True)
class _Status:
    __pydantic_config__ = ConfigDict(extra="ignore")

    state: str
    hosts: tuple[_Host, ...]


_STATUS = TypeAdapter(_Status)


def lab_machines(
    offers: Sequence[HostOffer],
    sites: Path,
    command: Sequence[str],
    *,
    options: Sequence[str] = (),
    added_boot_s: float = 0.0,
    rest_s: float = 0.0,
    limit_s: float = 240.0,
) -> CommandMachines:
    """Return the hosts that a site file declares with `joined = false`.

    One is ready once Nimbus knows its slots, some 20 s after it was told to join.

    Args:
        offers: What they are offered as.
        sites: The site file of the lab.
        command: The program `stormplace`.
        options: Of each of its commands, such as ``--dir FOLDER``.
        added_boot_s: For so long each one waits before it joins, as a rented one would boot, s.
        rest_s: For so long the name of a host that left is not used, s.
        limit_s: Limit of each command, s; one that lets a host leave waits for Nimbus, up to three minutes.

    Raises:
        ProviderError: The site file is faulty, or all of its hosts join with the lab.
    """
    try:
        pool = tuple(each.name for each in read_site_file(sites).host if not each.joined)
    except SiteFileError as error:
        raise ProviderError(str(error)) from None
    if not pool:
        raise ProviderError(f"site file {sites}: no [[host]] has joined = false, so there is none to lease")
    commands = Commands(
        start=(*command, "lab", "join", "{host}", *options),
        stop=(*command, "lab", "leave", "{host}", *options),
        listing=(*command, "lab", "status", "--json", *options),
        limit_s=limit_s,
    )
    return CommandMachines(offers, commands, Naming(pool=pool, rest_s=rest_s), added_boot_s, _read_status)


def _read_status(printed: str, entries: Sequence[Entry]) -> Mapping[str, Sighting]:
    try:
        status = _STATUS.validate_json(printed)
    except ValidationError as error:
        raise ProviderError(f"list: what the lab says is no status of one: {phrases(error)[0]}") from None
    if status.state == "absent":
        raise ProviderError("list: no lab is running")
    slots = {each.name: each.slots for each in status.hosts}
    return {
        each.request: Sighting("booting" if slots.get(each.host) is None else "ready") for each in entries
    }
