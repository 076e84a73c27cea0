"""Faults of rounds are logged once, not in every round in which they last."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# A fault that comes and goes is the same one for so long.
FORGOTTEN_AFTER_S = 600.0


class FaultLog:
    """Remembers which faults were logged."""

    def __init__(self) -> None:
        self._seen_s: dict[str, float] = {}
        self._open = False

    def news(self, faults: Iterable[str], now_s: float) -> tuple[str, ...] | None:
        """Return which faults of a round are to be logged.

        Args:
            faults: All faults of the round.
            now_s: Time of the round, s.

        Returns:
            The new ones; empty once when nothing is wrong any more after a fault was logged; None if there is
            nothing to log.
        """
        self._seen_s = {
            fault: seen_s for fault, seen_s in self._seen_s.items() if now_s - seen_s <= FORGOTTEN_AFTER_S
        }
        present = tuple(dict.fromkeys(faults))
        news = tuple(fault for fault in present if fault not in self._seen_s)
        self._seen_s.update(dict.fromkeys(present, now_s))
        if news:
            self._open = True
            return news
        if not present and self._open:
            self._open = False
            return ()
        return None
