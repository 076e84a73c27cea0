"""Which hosts exchange tuples with this one: their links are measured whatever the coordinates say."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoNodeError

from formats.rates_reading import VERSION
from monitoring.host_pairs import busiest
from monitoring.json_input import describe, finite, json_object, list_at
from monitoring.zookeeper.folder import Folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from formats.log import Log


_Pairs = tuple[tuple[str, str, float], ...]
"""Two hosts each, and the tuples/s between them."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A reading as far as this host needs it.

    Attributes:
        written: The transaction that wrote it.
        since_s: When it was seen first, s.
        lifetime_s: Age from which it counts as missing, s.
        own: Pairs with this host.
    """

    written: int
    since_s: float
    lifetime_s: float
    own: _Pairs


class PartnerFinder:
    """Looks at the readings of rates from time to time; only the session's thread takes turns.

    There is no watch: rates are written anew each minute, and a thousand agents must not all read them then.

    A reading's age is the time since it was first seen, by this host's own clock: clocks of hosts are not
    compared. So no agent goes on with the rates of a collector that stands still.

    Args:
        folder: Znode of the rates.
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
        self._folder = Folder(folder, "topology", log, "rates-unreadable")
        self._host = host
        self._pause_s = pause_s
        self._rng = rng
        self._on_partners = on_partners
        self._clock_s = clock_s
        self._look_at_s = clock_s()
        self._partners: tuple[str, ...] = ()
        self._seen: dict[str, _Seen] = {}

    @property
    def unreadable(self) -> int:
        """Looks at readings of rates, or at their list, that could not be read or were too old."""
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
        try:
            topologies = self._folder.names(client) or []
        except NoNodeError:  # no collector has published rates
            topologies = []
        self._folder.keep(topologies)
        self._seen = {name: seen for name, seen in self._seen.items() if name in topologies}
        replies = [(name, self._folder.ask(client, name)) for name in sorted(topologies)]
        pairs = [pair for name, reply in replies for pair in self._read(name, reply, now_s)]
        partners = busiest(self._host, pairs, self._partners)
        if set(partners) != set(self._partners):
            self._partners = partners
            self._on_partners(partners)

    def _read(self, name: str, reply: Any, now_s: float) -> _Pairs:
        def parse(content: bytes | None, stat: Any) -> _Pairs:
            seen = self._seen.get(name)
            if seen is None or seen.written != stat.mzxid:
                lifetime_s, pairs = pair_rates(content)
                own = tuple(pair for pair in pairs if self._host in pair[:2])
                seen = self._seen[name] = _Seen(stat.mzxid, now_s, lifetime_s, own)
            if now_s - seen.since_s > seen.lifetime_s:
                raise ValueError(f"older than its lifetime of {seen.lifetime_s:g} s")
            return seen.own

        try:
            return self._folder.read(name, reply, parse) or ()
        except NoNodeError:
            return ()


def pair_rates(content: bytes | None) -> tuple[float, _Pairs]:
    """Read the lifetime (s) of a reading of rates and what it says of pairs of hosts.

    Args:
        content: The znode's content; None if it never had any.

    Raises:
        ValueError: With the reason, if the content is not such a reading of a version known here.
    """
    fields = json_object(content)
    if fields.get("version") != VERSION:
        raise ValueError(f"version {describe(fields.get('version'))} instead of {VERSION}")
    lifetime_s = finite(fields.get("lifetime_s")) or 0.0
    if lifetime_s <= 0:
        raise ValueError("lifetime_s is no time above zero")
    pairs = list_at("host_pairs", fields.get("host_pairs", []))
    return lifetime_s, tuple(_pair(number, pair) for number, pair in enumerate(pairs))


def _pair(number: int, pair: object) -> tuple[str, str, float]:
    match pair:
        case [str(a), str(b), value] if (rate := finite(value)) is not None and rate >= 0:
            return a, b, rate
    raise ValueError(f"host_pairs[{number}] is not [host, host, tuples/s]")
