"""Chooses the peer to probe next, out of a small changing set of near and far ones.

Near peers make short distances exact, far ones hold the map together (F. Dabek, R. Cox, F. Kaashoek,
R. Morris, "Vivaldi", SIGCOMM 2004, section 5.1, and its figure on mixtures). The set's size, and so
the cost of probing, does not grow with the number of hosts.
"""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random


_NEAR = 2
"""Nearest peers in the set."""

_FAR = 6
"""Other peers in the set."""

_EXPLORE = 6
"""Far peers that change in a round while some never had their turn."""


class PeerChooser:
    """Walks in random order over the nearest and some other peers, round after round.

    Partners are peers that exchange tuples with this host. Every second choice is one of them, in turn, so
    that a change of a link that is used is seen soon: with two partners every fourth choice measures it.

    After each round the longest-serving far peer gives its place to a random newcomer: a far peer is probed
    for several rounds, long enough to fill its latency filter, and over time every peer has its turn. While
    there are peers that never had one, several of them come at once: the nearest peer is found early, and
    a host that has not met its neighbours may settle far from them.

    Args:
        rng: Source of all choices.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._known: list[str] = []
        self._partners: frozenset[str] = frozenset()
        self._far_set: deque[str] = deque()
        self._round: deque[str] = deque()
        self._partner_round: deque[str] = deque()
        self._partner_due = False
        self._met: set[str] = set()
        self._members: frozenset[str] = frozenset()

    def update(self, peers: Iterable[str]) -> None:
        """Replace the list of known peers; those that vanished are not chosen again."""
        fresh = sorted(set(peers))
        if fresh != self._known:
            kept = frozenset(fresh)
            self._known = fresh
            self._met &= kept
            self._far_set = deque(peer for peer in self._far_set if peer in kept)
            self._round = deque(peer for peer in self._round if peer in kept)
            self._renew_partner_round()

    def favour(self, partners: Iterable[str]) -> None:
        """Replace the set of partners; those that are not known are left aside until they are."""
        self._partners = frozenset(partners)
        self._renew_partner_round()

    def members(self) -> frozenset[str]:
        """Return the known partners and the peers of the last round that began."""
        return self._members | frozenset(self._partner_round)

    def choose(self, distance_ms: Callable[[str], float]) -> str:
        """Name the next peer to probe; empty when none is known.

        Args:
            distance_ms: Measured delay of a peer; infinite for one that was never reached.
        """
        if not self._round:
            self._new_round(distance_ms)
        self._partner_due = not self._partner_due
        if self._partner_round and (self._partner_due or not self._round):
            self._partner_round.rotate(-1)
            return self._partner_round[-1]
        return self._round.popleft() if self._round else ""

    def _renew_partner_round(self) -> None:
        """Keep who is next: peers come and go often, and the last in turn must not wait each time."""
        due = self._partners & frozenset(self._known)
        stay = [peer for peer in self._partner_round if peer in due]
        self._partner_round = deque([*stay, *sorted(due.difference(stay))])

    def _new_round(self, distance_ms: Callable[[str], float]) -> None:
        strangers = [peer for peer in self._known if peer not in self._partners]
        measured = ((distance_ms(peer), peer) for peer in strangers)
        reached = sorted(pair for pair in measured if math.isfinite(pair[0]))
        # a peer is not near before it was reached, or all hosts of a cluster would start with the same two
        near = {peer for _, peer in reached[:_NEAR]}
        others = dict.fromkeys(peer for peer in strangers if peer not in near)  # in the order of names
        self._far_set = deque(peer for peer in self._far_set if peer in others)
        present = frozenset(self._far_set)
        newcomers = [peer for peer in others if peer not in present]
        self._rng.shuffle(newcomers)
        unmet = [peer for peer in newcomers if peer not in self._met]
        newcomers.sort(key=lambda peer: peer in self._met)
        changed = min(len(newcomers), _EXPLORE if unmet else 1)
        for _ in range(changed - (_FAR - len(self._far_set))):
            self._far_set.popleft()
        self._far_set.extend(newcomers[: _FAR - len(self._far_set)])
        self._met.update(self._far_set, near)
        members = sorted(near) + list(self._far_set)
        self._rng.shuffle(members)
        self._round = deque(members)
        self._members = frozenset(members)
