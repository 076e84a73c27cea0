"""Keeps a bounded random sample of all peers, the ones that an agent probes."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random


class PeerPool:
    """A bounded random sample of the peers that is slowly exchanged, partners always among it.

    As each agent samples at random and keeps no member for ever, hardly more than `capacity` agents have
    the same host in their pools, however central it is and however many there are: the probes that a host has
    to answer are bounded as those that it sends are.

    Args:
        rng: Source of all choices.
        capacity: Most members, partners not counted.
    """

    def __init__(self, rng: Random, capacity: int = 64) -> None:
        self._rng = rng
        self._capacity = capacity
        self._names: frozenset[str] = frozenset()
        self._partners: frozenset[str] = frozenset()
        self._sample: deque[str] = deque()

    def update(self, names: Iterable[str]) -> None:
        """Replace the set of all peers; members that are still there stay."""
        self._names = frozenset(names)
        self._sample = deque(peer for peer in self._sample if peer in self._names)
        self._fill()

    def favour(self, partners: Iterable[str]) -> None:
        """Replace the set of peers that are members whatever chance says."""
        self._partners = frozenset(partners)

    def renew(self) -> None:
        """Exchange the member that has been in the sample for longest, if there are others."""
        outside = self._names - set(self._sample)
        if outside and len(self._sample) >= self._capacity:
            former = self._sample.popleft()
            self._sample.append(self._rng.choice(sorted(outside - {former})))

    def members(self) -> frozenset[str]:
        """Return the peers that an agent should know the addresses of."""
        return frozenset(self._sample) | (self._partners & self._names)

    def _fill(self) -> None:
        outside = sorted(self._names - set(self._sample))
        free = min(self._capacity - len(self._sample), len(outside))
        self._sample.extend(self._rng.sample(outside, free))
