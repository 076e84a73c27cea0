"""Numbers of executors that make a difference. Pure."""

from __future__ import annotations


def useful(tasks: int, wanted: int) -> int:
    """Return the least number of executors of which none has more tasks than `tasks / wanted`.

    Storm deals T tasks to k executors in ranges; the largest holds ceil(T / k), and under an even load per
    task that one is the bottleneck. Twelve tasks on seven to eleven executors do no more than on six.

    Args:
        tasks: T, fixed for the topology's life (>= 1).
        wanted: As many executors as are needed if tasks could be dealt evenly (>= 1); more than there are
            tasks there cannot be.
    """
    return -(-tasks // (tasks // min(wanted, tasks)))
