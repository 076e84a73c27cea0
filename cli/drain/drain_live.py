"""What `drain` and `undrain` do in ZooKeeper: look at what is known, write drains, take them back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError
from pydantic import TypeAdapter, ValidationError

from cli.errors import UserError
from formats.drain import FOLDER, VERSION
from formats.node_reading import NodeFields
from formats.packed_content import unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_READING = TypeAdapter(NodeFields)


@dataclass(frozen=True)
class KnownHost:
    """What a host's agent says of it.

    Attributes:
        name: The host.
        site: Its site, None if the agent names none or cannot be understood.
        slots_used: Its worker slots that run a worker, None if that is not known.
    """

    name: str
    site: str | None
    slots_used: int | None


def known_hosts(client: Any, root: str) -> tuple[KnownHost, ...]:
    """Read what agents say of their hosts, old readings included."""
    folder = f"{root}/nodes"
    try:
        names = client.get_children(folder)
    except NoNodeError:
        return ()
    asked = [(name, client.get_async(f"{folder}/{name}")) for name in sorted(names)]
    return tuple(_known(name, reply) for name, reply in asked)


def _known(name: str, reply: Any) -> KnownHost:
    try:
        fields = _READING.validate_json(unpack(reply.get()[0]))
    except (NoNodeError, ValidationError, ValueError):
        # gone since the list was made, or of another version: the host is known all the same
        return KnownHost(name, None, None)
    load = fields.get("load")
    return KnownHost(name, fields["site"], load.get("slots_used") if load else None)


def drained_places(client: Any, root: str) -> tuple[str, ...]:
    """Return the places that have a drain."""
    try:
        return tuple(sorted(client.get_children(f"{root}/{FOLDER}")))
    except NoNodeError:
        return ()


def write_drains(client: Any, root: str, places: Iterable[str], lifetime_s: float | None) -> None:
    """Write drains, all or none.

    Args:
        client: Connected.
        root: Path of the readings.
        places: `host:NAME` or `site:NAME`; one that has a drain gets the new one.
        lifetime_s: Time for which they hold, s; None holds until they are taken back.
    """
    content = json.dumps({"version": VERSION, "lifetime_s": lifetime_s}).encode()
    folder = f"{root}/{FOLDER}"
    client.ensure_path(folder)
    before = drained_places(client, root)
    transaction = client.transaction()
    for place in places:
        if place in before:
            transaction.set_data(f"{folder}/{place}", content)
        else:
            transaction.create(f"{folder}/{place}", content)
    _commit(transaction)


def remove_drains(client: Any, root: str, places: Collection[str]) -> None:
    """Take drains back, all or none."""
    transaction = client.transaction()
    for place in places:
        transaction.delete(f"{root}/{FOLDER}/{place}")
    _commit(transaction)


def _commit(transaction: Any) -> None:
    for outcome in transaction.commit():
        if isinstance(outcome, NoNodeError | NodeExistsError):
            raise UserError("another command changed the drains at the same time: nothing was done", status=1)
        if isinstance(outcome, Exception) and type(outcome).__name__ != "RolledBackError":
            raise outcome
