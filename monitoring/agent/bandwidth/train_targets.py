"""Chooses the peer that gets the next train: one of each other site, the sites in turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from monitoring.agent.bandwidth.bandwidth_estimates import LEAST_TRAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from monitoring.reading import Address

_FIRST_S = 5.0
"""Time over which the first trains to peers are spread."""

_PAUSE_S = 1.0
"""Between two trains to a peer while it has too few for an estimate."""

_LONG_PAUSE_S = 30.0
"""Between two trains to a peer afterwards."""

_RETRY_S = 5.0
"""Before another try after one that failed; twice as long with each further one in a row."""

_LONGEST_RETRY_S = 600.0
_KEEP_S = 3_600.0


@dataclass(frozen=True, slots=True)
class Destination:
    """A peer of another site: that site, and where the peer answers."""

    site: str
    address: Address


@dataclass(slots=True)
class _Turn:
    """Mutable record of a peer: when it is due (s), failures in a row, and its place among equals."""

    due_s: float
    rank: float
    failures: int = 0


class TrainTargets:
    """Turns of peers; all times in s of one clock that does not go back.

    Of each site the peer with most trains is chosen again and again, so that a few trains make an estimate;
    after a failure another one has its turn.

    Args:
        rng: Source of all choices.
    """

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._turns: dict[str, _Turn] = {}

    def choose(
        self, now_s: float, peers: Mapping[str, Destination], trains: Callable[[str], int]
    ) -> tuple[str, float] | None:
        """Name the peer whose turn is next, and when that is; None without peers.

        Args:
            now_s: The time.
            peers: Peers of other sites that can be reached.
            trains: Number of trains that count of a peer.
        """
        self._turns = {
            peer: turn for peer, turn in self._turns.items() if peer in peers or now_s - turn.due_s < _KEEP_S
        }
        for peer in sorted(peers.keys() - self._turns.keys()):
            self._turns[peer] = _Turn(now_s + self._rng.uniform(0, _FIRST_S), self._rng.random())
        best: dict[str, tuple[float, int, float, str]] = {}
        for peer, there in peers.items():
            turn = self._turns[peer]
            held_s = max(now_s, turn.due_s) if turn.failures else now_s
            key = (held_s, -trains(peer), turn.rank, peer)
            best[there.site] = min(best.get(there.site, key), key)
        chosen = ((self._turns[key[-1]].due_s, key[-1]) for key in best.values())
        due_s, peer = min(chosen, default=(0.0, ""))
        return (peer, due_s) if peer else None

    def failures(self, peer: str) -> int:
        """Return the number of trains to a peer that failed in a row."""
        return self._turns[peer].failures

    def note_counted(self, peer: str, trains: int, now_s: float) -> None:
        """Note that a train arrived whole; so many to this peer count now."""
        turn = self._turns[peer]
        turn.failures = 0
        turn.due_s = now_s + self._spread(_PAUSE_S if trains < LEAST_TRAINS else _LONG_PAUSE_S)

    def note_failed(self, peer: str, now_s: float) -> None:
        """Note that a train was not allowed, or did not arrive whole."""
        turn = self._turns[peer]
        turn.due_s = now_s + self._spread(min(_LONGEST_RETRY_S, _RETRY_S * 2.0 ** min(turn.failures, 16)))
        turn.failures += 1

    def _spread(self, pause_s: float) -> float:
        """Spread a pause by a fifth either way, lest agents send in step."""
        return pause_s * self._rng.uniform(0.8, 1.2)
