"""What keeps a topology that runs completely from being moved, whatever there is to gain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bridge.problem.wishes import HELD

if TYPE_CHECKING:
    from bridge.freeze_windows import FreezeWindow
    from bridge.network.delays import Delays
    from bridge.problem.task import Task


def why_no_gain(task: Task, frozen_by: FreezeWindow | None) -> str:
    """Say why a topology restarts for no gain; empty if it may.

    Args:
        task: The topology.
        frozen_by: The window in which nothing moves for a gain, None outside of all.
    """
    own, status = task.settings, task.topology.status
    if status in HELD:
        return HELD[status]
    if own.frozen:
        return "frozen"
    if own.unclear:
        return f"no moves for gains while {', '.join(own.unclear)} cannot be read"
    if task.pricing.unchecked:
        return f"no moves for gains while {task.pricing.unchecked} cannot be checked"
    return "" if frozen_by is None else f"no moves for gains {frozen_by} (move.freeze)"


def why_not_searched(task: Task, delays: Delays) -> str:
    """Say why gains of a topology are not looked for; empty if they are.

    Args:
        task: The topology.
        delays: Delays between hosts.
    """
    n_executors, most = task.topology.n_executors, task.plan_settings.max_executors
    if n_executors > most:
        return f"{n_executors} executors are above plan.max_executors {most}"
    # In most networks hosts are much nearer than the guess: what would be gained is a guess too.
    return "delays between hosts are not known" if delays.unknown else ""
