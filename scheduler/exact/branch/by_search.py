"""Proofs by search: places whose bound is too high are dropped, then all that is left is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.work import OutOfTimeError, Work
from scheduler.evaluation.evaluate import OBJECTIVE_STEP
from scheduler.exact.branch.layered_search import LayeredSearch
from scheduler.exact.branch.multipliers import raise_multipliers
from scheduler.exact.branch.partial_paths import PartialPaths
from scheduler.exact.branch.relaxed_form import RelaxedForm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray
    from scheduler.contract.incumbent import Incumbent
    from scheduler.exact.form.class_form import ClassForm

FIRST = ((4, 1000),)
THEN = ((20, 1 << 62),)
"""Stages, first for a good placement, then for the proof: iterations over multipliers, and partial placements
kept."""
SOURCE = "search"


def search(
    form: ClassForm,
    incumbent: Incumbent,
    work: Work,
    stages: Sequence[tuple[int, int]],
    open_places: BoolArray | None = None,
) -> BoolArray:
    """Search all placements, raise the incumbent's bound, and return what is still open.

    Args:
        form: The problem.
        incumbent: Has a placement; offered every better one.
        work: When to stop.
        stages: What to do one after the other, until nothing is left open.
        open_places: (n_classes, n_nodes) what an earlier stage left open; everything if not given.

    Returns:
        (n_classes, n_nodes) places that a better placement may use; none if there is no better one.
    """
    order = placing_order(form, form.slots > 0)
    if open_places is None:
        open_places = form.slots > 0
    for iterations, width in stages:
        if work.over():
            break
        nodes = np.flatnonzero(open_places.any(axis=0))
        try:
            part = form.restricted(nodes, work.deadline)
            relaxed, marginals = _root(
                part, open_places[:, nodes], order, incumbent, iterations=iterations, work=work
            )
            closer = marginals < incumbent.objective - OBJECTIVE_STEP
            open_places = np.zeros_like(open_places)
            open_places[:, nodes] = closer
            if not closer.any(axis=1).all():
                return _nothing_better(incumbent, open_places)
            # members of a class are placed on nodes in ascending order: if the promising ones come first,
            # those that begin with another one are soon cut
            promising = np.argsort(marginals[order[max(len(order) - 2, 0)]], kind="stable")
            promising = promising[closer[:, promising].any(axis=0)]
            relaxed = relaxed.restricted(promising, closer[:, promising], work.deadline)
            paths = None
            if form.response_factor > 0:
                paths = PartialPaths(relaxed.form, relaxed.room, work.deadline)
        except OutOfTimeError:
            break
        layered = LayeredSearch(relaxed, paths, order, nodes[promising])
        lowest = layered.run(incumbent, OBJECTIVE_STEP, work, width)
        incumbent.raise_bound(lowest, SOURCE)
        if lowest >= incumbent.objective - OBJECTIVE_STEP:
            return _nothing_better(incumbent, open_places)
    return open_places


def placing_order(form: ClassForm, open_places: BoolArray) -> list[int]:
    """Return the order of placing: pinned classes, then neighbours of placed ones, a largest one last.

    The last one is placed at once, so it should have the most members.
    """
    pinned = open_places.sum(axis=1) <= 1
    order = [int(c) for c in np.flatnonzero(pinned)]
    free = [int(c) for c in np.flatnonzero(~pinned)]
    if not free:
        return order
    last = max(free, key=lambda c: (int(form.size[c]), c))
    free.remove(last)
    joined = {c: {edge.target for edge in form.edges if edge.source == c} for c in range(form.n_classes)}
    for edge in form.edges:
        joined[edge.target].add(edge.source)
    while free:
        placed = set(order)
        following = max(free, key=lambda c: (len(joined[c] & placed), -int(form.size[c]), len(joined[c]), -c))
        order.append(following)
        free.remove(following)
    return [*order, last]


def _nothing_better(incumbent: Incumbent, open_places: BoolArray) -> BoolArray:
    incumbent.raise_bound(incumbent.objective - OBJECTIVE_STEP, SOURCE)
    return np.zeros_like(open_places)


def _root(
    form: ClassForm,
    open_places: BoolArray,
    order: Sequence[int],
    incumbent: Incumbent,
    *,
    iterations: int,
    work: Work,
) -> tuple[RelaxedForm, FloatArray]:
    """Return relaxed sums swept to the head of the order, and (n_classes, n_nodes) F at least per place."""
    relaxed = RelaxedForm(form, open_places, work.deadline)
    response: FloatArray = np.zeros(form.unary.shape)
    least = 0.0
    if form.response_factor > 0:
        paths = PartialPaths(relaxed.form, relaxed.room, work.deadline)
        least = form.response_factor * paths.response_ms
        response = form.response_factor * paths.through_ms
    raise_multipliers(relaxed, order, incumbent.objective - least, iterations, work)
    marginals = np.full(form.unary.shape, -np.inf)
    relaxed.sweep(order, work, marginals)
    relaxed.sweep(list(reversed(order)), work, marginals)
    incumbent.raise_bound(min(relaxed.bound() + least, incumbent.objective) - OBJECTIVE_STEP, SOURCE)
    return relaxed, marginals + response
