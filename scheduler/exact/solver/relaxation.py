"""What a linear relaxation says of a problem: a bound, and what each place costs at least."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.solver.linear_program import LinearAnswer, LinearProgram
from scheduler.exact.solver.program import SCALE, Program, placement_program

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.form.class_form import ClassForm

WORTH_ANOTHER = 0.9
"""Places are dropped again as long as no more than this share is left."""


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The relaxation of what is left of a part.

    Attributes:
        places: (n_classes, n_nodes) open places.
        answer: Its optimum.
        program: The program, and the linear one that is made of it.
        linear: See `program`.
    """

    places: BoolArray
    answer: LinearAnswer
    program: Program
    linear: LinearProgram

    @property
    def bound(self) -> float:
        """F of no placement on these places is below."""
        return self.answer.bound / SCALE


def relaxed(
    form: ClassForm,
    places: BoolArray,
    limit: float,
    deadline: Deadline,
    *,
    in_use: Sequence[int] = (),
    once: bool = False,
    say: Callable[[float], None] = lambda _bound: None,
) -> Relaxation | None:
    """Return the relaxation on the places that may hold something below a limit; None if nothing can.

    With `once`, the relaxation is the one by which places were closed: it is not solved again on those left.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    while True:
        program = placement_program(form, places, SCALE, deadline, in_use=in_use)
        linear = LinearProgram(program.model)
        answer = solved(linear, deadline)
        now = Relaxation(places, answer, program, linear)
        if now.bound >= limit:
            return None
        say(now.bound)
        closer = places & (marginals(form, program, linear, answer) < limit)
        if not closer.any(axis=1).all():
            return None
        if once:
            return replace(now, places=closer)
        if closer.sum() > WORTH_ANOTHER * places.sum():
            return now
        places = closer


def solved(linear: LinearProgram, deadline: Deadline) -> LinearAnswer:
    """Return the optimum of a linear program.

    Raises:
        OutOfTimeError: The deadline came first.
    """
    answer = linear.solve(deadline)
    if answer is None:
        raise OutOfTimeError
    return answer


def marginals(form: ClassForm, program: Program, linear: LinearProgram, answer: LinearAnswer) -> FloatArray:
    """Return (n_classes, n_nodes) what F is at least with a member of each class on each node.

    That of a class of one member: the bound, the reduced costs of its place and of using the node, and the
    least of its links' on each edge, as one of them has to be used.

    Args:
        form: The problem.
        program: Its program.
        linear: The relaxation of that.
        answer: An optimum of the relaxation.
    """
    costs = np.maximum(answer.costs, 0.0) * (1.0 - linear.low)  # what has to be 1 is paid already
    least = np.full((form.n_classes, form.n_nodes), answer.bound)
    for c, place in enumerate(program.places):
        if form.size[c] == 1:
            least[c, place.nodes] += costs[place.level[:, 0]]
        if program.used is not None:
            least[c, place.nodes] += costs[program.used[place.nodes]]
    for e, links in program.links.items():
        edge = form.edges[e]
        if form.size[edge.source] == 1 and form.size[edge.target] == 1:
            of_link = costs[links[:, 0, :]]
            least[edge.source, program.places[edge.source].nodes] += of_link.min(axis=1, initial=np.inf)
            least[edge.target, program.places[edge.target].nodes] += of_link.min(axis=0, initial=np.inf)
    return least / SCALE
