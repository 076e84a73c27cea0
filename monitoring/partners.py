"""Which hosts exchange tuples with this one: their links are measured whatever the coordinates say."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kazoo.exceptions import NoAuthError, NoNodeError

from monitoring.ephemeral_node import REPLY_S
from monitoring.json_input import amount, json_object, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from monitoring.log import Log

MAX_PARTNERS = 8
_VERSION = 1


class PartnerFinder:
    """Looks at the readings of rates from time to time; only the session's thread takes turns.

    There is no watch: rates are written anew each minute, and a thousand agents must not all read them then.

    Args:
        folder: Znode of the rates.
        host: Name of this host.
        pause_s: Mean time between two looks, s; each is spread by a quarter either way.
        rng: Spreads looks.
        on_partners: Called with the partners after a change, busiest first.
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
        self._folder = folder
        self._host = host
        self._pause_s = pause_s
        self._rng = rng
        self._on_partners = on_partners
        self._log = log
        self._clock_s = clock_s
        self._look_at_s = clock_s()
        self._partners: tuple[str, ...] = ()
        self._faults: dict[str, str] = {}
        self.unreadable = 0
        """Looks at readings of rates that could not be read."""

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
            topologies = client.get_children_async(self._folder).get(timeout=REPLY_S)
        except NoNodeError:  # nobody collects rates
            topologies = []
        self._faults = {name: fault for name, fault in self._faults.items() if name in topologies}
        replies = [(name, client.get_async(f"{self._folder}/{name}")) for name in sorted(topologies)]
        pairs = [pair for name, reply in replies for pair in self._read(name, reply)]
        partners = busiest(self._host, pairs)
        if partners != self._partners:
            self._partners = partners
            self._on_partners(partners)

    def _read(self, name: str, reply: Any) -> list[tuple[str, str, float]]:
        try:
            content, _ = reply.get(timeout=REPLY_S)
            return host_pairs(content)
        except NoNodeError:
            return []
        except NoAuthError:
            reason = "no access: published with other credentials"
        except ValueError as error:
            reason = str(error)
        self.unreadable += 1
        if self._faults.get(name) != reason:
            self._faults[name] = reason
            self._log.warning("rates-unreadable", topology=name, reason=reason)
        return []


def busiest(host: str, pairs: Iterable[tuple[str, str, float]], most: int = MAX_PARTNERS) -> tuple[str, ...]:
    """Return the hosts that exchange most tuples with one, busiest first.

    Args:
        host: The one.
        pairs: Two distinct hosts and the tuples/s between them; pairs may occur for several topologies.
        most: Most partners.
    """
    rates: dict[str, float] = defaultdict(float)
    for a, b, rate in pairs:
        if host in (a, b) and a != b:
            rates[b if a == host else a] += rate
    return tuple(sorted(rates, key=lambda peer: (-rates[peer], peer))[:most])


def host_pairs(content: bytes | None) -> list[tuple[str, str, float]]:
    """Read the pairs of hosts in a reading of rates.

    Args:
        content: The znode's content; None if it never had any.

    Raises:
        ValueError: With the reason, if the content is not such a reading of a version known here.
    """
    fields = json_object(content)
    if fields.get("version") != _VERSION:
        raise ValueError(f"version {shown(fields.get('version'))} instead of {_VERSION}")
    pairs = fields.get("host_pairs", [])
    if not isinstance(pairs, list):
        raise ValueError("host_pairs is not a list")  # noqa: TRY004 - one kind of error for all bad content
    return [_pair(number, pair) for number, pair in enumerate(pairs)]


def _pair(number: int, pair: object) -> tuple[str, str, float]:
    match pair:
        case [str(a), str(b), value] if (rate := amount(value)) is not None:
            return a, b, rate
    raise ValueError(f"host_pairs[{number}] is not [host, host, tuples/s]")
