"""Search in parts: a child cuts the problem by linear relaxations while another solves what has been cut."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.base.work import OutOfTimeError
from scheduler.exact.solver.ask import SOLVER_SHARE, SOLVER_TOLERANCE, SOURCE, Asked, awaited
from scheduler.exact.solver.parts import Part, PartsNews, PartsOrder, cut
from scheduler.exact.solver.program import SCALE, placement_program

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray
    from scheduler.base.deadline import Deadline
    from scheduler.contract.children import Job
    from scheduler.contract.incumbent import Incumbent
    from scheduler.contract.strategy import Context
    from scheduler.exact.form.class_form import ClassForm

AT_ONCE = 2
"""Children at work at once; more than cores would only share them."""
WORTH_ANEW = 0.1
"""Cutting begins anew if the gap that it began with has become smaller by this share since."""
LOOK_S = 0.1
"""Longest wait for one of the children while another may have ended."""


def is_cut(form: ClassForm) -> bool:
    """Return whether parts are smaller than the whole by far: nodes are charged, or graphs share them."""
    if form.set_up is not None:
        return bool((form.set_up >= 0).all())
    return form.graphs.count > 1


def search_by_parts(
    form: ClassForm,
    open_places: BoolArray,
    incumbent: Incumbent,
    context: Context,
    deadline: Deadline,
    *,
    meanwhile: Callable[[Deadline], None],
) -> float | None:
    """Offer what is found in the parts; return what F is at least on the open places.

    Args:
        form: The problem, of which `is_cut` says that this makes sense.
        open_places: (n_classes, n_nodes) places that a better placement may use.
        incumbent: Known placement, and offered what is found.
        context: Children to cut and to solve.
        deadline: When to stop.
        meanwhile: Called once, while a child cuts, with a deadline that comes when nothing is left to do.

    Returns:
        A lower bound of F on the open places; None if cutting failed.
    """
    return _Parts(form, open_places, incumbent, context, deadline).search(meanwhile)


@dataclass
class _Parts:
    """The state of the search.

    Attributes:
        uncut: F of nothing that is not cut yet is below.
        waiting: Parts to be solved.
        solving: Parts that are being solved.
        least: F of nothing that has been solved, by the child that cuts too, or given up, is below.
        limit: F of what the child that cuts knows.
    """

    form: ClassForm
    open_places: BoolArray
    incumbent: Incumbent
    context: Context
    deadline: Deadline
    uncut: float = -math.inf
    waiting: list[Part] = field(default_factory=list)
    solving: list[tuple[Part, Asked]] = field(default_factory=list)
    least: float = math.inf
    limit: float = math.inf

    def search(self, meanwhile: Callable[[Deadline], None]) -> float | None:
        cutting = first = self._cut()
        meanwhile(self.deadline.or_when(lambda: self._read(first) and not self.waiting))
        if not self._read(cutting) and self._worth_anew():
            cutting.stop()
            self.uncut = self._bound()  # what is dropped here is to be cut again
            self.waiting.clear()
            cutting = self._cut()
        while True:
            cut_up = self._read(cutting)
            self._start(AT_ONCE - (not cut_up))
            self._say()
            if cut_up and not self.solving:
                break
            if not cut_up:
                awaited(cutting, self.deadline, LOOK_S)
            for part, asked in list(self.solving):
                if asked.wait(LOOK_S):
                    self.solving.remove((part, asked))
                    self.least = min(self.least, max(part.bound, asked.offer(self.form, self.incumbent)))
        failed = cutting.failure is not None and not self.deadline.expired()
        cutting.stop()
        return None if failed else self._bound()

    def _cut(self) -> Job[PartsNews]:
        """Begin to cut with what is known now."""
        self.limit = self.incumbent.objective
        order = PartsOrder(self.form, self.open_places, self.limit)
        return self.context.children.start(cut, order, self.deadline.share(SOLVER_SHARE))

    def _worth_anew(self) -> bool:
        """Return whether more is known than the child that cuts can know, by a good part of the gap."""
        return self.limit - self.incumbent.objective > WORTH_ANEW * (self.limit - self.uncut)

    def _read(self, cutting: Job[PartsNews]) -> bool:
        """Take news of the cutting; return whether it is over."""
        over = awaited(cutting, self.deadline, 0.0)
        for news in cutting.messages():
            if news.found is not None:
                self.incumbent.offer(self.form.placement_at(news.found), SOURCE)
                self.limit = min(self.limit, news.limit)
                self.least = min(self.least, news.limit)  # also if the core does not take it
            else:
                self.uncut = news.bound
            if news.part is not None:
                self.waiting.append(news.part)
        return over

    def _start(self, most: int) -> None:
        """Begin to solve the most promising parts, as long as fewer than so many are being solved."""
        self.waiting.sort(key=lambda part: part.bound)
        while self.waiting and len(self.solving) < most and not self.deadline.expired():
            part = self.waiting.pop(0)
            below = self.incumbent.objective
            if part.bound >= below:
                continue
            try:
                program = placement_program(
                    self.form, part.places, SCALE, self.deadline, in_use=part.in_use, most=below
                )
            except OutOfTimeError:
                self.waiting.append(part)
                return
            self.solving.append((part, Asked(program, self.context, self.deadline, known=True)))

    def _bound(self) -> float:
        open_parts = [*self.waiting, *(part for part, _ in self.solving)]
        return min([self.uncut, self.least, *(part.bound for part in open_parts)])

    def _say(self) -> None:
        if self._bound() > -math.inf:
            slack = SOLVER_TOLERANCE * max(1.0, abs(self.incumbent.objective))
            self.incumbent.raise_bound(min(self._bound(), self.incumbent.objective) - slack, SOURCE)
