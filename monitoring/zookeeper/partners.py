"""Which hosts exchange tuples with this one: their links are measured whatever the coordinates say."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoAuthError, NoNodeError

from formats.rates_reading import VERSION
from monitoring.host_pairs import busiest
from monitoring.json_input import describe, finite, json_object, list_at
from monitoring.zookeeper.folder import Folder
from monitoring.zookeeper.replies import REPLY_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    from monitoring.log import Log


@dataclass(frozen=True, slots=True)
class PairRates:
    """What a reading of rates says of pairs of hosts.

    Attributes:
        lifetime_s: Age from which it counts as missing, s.
        pairs: Two hosts and the tuples/s between them.
    """

    lifetime_s: float
    pairs: tuple[tuple[str, str, float], ...]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A reading as far as this host needs it.

    Attributes:
        written: The transaction that wrote it.
        since_s: When it was seen first, s.
        lifetime_s: See `PairRates`.
        own: Pairs with this host.
    """

    written: int
    since_s: float
    lifetime_s: float
    own: tuple[tuple[str, str, float], ...]

    def at(self, now_s: float) -> tuple[tuple[str, str, float], ...]:
        """Return the pairs.

        Raises:
            ValueError: With the reason, if they are too old.
        """
        if now_s - self.since_s > self.lifetime_s:
            raise ValueError(f"older than its lifetime of {self.lifetime_s:g} s")
        return self.own


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
        self._path = folder
        self._folder = Folder(folder, log)
        self._host = host
        self._pause_s = pause_s
        self._rng = rng
        self._on_partners = on_partners
        self._log = log
        self._clock_s = clock_s
        self._look_at_s = clock_s()
        self._partners: tuple[str, ...] = ()
        self._faults: dict[str, str] = {}
        self._seen: dict[str, _Seen] = {}
        self._unreadable_readings = 0

    @property
    def unreadable(self) -> int:
        """Looks at readings of rates, or at their list, that could not be read or were too old."""
        return self._unreadable_readings + self._folder.refusals

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
        self._faults = {name: fault for name, fault in self._faults.items() if name in topologies}
        self._seen = {name: seen for name, seen in self._seen.items() if name in topologies}
        replies = [(name, client.get_async(f"{self._path}/{name}")) for name in sorted(topologies)]
        pairs = [pair for name, reply in replies for pair in self._read(name, reply, now_s)]
        partners = busiest(self._host, pairs, self._partners)
        if set(partners) != set(self._partners):
            self._partners = partners
            self._on_partners(partners)

    def _read(self, name: str, reply: Any, now_s: float) -> tuple[tuple[str, str, float], ...]:
        try:
            content, stat = reply.get(timeout=REPLY_S)
            seen = self._seen.get(name)
            if seen is None or seen.written != stat.mzxid:
                rates = pair_rates(content)
                own = tuple(pair for pair in rates.pairs if self._host in pair[:2])
                seen = self._seen[name] = _Seen(stat.mzxid, now_s, rates.lifetime_s, own)
            pairs = seen.at(now_s)
        except NoNodeError:
            return ()
        except NoAuthError:
            reason = "no access: published with other credentials"
        except ValueError as error:
            reason = str(error)
        else:
            self._faults.pop(name, None)
            return pairs
        self._unreadable_readings += 1
        if self._faults.get(name) != reason:
            self._faults[name] = reason
            self._log.warning("rates-unreadable", topology=name, reason=reason)
        return ()


def pair_rates(content: bytes | None) -> PairRates:
    """Read what a reading of rates says of pairs of hosts.

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
    return PairRates(lifetime_s, tuple(_pair(number, pair) for number, pair in enumerate(pairs)))


def _pair(number: int, pair: object) -> tuple[str, str, float]:
    match pair:
        case [str(a), str(b), value] if (rate := finite(value)) is not None and rate >= 0:
            return a, b, rate
    raise ValueError(f"host_pairs[{number}] is not [host, host, tuples/s]")
