"""Which hosts exchange tuples with this one: their links are measured whatever the coordinates say."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoNodeError

from formats.partners_reading import VERSION, shard_of
from monitoring.host_pairs import MAX_PARTNERS
from monitoring.json_input import describe, finite, json_object, list_at
from monitoring.zookeeper.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from formats.log import Log


@dataclass(frozen=True, slots=True)
class _Seen:
    """A reading as far as this host needs it.

    Attributes:
        written: The transaction that wrote it.
        since_s: When it was seen first, s.
        lifetime_s: Age from which it counts as missing, s.
        partners: Of this host, busiest first.
    """

    written: int
    since_s: float
    lifetime_s: float
    partners: tuple[str, ...]


class PartnerFinder:
    """Looks at the reading of its host's partners now and then; only the session's thread takes turns.

    It is one small znode, whatever the number of topologies. There is no watch: the znode is written anew
    each minute, and the agents of a shard must not all read it then.

    A reading's age is the time since it was first seen, by this host's own clock: clocks of hosts are not
    compared. So no agent goes on with the partners of a collector that stands still.

    Args:
        folder: Znode of the partners.
        host: Name of this host.
        pause_s: Mean time between two looks, s; each is spread by a quarter either way.
        rng: Spreads looks.
        on_partners: Called with the partners, busiest first, when they are others than before.
        log: Takes one line per unreadable reading.
        clock_s: A clock that does not go back, in s.
    """

    def __init__(
        self,
        *,
        folder: str,
        host: str,
        pause_s: float,
        rng: Random,
        on_partners: Callable[[tuple[str, ...]], None],
        log: Log,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = Folder(folder, "shard", log, "partners-unreadable")
        self._shard = shard_of(host)
        self._host = host
        self._pause_s = pause_s
        self._rng = rng
        self._on_partners = on_partners
        self._clock_s = clock_s
        self._look_at_s = clock_s()
        self._partners: tuple[str, ...] = ()
        self._seen: _Seen | None = None

    @property
    def unreadable(self) -> int:
        """Looks at the reading that could not be read or was too old."""
        return self._folder.unreadable

    def take_turn(self, client: Any) -> None:
        """Look if it is time.

        Raises:
            KazooException: Whatever ZooKeeper answers or the connection suffers; then the partners stay.
        """
        now_s = self._clock_s()
        if now_s < self._look_at_s:
            return
        self._look_at_s = now_s + self._pause_s * self._rng.uniform(0.75, 1.25)
        partners = self._read(self._folder.ask(client, self._shard), now_s)
        if set(partners) != set(self._partners):
            self._partners = partners
            self._on_partners(partners)

    def _read(self, reply: Any, now_s: float) -> tuple[str, ...]:
        def parse(content: bytes | None, stat: Any) -> tuple[str, ...]:
            seen = self._seen
            if seen is None or seen.written != stat.mzxid:
                lifetime_s, partners = partners_of(self._host, content)
                seen = self._seen = _Seen(stat.mzxid, now_s, lifetime_s, partners)
            if now_s - seen.since_s > seen.lifetime_s:
                raise ValueError(f"older than its lifetime of {seen.lifetime_s:g} s")
            return seen.partners

        try:
            return self._folder.read(self._shard, reply, parse) or ()
        except NoNodeError:  # no collector has published it, or no host in it has partners
            self._folder.keep(())
            self._seen = None
            return ()


def partners_of(host: str, content: bytes | None) -> tuple[float, tuple[str, ...]]:
    """Read the lifetime (s) of a reading of partners and what it says of a host.

    Args:
        host: Name of the host.
        content: The znode's text; None if it never had any.

    Raises:
        ValueError: With the reason, if the content is not such a reading of a version known here.
    """
    fields = json_object(content)
    if fields.get("version") != VERSION:
        raise ValueError(f"version {describe(fields.get('version'))} instead of {VERSION}")
    lifetime_s = finite(fields.get("lifetime_s")) or 0.0
    if lifetime_s <= 0:
        raise ValueError("lifetime_s is no time above zero")
    by_host = fields.get("partners")
    if not isinstance(by_host, dict):
        raise ValueError("partners is not an object")  # noqa: TRY004 - one kind of error for all bad content
    names = list_at(f"partners of {describe(host)}", by_host.get(host, []))
    if not all(isinstance(name, str) for name in names):
        raise ValueError(f"partners of {describe(host)} are not all names")
    # Whatever was published: only so many links can be measured often enough.
    return lifetime_s, tuple(name for name in names if name != host)[:MAX_PARTNERS]
