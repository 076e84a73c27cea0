"""Lower bounds of paths: how early results can reach an operator, and how soon they can be done after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.base.work import require_time
from scheduler.exact.form.slots import dearest_taken

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.form.class_form import ClassForm


@dataclass(frozen=True, eq=False)
class ResponseBounds:
    """Bounds for placements on open places.

    Attributes:
        head_ms: (n_classes, n_nodes) least arrival at a member on that node, its own execution excluded.
        tail_ms: (n_classes, n_nodes) least time after it.
        response_ms: R of no placement is below this; infinite if open places do not suffice.
    """

    head_ms: FloatArray
    tail_ms: FloatArray
    response_ms: float


def response_bounds(form: ClassForm, room: IntArray, deadline: Deadline = NO_DEADLINE) -> ResponseBounds:
    """Return the bounds, counting that all members of a class need a slot somewhere.

    A result waits for all members of the class before: at least for the one that is farthest when they take
    the nearest slots.

    Args:
        form: The problem.
        room: (n_classes, n_nodes) slots open to each class.
        deadline: When to stop.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    head = np.zeros((form.n_classes, form.n_nodes))
    tail = np.zeros((form.n_classes, form.n_nodes))
    for c in form.order:
        require_time(deadline)
        for edge in form.edges:
            if edge.critical and edge.target == c:
                head[c] = np.maximum(
                    head[c], reach(form, head, room, edge.source, int(form.size[edge.source]))
                )
    for c in reversed(form.order):
        require_time(deadline)
        for edge in form.edges:
            if edge.critical and edge.source == c:
                tail[c] = np.maximum(
                    tail[c], rest(form, tail, room, edge.target, int(form.size[edge.target]))
                )
    through = head + form.execution_ms + tail
    least = [float(dearest_taken(through[c], room[c], int(form.size[c]))) for c in range(form.n_classes)]
    return ResponseBounds(head, tail, max(least))


def reach(form: ClassForm, head: FloatArray, room: IntArray, source: int, members: int) -> FloatArray:
    """Return (n_nodes,) the least arrival at each node from so many members of a class before it."""
    leave = head[source] + form.execution_ms[source]
    return dearest_taken(leave[None, :] + form.delay_ms.T, room[source], members)


def rest(form: ClassForm, tail: FloatArray, room: IntArray, target: int, members: int) -> FloatArray:
    """Return (n_nodes,) the least time that is left at each node if so many members come after it."""
    ahead = form.execution_ms[target] + tail[target]
    return dearest_taken(form.delay_ms + ahead[None, :], room[target], members)
