"""Chooses the pairs of hosts that count as partners. Pure."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

MAX_PARTNERS = 8
STAYING = 1.25
"""A partner counts with its rate times this: so noise in rates that are nearly equal exchanges no partner."""
MAX_HOST_PAIRS = 2_000
"""Most pairs of one topology's reading, of which they are most: among a hundred hosts nearly five thousand
exchange tuples."""


def busiest(
    host: str,
    pairs: Iterable[tuple[str, str, float]],
    present: Collection[str] = (),
    most: int = MAX_PARTNERS,
) -> tuple[str, ...]:
    """Return the hosts that exchange most tuples with one, busiest first.

    Args:
        host: The one.
        pairs: Two distinct hosts and the tuples/s between them; pairs may occur for several topologies.
        present: Its partners so far, which stay unless another is busier by a quarter.
        most: Most partners.
    """
    rates: dict[str, float] = defaultdict(float)
    for a, b, rate in pairs:
        if host in (a, b) and a != b:
            rates[b if a == host else a] += rate
    weights = {peer: rate * (STAYING if peer in present else 1.0) for peer, rate in rates.items()}
    chosen = sorted(rates, key=lambda peer: (-weights[peer], peer))[:most]
    return tuple(sorted(chosen, key=lambda peer: (-rates[peer], peer)))


class NamedPairs:
    """Chooses the pairs that the readings of one topology name: every host's with its partners.

    It knows each host's partners so far. If rates of the moment alone decided, noise would take partners out
    of the reading, and no partner can be kept whose rate is not known.
    """

    def __init__(self) -> None:
        self._partners: dict[str, tuple[str, ...]] = {}

    def choose(self, pairs: Sequence[tuple[str, str, float]]) -> tuple[tuple[str, str, float], ...]:
        """Return the pairs that the next reading names.

        Args:
            pairs: All pairs of two hosts and the tuples/s between them, busiest first.
        """
        own: defaultdict[str, list[tuple[str, str, float]]] = defaultdict(list)
        for pair in pairs:
            own[pair[0]].append(pair)
            own[pair[1]].append(pair)
        # fewer for each of very many hosts: cutting the list by rates would again follow their noise
        most = min(MAX_PARTNERS, max(1, MAX_HOST_PAIRS // max(1, len(own))))
        self._partners = {
            host: busiest(host, of_host, self._partners.get(host, ()), most) for host, of_host in own.items()
        }
        chosen = ((a, b, rate) for a, b, rate in pairs if b in self._partners[a] or a in self._partners[b])
        return tuple(chosen)[:MAX_HOST_PAIRS]
