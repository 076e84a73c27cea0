"""Keeps names and addresses of the peers, as ZooKeeper listed them last."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from monitoring.reading import Address


_LINGER_S = 30.0
"""Time for which an unlisted peer stays known."""


class PeerDirectory:
    """Known peers; one that is no longer listed is kept for a while.

    A ZooKeeper that comes back empty, or the short absence of a restarting agent, must not throw away
    what was learnt about peers that still answer.

    """

    def __init__(self) -> None:
        self._addresses: dict[str, Address] = {}
        self._missing_since_s: dict[str, float] = {}

    def update(
        self, now_s: float, listed: Collection[str], addresses: Mapping[str, Address]
    ) -> tuple[str, ...]:
        """Take the current list.

        Args:
            now_s: Time on a clock that does not go back, s.
            listed: Every peer that is published now.
            addresses: Where those of them are that this host has to do with; others are forgotten at once.

        Returns:
            Peers that are forgotten although they are published.
        """
        self._addresses.update(addresses)
        passed_on = tuple(peer for peer in self._addresses if peer in listed and peer not in addresses)
        for peer in passed_on:
            del self._addresses[peer]
            self._missing_since_s.pop(peer, None)
        for peer in self._addresses:
            if peer in listed:
                self._missing_since_s.pop(peer, None)
            else:
                self._missing_since_s.setdefault(peer, now_s)
        return passed_on

    def missing(self) -> tuple[str, ...]:
        """Return the known peers that are no longer listed."""
        return tuple(self._missing_since_s)

    def expire(self, now_s: float) -> tuple[str, ...]:
        """Forget and return the peers that were missing for too long."""
        gone = tuple(p for p, since_s in self._missing_since_s.items() if now_s - since_s >= _LINGER_S)
        for peer in gone:
            del self._addresses[peer], self._missing_since_s[peer]
        return gone

    def __contains__(self, peer: str) -> bool:
        return peer in self._addresses

    def names(self) -> tuple[str, ...]:
        """Return the names of all known peers."""
        return tuple(self._addresses)

    def address(self, peer: str) -> Address:
        """Return a known peer's address.

        Raises:
            KeyError: If the peer is not known.
        """
        return self._addresses[peer]
