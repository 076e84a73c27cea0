"""Does several jobs, each when it is due, whatever the pace of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Job = Callable[[float], float]
"""Does something at a time (s) and returns after how long it is due again (s)."""


class Timetable:
    """Deadlines of several jobs; all times in s of one clock that does not go back.

    A job that is late is done once and not made up for.

    Args:
        now_s: Time at which every job is due for the first time.
        jobs: What is to be done, in the order in which it is done when several are due.
    """

    def __init__(self, now_s: float, jobs: Sequence[Job]) -> None:
        self._jobs = tuple(jobs)
        self._due_s = [now_s] * len(self._jobs)

    def turn(self, now_s: float) -> float:
        """Do what is due and return when something is due next, s."""
        for number, job in enumerate(self._jobs):
            if now_s >= self._due_s[number]:
                self._due_s[number] = now_s + job(now_s)
        return min(self._due_s)
