"""Numbers of executors that make a difference, where a fixed number of tasks is dealt to them."""

from __future__ import annotations


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
