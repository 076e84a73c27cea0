"""Places closed by prices: what cannot be part of anything better than a known placement."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.flows.graph_parts import graph_parts, small
from scheduler.exact.flows.priced import Point, Priced

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.flow_form import FlowForm

STEPS = (0, 30, 60)
"""Steps of the ascents after which places are closed. The first look, at no prices, closes most of them, so
that the tables of the ascents are small."""
OVER = 0.03
"""How far F may be above the bound, relative, where no placement is known: what the first steps reach for."""
SAFE = 1e-9
"""What a bound may be too high by rounding, relative."""


@dataclass(frozen=True, eq=False)
class Closed:
    """A form after places have been closed.

    Attributes:
        form: With the places that are left; some block may have none: then nothing is better than what is
            known.
        bound: F of no placement of the whole form is below, and none that is known.
        best: (n_blocks,) the best placement that is known now; None if there is none.
        point: The prices at last; None where tables would be too large, and no place was closed.
    """

    form: FlowForm
    bound: float
    best: IntArray | None
    point: Point | None

    @property
    def empty(self) -> bool:
        """Whether nothing is left that could be better."""
        return not self.form.allowed.any(axis=1).all()


def close(form: FlowForm, best: IntArray | None, deadline: Deadline) -> Closed:
    """Close places of a form.

    Args:
        form: The form.
        best: (n_blocks,) the best placement that is known, if any.
        deadline: When to stop.
    """
    worth = math.inf if best is None else form.value(best)
    bound, point = -math.inf, None
    for steps in STEPS:
        if not form.allowed.any(axis=1).all() or deadline.expired():
            break
        if not small(form, graph_parts(form)):
            break
        priced = Priced(form)
        target = worth
        if not math.isfinite(target):
            first = priced.point_without_prices().bound
            target = first + OVER * max(1.0, abs(first))
        point = priced.ascended(target, deadline, steps)
        if priced.met is not None and priced.worth < worth:
            best, worth = priced.met, priced.worth
        slack = SAFE * max(1.0, abs(worth)) if math.isfinite(worth) else 0.0
        bound = max(bound, min(point.bound - slack, worth))
        if math.isinf(point.bound):
            form = form.closed(np.zeros_like(form.allowed))
        elif math.isfinite(worth):
            form = form.closed(priced.least_on_nodes(point) < worth - slack)
    return Closed(form, bound, best, point)
