"""A child process at work, seen from both ends of the connection on which it speaks."""

from __future__ import annotations

import math
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

from bridge.children.watched_deadline import Watch
from scheduler.contract.children import Spoken

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

    from scheduler.base.deadline import Deadline

_SAID, _DONE, _FAILED = "said", "done", "failed"


Work = tuple["Callable[[Any, Deadline, Callable[[Any], None]], None]", Any, "Deadline"]
"""What to do, its argument and its deadline."""


def perform(connection: Connection[Any, Any], load: Callable[[], Work]) -> None:
    """Do the work in the child and send how it ended; nothing is raised.

    Args:
        connection: Where `ChildJob` listens.
        load: Returns the work.
    """

    def say(message: object) -> None:
        connection.send((_SAID, message))

    try:
        work, argument, deadline = load()
        watch = Watch(deadline)
        work(argument, watch.deadline, say)
        last: tuple[str, str | bool] = (_DONE, watch.cut)
    except BrokenPipeError:
        # The owner is gone.
        return
    except MemoryError:
        last = (_FAILED, "its process is out of memory")
    except Exception as error:  # noqa: BLE001  # the owner decides what a failure means
        place = traceback.extract_tb(error.__traceback__)[-1]
        last = (
            _FAILED,
            f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})",
        )
    with suppress(BrokenPipeError):
        connection.send(last)


class ChildJob(Generic[Spoken]):
    """Work in a child process; used by one thread.

    Args:
        connection: Where the child speaks; None if there is none.
        kill: Kills the child.
        failure: Why there is no child.

    Attributes:
        cut: Whether the work has ended by itself, but the child's clock may have changed its result.
    """

    def __init__(
        self,
        connection: Connection[Any, Any] | None,
        kill: Callable[[], None] | None,
        failure: str | None = None,
    ) -> None:
        self._connection = connection
        self._kill = kill
        self._failure = failure
        self._said: list[Spoken] = []
        self.cut = False

    @property
    def ended(self) -> bool:
        """Whether the work has ended, by itself or not; messages may still be unread."""
        self._listen(0.0)
        return self._connection is None

    @property
    def failure(self) -> str | None:
        """Why it ended without finishing; None while it runs and after a good end."""
        self._listen(0.0)
        return self._failure

    def messages(self) -> list[Spoken]:
        """Return what it has said since the last call, without waiting."""
        self._listen(0.0)
        said, self._said = self._said, []
        return said

    def wait(self, seconds: float) -> bool:
        """Wait until there is a message or the work has ended, at most so long; return whether so."""
        self._listen(0.0 if self._said else max(seconds, 0.0))
        return bool(self._said) or self._connection is None

    def stop(self) -> None:
        """Kill it, without waiting for its end. What it has said is kept."""
        if self._connection is not None and self._kill is not None:
            self._kill()
            # its end may be there already
            self._listen(0.0, gone="it was stopped")
            self._end("it was stopped")

    def _listen(self, seconds: float, gone: str = "its process was killed") -> None:
        """Take in what is there, after waiting so long for the first word; `gone` is why there is no more."""
        patience = None if math.isinf(seconds) else seconds
        while self._connection is not None:
            try:
                if not self._connection.poll(patience):
                    return
                kind, content = self._connection.recv()
            except (EOFError, OSError):
                self._end(gone)
                return
            if kind == _SAID:
                self._said.append(content)
            elif kind == _DONE:
                self.cut = content
                self._end(None)
            else:
                self._end(str(content))
            patience = 0.0

    def _end(self, failure: str | None) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._failure = failure
