"""Whom to probe next: a small changing set, some near and some far.

Near peers make short distances exact, far ones hold the map together (Dabek et al., section 5.1, and its
figure on mixtures). The set's size, and so the cost of probing, does not grow with the number of hosts.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random


class PeerChooser:
    """Walks in random order over `near` nearest and `far` other peers, round after round.

    After each round the longest-serving far peer gives its place to a random newcomer: a far peer is probed
    for several rounds, long enough to fill its latency filter, and over time every peer has its turn.

    Args:
        rng: Source of all choices.
        near: Nearest peers in the set.
        far: Other peers in the set.
    """

    def __init__(self, rng: Random, near: int = 2, far: int = 6) -> None:
        if near < 0 or far < 1:
            raise ValueError("near >= 0 and far >= 1 are needed")
        self._rng = rng
        self._near = near
        self._far = far
        self._known: list[str] = []
        self._far_set: deque[str] = deque()
        self._round: deque[str] = deque()

    def update(self, peers: Iterable[str]) -> frozenset[str]:
        """Replace the list of known peers.

        Returns:
            Peers that vanished; they are not chosen again.
        """
        fresh = sorted(set(peers))
        gone = frozenset(self._known) - frozenset(fresh)
        if fresh != self._known:
            kept = frozenset(fresh)
            self._known = fresh
            self._far_set = deque(peer for peer in self._far_set if peer in kept)
            self._round = deque(peer for peer in self._round if peer in kept)
        return gone

    def choose(self, distance_ms: Callable[[str], float]) -> str:
        """Name the next peer to probe; empty when none is known.

        Args:
            distance_ms: Estimated delay to a peer; infinite for one that was never reached.
        """
        if not self._round:
            self._new_round(distance_ms)
        return self._round.popleft() if self._round else ""

    def _new_round(self, distance_ms: Callable[[str], float]) -> None:
        ranked = sorted(self._known, key=lambda peer: (distance_ms(peer), peer))
        near = ranked[: self._near]
        others = [peer for peer in self._known if peer not in set(near)]
        self._far_set = deque(peer for peer in self._far_set if peer in set(others))
        newcomers = [peer for peer in others if peer not in set(self._far_set)]
        self._rng.shuffle(newcomers)
        if newcomers and len(self._far_set) >= self._far:
            self._far_set.popleft()
        self._far_set.extend(newcomers[: self._far - len(self._far_set)])
        members = near + list(self._far_set)
        self._rng.shuffle(members)
        self._round = deque(members)
