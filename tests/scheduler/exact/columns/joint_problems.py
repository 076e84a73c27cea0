"""Small joint problems, and all their placements by enumeration of a form's terms."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.columns.prices import Prices
from scheduler.exact.form.class_form import class_form
from scheduler.instances.generators.replacement import replacement
from scheduler.model.application import Application, Stream
from scheduler.model.capacity import TOLERANCE
from scheduler.model.network import Network
from scheduler.model.objective import Objective
from scheduler.model.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm
    from scheduler.instances.generators.replacement import Shape

SHAPES: tuple[tuple[Shape, Shape], ...] = (("chain", "tree"), ("dag", "dag"), ("tree", "chain"))
WEIGHTS = (
    {"response_time": 0.4, "availability": 0.1, "network_usage": 0.2, "cost": 0.3},
    {"availability": 0.2, "network_usage": 0.4, "cost": 0.4},
    {"response_time": 0.6, "availability": 0.2, "cost": 0.2},
)


def joint_problem(seed: int, operators: int = 3, nodes: int = 3) -> Problem:
    """Return two topologies whose operators come in any order, on nodes paid by operator or once.

    Some operators demand none of a resource, one is pinned, and a stream that is not critical leads back.
    """
    random = np.random.default_rng(seed)
    made = replacement(SHAPES[seed % 3], operators, nodes, random)
    listed = [
        replace(each, demand={**each.demand, "memory": float(random.choice([0.0, 1.0, 1.5]))})
        for each in made.application.operators
    ]
    back = Stream(listed[operators - 1].name, listed[0].name, 2.0, 3.0, critical=False)
    listed[1] = replace(listed[1], allowed=("n1", "n2"))
    listed = [listed[i] for i in random.permutation(len(listed))]
    places = tuple(
        replace(each, capacity={"cpu": each.capacity["cpu"] + 1.0, "memory": float(random.integers(3, 7))})
        for each in made.network.nodes
    )
    objective = Objective(WEIGHTS[seed // 3 % 3], cost_model=("per-operator", "per-node")[seed % 2])
    application = Application(tuple(listed), (*made.application.streams, back))
    # the way back takes another time
    delay_ms = made.network.delay_ms * random.uniform(0.5, 1.5, made.network.delay_ms.shape)
    return Problem(application, Network(places, delay_ms), objective)


def joint_form(seed: int, operators: int = 3, nodes: int = 3) -> ClassForm:
    """Return the form of `joint_problem`, each class of one operator."""
    form = class_form(joint_problem(seed, operators, nodes))
    assert (form.size == 1).all()
    return form


def negated(form: ClassForm) -> ClassForm:
    """Return a form in which what was cheap is dear, but for response time and nodes in use."""
    edges = tuple(replace(each, cost=None if each.cost is None else -each.cost) for each in form.edges)
    return replace(form, constant=-form.constant, unary=-form.unary, edges=edges)


def some_places(form: ClassForm, random: np.random.Generator) -> BoolArray:
    """Return (n_classes, n_nodes) most of the places, at least one of each class."""
    places = (form.slots > 0) & (random.random(form.slots.shape) < 0.8)
    return np.where(places.any(axis=1)[:, None], places, form.slots > 0)


def some_prices(form: ClassForm, random: np.random.Generator, size: float) -> Prices:
    """Return prices that follow from nothing, about half of them zero."""

    def some(shape: tuple[int, ...]) -> FloatArray:
        drawn: FloatArray = size * random.exponential(1.0, shape) * (random.random(shape) < 0.5)
        return drawn

    stream = dict(enumerate(some((len(form.edges),)).tolist()))
    stream.pop(0, None)
    return Prices(some(form.capacity.shape), some(form.slots.shape), stream, some((form.n_classes,)))


def every_placement(places: BoolArray) -> IntArray:
    """Return (k, n_classes) all placements on open places (n_classes, n_nodes)."""
    return np.array(list(product(*(np.flatnonzero(row) for row in places))))


def loads(demand: FloatArray, at: IntArray, n_nodes: int) -> tuple[FloatArray, BoolArray]:
    """Return (k, n_nodes, n_resources) loads of placements, and (k, n_nodes) nodes in use."""
    there = at[:, None, :] == np.arange(n_nodes)[:, None]
    return there.astype(np.float64) @ demand, there.any(axis=2)


def keeps(form: ClassForm, load: FloatArray) -> BoolArray:
    """Return (k,) whether loads keep the capacities."""
    kept: BoolArray = (load <= form.capacity + TOLERANCE).all(axis=(1, 2))
    return kept


def added(form: ClassForm, members: Sequence[int], at: IntArray) -> FloatArray:
    """Return (k,) what the classes of a graph add to F, nodes in use aside, by placements (k, n_members)."""
    column = {c: at[:, i] for i, c in enumerate(members)}
    total = sum((form.unary[c, column[c]] for c in members), np.zeros(len(at)))
    for edge in form.edges:
        if edge.source in column and edge.cost is not None:
            total = total + edge.cost[column[edge.source], column[edge.target]]

    def finish(c: int) -> FloatArray:
        arrival = np.zeros(len(at))
        for edge in form.edges:
            if edge.critical and edge.target == c:
                hop = form.delay_ms[column[edge.source], column[c]]
                arrival = np.maximum(arrival, finish(edge.source) + hop)
        ended: FloatArray = arrival + form.execution_ms[c, column[c]]
        return ended

    longest = np.max([finish(c) for c in members], axis=0)
    added_up: FloatArray = total + form.response_factor / form.graphs.count * longest
    return added_up


def objectives(form: ClassForm, at: IntArray) -> FloatArray:
    """Return (k,) F of placements (k, n_classes); infinite where the capacities are not kept."""
    load, used = loads(form.demand, at, form.n_nodes)
    total = np.full(len(at), form.constant)
    for k in range(form.graphs.count):
        members = np.flatnonzero(form.graphs.member == k).tolist()
        total += added(form, members, at[:, members])
    if form.set_up is not None:
        total += used @ form.set_up
    return np.where(keeps(form, load), total, np.inf)
