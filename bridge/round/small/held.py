"""What keeps a topology that runs completely from being moved, whatever there is to gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.wishes.wishes import HELD
from formats.counted import counted

if TYPE_CHECKING:
    from bridge.freeze_windows import FreezeWindow
    from bridge.network.delays import Delays
    from bridge.problem.task import Task


def why_held(task: Task) -> str:
    """Say why what runs of a topology stays, whatever moving it would bring; empty if it may move.

    Args:
        task: The topology.
    """
    own, status = task.settings, task.topology.status
    if status in HELD:
        return HELD[status]
    if own.frozen:
        return "frozen"
    if own.unclear:
        return f"no moves for gains while {', '.join(own.unclear)} cannot be read"
    unchecked = task.pricing.unchecked
    return f"no moves for gains while {unchecked} cannot be checked" if unchecked else ""


def why_no_gain(task: Task, frozen_by: FreezeWindow | None) -> str:
    """Say why a topology moves only where it has to; empty if it moves for gains too.

    Args:
        task: The topology.
        frozen_by: The window in which nothing moves for a gain, None outside of all.
    """
    if frozen_by is not None:
        return f"no moves for gains {frozen_by} (move.freeze)"
    return (
        "only what has to move does (replan.persistence)" if task.settings.replan_persistence == "pin" else ""
    )


def why_not_searched(task: Task, delays: Delays) -> str:
    """Say why gains of a topology are not looked for; empty if they are.

    Args:
        task: The topology.
        delays: Delays between hosts.
    """
    n_executors, most = task.topology.n_executors, task.plan_settings.max_executors
    if n_executors > most:
        executors = counted(n_executors, "executor is", "executors are")
        return f"{executors} above plan.max_executors {most}"
    # In most networks hosts are much nearer than the guess: what would be gained is a guess too.
    return "delays between hosts are not known" if delays.unknown else ""
