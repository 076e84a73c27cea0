"""What is in the way, as the log has it: a line when it begins, and one when it is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from formats.log import Log


@dataclass
class Saying:
    """What was said of what is in the way.

    Attributes:
        log: Takes the lines.
        lasts_s: What comes again with decisions is over if it has not come for so long, s.
    """

    log: Log
    lasts_s: float
    _said: dict[tuple[str, str], Hashable] = field(default_factory=dict)
    _lasting: dict[tuple[str, str, Hashable], tuple[str, float]] = field(default_factory=dict)

    def begins(self, mode: str, event: str, what: Hashable) -> bool:
        """Return whether what is so in each round begins or changes; that it is over is logged.

        Args:
            mode: Of the loop.
            event: Name of the line.
            what: What tells it from another one; empty: there is nothing.
        """
        now = what or None
        if now == self._said.get((mode, event)):
            return False
        self._said[mode, event] = now
        if now is None:
            self.log.info(f"{event}-no-more", mode=mode)
        return now is not None

    def once(self, mode: str, event: str, what: str) -> None:
        """Log a sentence that is so in each round when it begins, changes or ends."""
        if self.begins(mode, event, what):
            self.log.warning(event, mode=mode, why=what)

    def lasting(
        self, mode: str, event: str, sentences: Mapping[Any, str], now_s: float, *, ends: bool = True
    ) -> None:
        """Log each sentence when it begins; those are over that have not come again for long.

        Args:
            mode: Of the loop.
            event: Name of the line.
            sentences: By what tells them from others.
            now_s: Time, s since 1970.
            ends: Whether anything can be over: all was looked at.
        """
        begun = [each for key, each in sentences.items() if (mode, event, key) not in self._lasting]
        self._lasting |= {(mode, event, key): (each, now_s) for key, each in sentences.items()}
        over = [
            key
            for key, (_, last_s) in self._lasting.items()
            if ends and key[:2] == (mode, event) and abs(now_s - last_s) > self.lasts_s
        ]
        if begun:
            self.log.warning(event, mode=mode, why=begun)
        if over:
            self.log.info(f"{event}-no-more", mode=mode, why=[self._lasting.pop(key)[0] for key in over])
