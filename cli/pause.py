"""The first wish to end is taken as a wish to pause: what is in hand is brought to its end."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType, TracebackType

_WISHES = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Pause:
    """Catches the first SIGINT, SIGTERM or SIGHUP inside its block; the next one raises `KeyboardInterrupt`.

    A signal that was ignored before, as `nohup` has it, stays ignored.
    """

    def __init__(self) -> None:
        self._asked = False

    def asked(self) -> bool:
        """Return whether there was one."""
        return self._asked

    def __enter__(self) -> Pause:
        self._before = {number: signal.getsignal(number) for number in _WISHES}
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, self._catch)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _catch(self, _number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
