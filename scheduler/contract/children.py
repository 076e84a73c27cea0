"""Work in child processes, as the core sees it: something starts it, reads its messages and may end it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.deadline import Deadline

Argument = TypeVar("Argument")
Message = TypeVar("Message")
Spoken = TypeVar("Spoken")


class Job(Protocol[Spoken]):
    """Work under way."""

    @property
    def ended(self) -> bool:
        """Whether the work has ended, by itself or not; messages may still be unread."""

    @property
    def failure(self) -> str | None:
        """Why it ended without finishing, in one sentence; None while it runs and after a good end."""

    def messages(self) -> list[Spoken]:
        """Return its messages since the last call, without waiting."""

    def wait(self, seconds: float) -> bool:
        """Wait until there is a message or the work has ended, at most so long; return whether so."""

    def stop(self) -> None:
        """End it now, whatever it does. Unread messages are kept. Ending twice is harmless."""


class Children(Protocol):
    """Starts work."""

    def start(
        self,
        work: Callable[[Argument, Deadline, Callable[[Message], None]], None],
        argument: Argument,
        deadline: Deadline,
    ) -> Job[Message]:
        """Start a module-level function on an argument; both and its messages can be pickled.

        Args:
            work: Called with the argument, the deadline and a function that sends a message.
            argument: What it works on.
            deadline: When it has to end by itself; `Job.stop` is for work that does not.
        """


@dataclass
class _Finished:
    """Work that ran to its end inside `start`."""

    said: list[Any] = field(default_factory=list)
    ended: bool = True
    failure: str | None = None

    def messages(self) -> list[Any]:
        said, self.said = self.said, []
        return said

    def wait(self, _seconds: float) -> bool:
        return True

    def stop(self) -> None:
        """Nothing is left to end."""


class Inline:
    """Runs work to its end inside `start`, in this process: deterministic, and nothing can end it early."""

    def start(
        self,
        work: Callable[[Argument, Deadline, Callable[[Message], None]], None],
        argument: Argument,
        deadline: Deadline,
    ) -> Job[Message]:
        """Run the work and return it as ended."""
        job = _Finished()
        work(argument, deadline, job.said.append)
        return job


INLINE = Inline()
