"""What `drain` and `undrain` do in ZooKeeper: look at what is known, write drains, take them back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NodeExistsError, NoNodeError, RolledBackError
from pydantic import TypeAdapter, ValidationError

from bridge.readings.drains import read_drains
from bridge.wire.messages import Drain
from cli.errors import UserError
from cli.network.network_live import contents
from formats.drain import FOLDER, content_of
from formats.node_reading import NodeFields
from formats.packed_content import unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_ON_THE_WAY_S = 5.0
"""A drain counts from when ZooKeeper took it, later than it was meant: a command takes no longer."""
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
    found = contents(client, f"{root}/nodes")
    return tuple(_known(name, *reading) for name, reading in sorted(found.items()))


def _known(name: str, content: bytes, changed_ms: float) -> KnownHost:
    try:
        fields = _READING.validate_json(unpack(content))
    except (ValidationError, ValueError):
        # of another version: the host is known all the same
        return KnownHost(name, None, None, changed_ms)
    load = fields.get("load")
    return KnownHost(name, fields["site"], load.get("slots_used") if load else None, changed_ms)


def drained_places(client: Any, root: str) -> tuple[str, ...]:
    """Return the places that have a drain, whether it still holds or not."""
    return tuple(sorted(contents(client, f"{root}/{FOLDER}")))


@dataclass(frozen=True)
class Span:
    """When a drain holds, s from now.

    Attributes:
        begins_s: When it begins; 0 if it holds now.
        ends_s: When it ends; infinite if it has to be taken back.
    """

    begins_s: float
    ends_s: float

    def holds(self, at_s: float) -> bool:
        """Say whether it holds at a time, s from now; one that ends at about that time does not."""
        return self.begins_s <= at_s < self.ends_s - _ON_THE_WAY_S


def drains_to_come(client: Any, root: str, now_ms: float) -> dict[str, Span]:
    """Return when drains hold, by place, seen from a time by ZooKeeper's clock; unreadable ones do not."""
    found = [
        Drain(place, content, round(max(now_ms - changed_ms, 0.0)))
        for place, (content, changed_ms) in contents(client, f"{root}/{FOLDER}").items()
    ]
    drains = read_drains(found)
    spans = {place: (0.0, left_s) for place, left_s in drains.left_s.items()}
    spans |= {place: (each.begins_s, each.left_s) for place, each in drains.announced.items()}
    return {
        f"{kind}:{name}": Span(begins_s, math.inf if left_s is None else left_s)
        for (kind, name), (begins_s, left_s) in spans.items()
    }


def write_drains(client: Any, root: str, places: Sequence[str], span: Span) -> float:
    """Write drains, all or none.

    Args:
        client: Connected.
        root: Path of the readings.
        places: `host:NAME` or `site:NAME`; one that has a drain gets the new one.
        span: When they hold.

    Returns:
        When ZooKeeper took them, ms by its clock.
    """
    content = content_of(None if math.isinf(span.ends_s) else span.ends_s, span.begins_s)
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
        if isinstance(outcome, Exception) and not isinstance(outcome, RolledBackError):
            raise outcome
