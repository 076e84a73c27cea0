"""Numbers of executors that make a difference, where a fixed number of tasks is dealt to them."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def effective(tasks: int | None, executors: int) -> float:
    """Return how many executors with an even share of the tasks do as much: T / ceil(T / k).

    Storm deals T tasks to k executors in ranges; the largest holds ceil(T / k), and under an even load per
    task that one is the bottleneck. Twelve tasks on seven to eleven executors do no more than on six.

    Args:
        tasks: T, fixed for the topology's life (>= 1); None: there are as many as one likes.
        executors: k (>= 0), at most `tasks`.
    """
    if tasks is None or not executors:
        return float(executors)
    return tasks / -(-tasks // executors)


def useful(tasks: int | None, wanted: int) -> int:
    """Return the least number of executors that do as much as `wanted` would with even shares.

    Args:
        tasks: As in `effective`.
        wanted: At least 1; more executors than tasks there cannot be.
    """
    if tasks is None:
        return wanted
    return -(-tasks // (tasks // min(wanted, tasks)))


def least_equal(tasks: int | None, executors: int) -> int:
    """Return the least number of executors that do as much as some others do.

    Args:
        tasks: As in `effective`.
        executors: Of these others (>= 1), at most `tasks`.
    """
    return executors if tasks is None else -(-tasks // -(-tasks // executors))


def next_useful(tasks: int | None, executors: int) -> int:
    """Return the least number of executors that do more than some others; one more where none does.

    Args:
        tasks: As in `effective`.
        executors: Of these others (>= 0), at most `tasks`.
    """
    if tasks is None or not 0 < executors < tasks:
        return executors + 1
    return -(-tasks // (-(-tasks // executors) - 1))


@lru_cache(maxsize=1024)
def choices(tasks: int | None, least: int, most: int) -> tuple[int, ...]:
    """Return the numbers of executors between two bounds that are worth choosing, by rising number.

    They are those that `useful` returns, what does as much as the most, and the least, whatever that does.

    Args:
        tasks: As in `effective`.
        least: Least number (>= 1).
        most: Largest number (>= `least`, at most `tasks`).
    """
    top = least_equal(tasks, most)
    counts = range(least + 1, top + 1)
    return (least, *(each for each in counts if useful(tasks, each) == each or each == top))


def stepped(choice: Sequence[int], executors: int, action: int) -> int:
    """Return the choice one step away from some executors, or these where there is none.

    Args:
        choice: From `choices`.
        executors: How many there are; they do as much as the largest choice that is not above them.
        action: 1: the next that do more; -1: the next that do less; 0: as many.
    """
    place = bisect_right(choice, executors) - 1 + action
    return choice[place] if action and 0 <= place < len(choice) else executors
