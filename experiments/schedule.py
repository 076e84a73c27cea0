"""Steps at their moments while a command runs: a list that never waits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from experiments.lab_steps import StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Timed(Protocol):
    """Something to do."""

    @property
    def at_s(self) -> float:
        """When, in seconds from the start of the schedule."""
        ...


_Step = TypeVar("_Step", bound=Timed)


class Schedule(Generic[_Step]):
    """Steps, each carried out once when its time has come; nothing is due before it has begun.

    Args:
        steps: What is to be done.
        carry_out: Does a step.
        clock: Monotonic seconds.
        wall_s: Unix time.
    """

    def __init__(
        self,
        steps: Iterable[_Step],
        carry_out: Callable[[_Step], None],
        clock: Callable[[], float] = time.monotonic,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._waiting = sorted(steps, key=lambda step: step.at_s, reverse=True)
        self._carry_out = carry_out
        self._clock = clock
        self._wall_s = wall_s
        self._begun: tuple[float, float] | None = None

    def begin(self) -> None:
        """Count the time from now on; a schedule that runs goes on as it began."""
        if self._begun is None:
            self._begun = self._clock(), self._wall_s()

    def due_s(self) -> float | None:
        """Return the seconds until the next step is due, 0 if one is, None if none will ever be."""
        if self._begun is None or not self._waiting:
            return None
        return max(self._begun[0] + self._waiting[-1].at_s - self._clock(), 0.0)

    def act(self) -> None:
        """Carry out the steps whose time has come, oldest first."""
        while self.due_s() == 0.0:
            self._carry_out(self._waiting.pop())

    def start_s(self, command: str) -> float:
        """Return when it began, Unix time, once a command has ended.

        Args:
            command: What ended, as people call it.

        Raises:
            StepError: It never began, or not all of it was done.
        """
        if self._begun is None:
            raise StepError(f"`{command}` ended without anything measured")
        if self._waiting:
            raise StepError(f"`{command}` ended with {len(self._waiting)} changes to come")
        return self._begun[1]
