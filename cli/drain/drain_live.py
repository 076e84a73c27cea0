"""What `drain` and `undrain` do in ZooKeeper: look at what is known, write drains, take them back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError
from pydantic import TypeAdapter, ValidationError

from bridge.readings.drains import read_drains
from bridge.wire.messages import Drain
from cli.errors import UserError
from formats.drain import FOLDER, VERSION
from formats.node_reading import NodeFields
from formats.packed_content import unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_READING = TypeAdapter(NodeFields)


@dataclass(frozen=True)
class KnownHost:
    """What a host's agent says of it.

    Attributes:
        name: The host.
        site: Its site, None if the agent names none or cannot be understood.
        slots_used: Its worker slots that run a worker, None if that is not known.
        changed_ms: When ZooKeeper took that, by its clock.
    """

    name: str
    site: str | None
    slots_used: int | None
    changed_ms: float


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
        content, stat = reply.get()
    except NoNodeError:
        # gone since the list was made: the host is known all the same
        return KnownHost(name, None, None, 0.0)
    try:
        fields = _READING.validate_json(unpack(content))
    except (ValidationError, ValueError):
        # of another version
        return KnownHost(name, None, None, float(stat.mtime))
    load = fields.get("load")
    return KnownHost(name, fields["site"], load.get("slots_used") if load else None, float(stat.mtime))


def drained_places(client: Any, root: str) -> tuple[str, ...]:
    """Return the places that have a drain, whether it still holds or not."""
    try:
        return tuple(sorted(client.get_children(f"{root}/{FOLDER}")))
    except NoNodeError:
        return ()


def drains_that_hold(client: Any, root: str, now_ms: float) -> tuple[str, ...]:
    """Return the places whose drain holds at a time by ZooKeeper's clock; what cannot be read does not."""
    found = []
    for place in drained_places(client, root):
        try:
            content, stat = client.get(f"{root}/{FOLDER}/{place}")
        except NoNodeError:
            continue
        found.append(Drain(place, content, round(max(now_ms - stat.mtime, 0.0))))
    return tuple(f"{kind}:{name}" for kind, name in read_drains(found).left_s)


def write_drains(client: Any, root: str, places: Sequence[str], lifetime_s: float | None) -> float:
    """Write drains, all or none.

    Args:
        client: Connected.
        root: Path of the readings.
        places: `host:NAME` or `site:NAME`; one that has a drain gets the new one.
        lifetime_s: Time for which they hold, s; None holds until they are taken back.

    Returns:
        When ZooKeeper took them, ms by its clock.
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
    written = client.exists(f"{folder}/{places[0]}")
    if written is None:
        raise UserError("another command took the drain back at the same time", status=1)
    return float(written.mtime)


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
