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
LOOK_S = 0.02
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
class _Cut:
    """A child that cuts.

    Attributes:
        job: The child.
        uncut: F of nothing that it has not cut yet is below.
    """

    job: Job[PartsNews]
    uncut: float


@dataclass
class _Parts:
    """The state of the search.

    Attributes:
        cutting: Children that cut.
        waiting: Parts to be solved, or cut further.
        solving: Parts that are being solved.
        least: F of nothing that has been solved, by the children that cut too, or given up, is below.
        limit: F of what the first child that cuts knows.
        failed: Whether a child that cuts has failed.
    """

    form: ClassForm
    open_places: BoolArray
    incumbent: Incumbent
    context: Context
    deadline: Deadline
    cutting: list[_Cut] = field(default_factory=list)
    waiting: list[Part] = field(default_factory=list)
    solving: list[tuple[Part, Asked]] = field(default_factory=list)
    least: float = math.inf
    limit: float = math.inf
    failed: bool = False

    def search(self, meanwhile: Callable[[Deadline], None]) -> float | None:
        self._cut_all()
        meanwhile(self.deadline.or_when(self._nothing_left))
        if (not self._read() or self.waiting) and self._worth_anew():
            bound = self._bound()  # what is dropped here is to be cut again
            self._stop()
            self.waiting.clear()
            self._cut_all(bound)
        while True:
            self._read()
            self._start()
            self._say()
            if not self.cutting and not self.solving:
                break
            for each in self.cutting:
                awaited(each.job, self.deadline, LOOK_S)
            for part, asked in list(self.solving):
                if asked.wait(LOOK_S):
                    self.solving.remove((part, asked))
                    self.least = min(self.least, max(part.bound, asked.offer(self.form, self.incumbent)))
        return None if self.failed else self._bound()

    def _cut_all(self, bound: float = -math.inf) -> None:
        """Begin to cut everything with what is known now."""
        self.limit = self.incumbent.objective
        self._cut(PartsOrder(self.form, self.open_places, self.limit), bound)

    def _cut(self, order: PartsOrder, bound: float) -> None:
        job = self.context.children.start(cut, order, self.deadline.share(SOLVER_SHARE))
        self.cutting.append(_Cut(job, bound))

    def _stop(self) -> None:
        """End the children that cut."""
        for each in self.cutting:
            each.job.stop()
        self.cutting.clear()

    def _worth_anew(self) -> bool:
        """Return whether more is known than the child that cuts can know, by a good part of the gap."""
        return self.limit - self.incumbent.objective > WORTH_ANEW * (self.limit - self._bound())

    def _read(self) -> bool:
        """Take news of the cutting; return whether it is over."""
        for each in list(self.cutting):
            over = awaited(each.job, self.deadline, 0.0)
            for news in each.job.messages():
                if news.found is not None:
                    self.incumbent.offer(self.form.placement_at(news.found), SOURCE)
                    self.limit = min(self.limit, news.limit)
                    self.least = min(self.least, news.limit)  # also if the core does not take it
                else:
                    each.uncut = news.bound
                if news.part is not None:
                    self.waiting.append(news.part)
            if over:
                self.cutting.remove(each)
                self.least = min(self.least, each.uncut)
                self.failed |= each.job.failure is not None and not self.deadline.expired()
                each.job.stop()
        return not self.cutting

    def _nothing_left(self) -> bool:
        """Keep one child at work on what is to be cut; return whether there is nothing to do for others."""
        if self._read() and any(part.to_cut for part in self.waiting):
            self._start(1)
        return not self.cutting and not self.waiting

    def _start(self, most: int = AT_ONCE) -> None:
        """Begin with the most promising parts, as long as fewer children than so many are at work."""
        # what is to be cut comes first, as a solver is slower the less is known
        self.waiting.sort(key=lambda part: (not part.to_cut, part.bound))
        while self.waiting and not self.deadline.expired():
            if len(self.cutting) + len(self.solving) >= most:
                return
            part = self.waiting.pop(0)
            below = self.incumbent.objective
            if part.bound >= below:
                continue
            if part.to_cut:
                self.limit = self.limit if self.cutting else below
                order = PartsOrder(self.form, part.places, below, part.in_use, part.spent)
                self._cut(order, part.bound)
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
        uncut = [each.uncut for each in self.cutting]
        return min([*uncut, self.least, *(part.bound for part in open_parts)])

    def _say(self) -> None:
        if self._bound() > -math.inf:
            slack = SOLVER_TOLERANCE * max(1.0, abs(self.incumbent.objective))
            self.incumbent.raise_bound(min(self._bound(), self.incumbent.objective) - slack, SOURCE)
