"""A program cut into small parts by linear relaxations: places dropped, nodes in use decided.

Where nodes are paid once, or several graphs share nodes, a placement uses few of the nodes, and which these
are decides most of its worth. A relaxation says quickly what a set of nodes, or a place, costs at least; what
costs more than a known placement is left out. Columns solve what is left where they are few enough, and a
solver gets the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError
from scheduler.exact.columns.by_columns import PartOfColumns, has_columns, solve_by_columns
from scheduler.exact.solver.program import SCALE
from scheduler.exact.solver.relaxation import Relaxation, marginals, relaxed, solved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.form.class_form import ClassForm
    from scheduler.exact.solver.linear_program import LinearAnswer

MOST_RELAXATIONS = 300
"""Relaxations after which sets of nodes that are not decided yet become parts as they are."""
MOST_COLUMNS = 2_000
"""Partial columns of a graph at a time while parts can be halved on."""
MOST_LOADS_AT_LAST = 2_000_000
"""Loads of partial columns, one per node and resource, where the nodes in use are decided: on few nodes many
columns are listed sooner than classes are halved, on many there would not be the memory."""
APART_EVERY, KEPT = 6, 2
"""Relaxations after which the largest of what is left to be cut is given to others, and how much is kept."""
WHOLE = 1e-6
"""Values this close to a whole number count as one."""


@dataclass(frozen=True, eq=False)
class PartsOrder:
    """What is to be cut.

    Attributes:
        form: The problem; no charge of a node in use is negative.
        open_places: (n_classes, n_nodes) places that a better placement may use.
        limit: F of a known placement: what is not below is of no use.
        in_use: Nodes that are all in use.
        spent: Relaxations that it took to come here.
    """

    form: ClassForm
    open_places: BoolArray
    limit: float
    in_use: tuple[int, ...] = ()
    spent: int = 0


@dataclass(frozen=True, eq=False)
class Part:
    """Placements that may be better than the known one.

    Attributes:
        bound: F of none of them is below.
        places: (n_classes, n_nodes) what they use.
        in_use: Nodes that are all in use.
        to_cut: Whether it is to be cut further; else a solver gets it.
        spent: As of `PartsOrder`.
    """

    bound: float
    places: BoolArray
    in_use: tuple[int, ...] = ()
    to_cut: bool = False
    spent: int = 0


@dataclass(frozen=True, eq=False)
class PartsNews:
    """How far the cutting has come.

    Attributes:
        bound: F of nothing that is still to be cut is below; infinite at the end.
        part: What has been cut off since the last news, if it may hold something below the limit.
        found: (n_classes,) nodes of a placement below the limit, which is F of that from now on.
        limit: F of that; infinite if nothing has been found.
    """

    bound: float
    part: Part | None = None
    found: IntArray | None = None
    limit: float = math.inf


def cut(order: PartsOrder, deadline: Deadline, say: Callable[[PartsNews], None]) -> None:
    """Send a lower bound as soon as one is known, each part, and the end, unless the deadline comes first."""
    try:
        whole = relaxed(
            order.form,
            order.open_places,
            order.limit,
            deadline,
            in_use=order.in_use,
            say=lambda now: say(PartsNews(now)),
        )
        if whole is not None:
            _Cutting(order, whole, deadline, say).cut()
        say(PartsNews(math.inf))
    except OutOfTimeError:
        return


@dataclass(eq=False)
class _Scope:
    """A linear program in which parts are looked at.

    Attributes:
        whole: The relaxation that it was made for.
        opened: (n_classes, n_nodes) places that are open in it now.
        last: Whether it was made for the nodes in use.
    """

    whole: Relaxation
    opened: BoolArray
    last: bool

    def state(self, form: ClassForm, one: _Open) -> None:
        """State what is decided and open."""
        linear, used = self.whole.linear, self.whole.program.used
        if used is not None:
            for u, is_used in one.decided.items():
                linear.limit(int(used[u]), float(is_used), float(is_used))
            for u in set(np.flatnonzero(self.whole.places.any(axis=0)).tolist()) - set(one.decided):
                linear.limit(int(used[u]), 0.0, 1.0)
        # places of classes with several members close with their nodes
        for c in np.flatnonzero(form.size == 1).tolist():
            place = self.whole.program.places[c]
            is_open = one.places[c, place.nodes]
            for k in np.flatnonzero(is_open != self.opened[c, place.nodes]).tolist():
                linear.limit(int(place.level[k, 0]), 0.0, float(is_open[k]))
        self.opened = one.places


@dataclass(frozen=True, eq=False)
class _Open:
    """What is left to be cut.

    Attributes:
        bound: F of nothing there is below.
        places: (n_classes, n_nodes) open places.
        decided: Nodes of which it is decided whether they are in use.
        scope: Where to look at it.
    """

    bound: float
    places: BoolArray
    decided: Mapping[int, bool]
    scope: _Scope

    @property
    def in_use(self) -> tuple[int, ...]:
        """Nodes that are in use."""
        return tuple(u for u, used in self.decided.items() if used)


class _Cutting:
    """Depth-first over which nodes are in use: next is the one on which the relaxation is least decided.

    Where these are decided and columns are still too many, the next is the class that is least decided.
    """

    def __init__(
        self,
        order: PartsOrder,
        whole: Relaxation,
        deadline: Deadline,
        say: Callable[[PartsNews], None],
    ) -> None:
        self._form, self._limit, self._deadline, self._say = order.form, order.limit, deadline, say
        self._by_columns = has_columns(order.form)
        self._spent = order.spent
        charged = whole.program.used is not None
        self._nodes: list[int] = np.flatnonzero(whole.places.any(axis=0)).tolist() if charged else []
        decided = dict.fromkeys(order.in_use, True)
        scope = _Scope(whole, whole.places, last=len(decided) == len(self._nodes))
        self._pending = [_Open(whole.bound, whole.places, decided, scope)]

    def cut(self) -> None:
        """Send what may hold something better, part by part, and what is found on the way.

        Raises:
            OutOfTimeError: The deadline came first.
        """
        while self._pending:
            one = self._pending.pop()
            if one.bound >= self._limit:
                continue
            if len(one.decided) == len(self._nodes) and not one.scope.last:
                narrowed = self._narrowed(one)
                if narrowed is None:
                    continue
                one = narrowed
            part = None
            if self._spent < MOST_RELAXATIONS and (self._by_columns or not one.scope.last):
                self._spent += 1
                self._halve(one)
                part = self._apart()
            else:
                part = Part(one.bound, one.places, one.in_use)
            self._say(PartsNews(min((other.bound for other in self._pending), default=math.inf), part))

    def _apart(self) -> Part | None:
        """Return the largest of what is left, now and then, if enough is kept."""
        if not self._by_columns or self._spent % APART_EVERY or len(self._pending) <= KEPT:
            return None
        one = self._pending.pop(0)
        return Part(one.bound, one.places, one.in_use, to_cut=True, spent=self._spent)

    def _narrowed(self, one: _Open) -> _Open | None:
        """Return a part in a program of its own, if anything is left of it."""
        own = relaxed(self._form, one.places, self._limit, self._deadline, in_use=one.in_use)
        if own is None:
            return None
        return _Open(max(one.bound, own.bound), own.places, one.decided, _Scope(own, own.places, last=True))

    def _halve(self, one: _Open) -> None:
        """Solve the relaxation; unless that is enough, decide what follows from it and one thing more."""
        form, program, linear = self._form, one.scope.whole.program, one.scope.whole.linear
        one.scope.state(form, one)
        answer = solved(linear, self._deadline)
        bound = max(answer.bound / SCALE, one.bound)
        if bound >= self._limit:
            return
        places = one.places & (marginals(form, program, linear, answer) < self._limit)
        if not places.any(axis=1).all():
            return
        if self._by_columns:
            prices = program.priced.prices(form, answer.prices / SCALE)
            most = _most_at_last(form, places) if one.scope.last else MOST_COLUMNS
            part = PartOfColumns(places, one.in_use)
            known = solve_by_columns(form, part, prices, self._limit, most=most, deadline=self._deadline)
            if known.at is not None:
                self._limit = known.objective
                self._say(PartsNews(-math.inf, found=known.at, limit=known.objective))
            if known.solved:
                return
            places, bound = known.places, max(bound, known.bound)
        rest = replace(one, bound=bound, places=places)
        if one.scope.last or program.used is None:
            self._halve_class(rest, answer)
        else:
            self._halve_nodes(rest, answer, program.used)

    def _halve_nodes(self, one: _Open, answer: LinearAnswer, used: IntArray) -> None:
        """Decide what follows from the relaxation, and whether one node more is in use."""
        use = answer.values[used]
        saved = np.maximum(-answer.costs[used], 0.0) * one.scope.whole.linear.high[used]
        without = (answer.bound + saved) / SCALE
        decided = {
            **{u: True for u in self._nodes if without[u] >= self._limit},
            **{u: False for u in self._nodes if not one.places[:, u].any()},
            **one.decided,
        }
        undecided = {u: float(use[u]) for u in self._nodes if u not in decided}
        if not undecided:
            self._pending.append(replace(one, decided=decided))
            return
        u = _least_decided(undecided)
        others = one.places.copy()
        others[:, u] = False
        self._pending.append(replace(one, places=others, decided={**decided, u: False}))
        self._pending.append(replace(one, decided={**decided, u: True}))

    def _halve_class(self, one: _Open, answer: LinearAnswer) -> None:
        """Decide whether a class is where the relaxation has most of it."""
        shares = np.where(one.places, one.scope.whole.program.counts(answer.values, self._form.n_nodes), -1.0)
        open_to = one.places.sum(axis=1)
        # of whole ones, which nothing tells apart, one with many places
        c = int(np.lexsort((-open_to, np.where(open_to > 1, shares.max(axis=1), np.inf)))[0])
        u = int(shares[c].argmax())
        there, others = one.places.copy(), one.places.copy()
        there[c], others[c, u] = False, False
        there[c, u] = True
        self._pending.append(replace(one, places=others))
        self._pending.append(replace(one, places=there))


def _most_at_last(form: ClassForm, places: BoolArray) -> int:
    """Return how many partial columns of a graph may be looked at on open places (n_classes, n_nodes)."""
    loads = int(places.any(axis=0).sum()) * int(form.capacity.shape[1])
    return max(1, MOST_LOADS_AT_LAST // max(1, loads))


def _least_decided(use: Mapping[int, float]) -> int:
    """Return the node whose use, 0 to 1, is farthest from whole; of whole ones one that is in use."""

    def order(u: int) -> tuple[float, float]:
        fraction = min(use[u], 1.0 - use[u])
        return (fraction if fraction > WHOLE else 0.0, use[u])

    return max(use, key=order)
