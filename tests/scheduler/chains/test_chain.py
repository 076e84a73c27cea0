"""Chains: bounds with memory, and the search that keeps every path that may matter."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.base.work import Work
from scheduler.chains.chain import Chain, Completion, Memory, raise_multipliers
from scheduler.chains.chain_search import cheapest_of_equals, search_chain

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray


def chain(seed: int, length: int = 6, nodes: int = 5) -> Chain:
    random = np.random.default_rng(seed)
    shares = np.ones(length, dtype=np.bool_)
    open_places = np.ones((length, nodes), dtype=np.bool_)
    if seed % 2:  # a pinned start that has a slot of its own
        shares[0], open_places[0] = False, np.arange(nodes) == 1
    pairs = random.uniform(0, 1, (length - 1, nodes, nodes))
    pairs[:, np.arange(nodes), np.arange(nodes)] = 0.0
    slots = random.integers(1, 3, nodes)
    return Chain(0.5, random.uniform(0, 0.3, (length, nodes)), pairs, open_places, shares, slots)


@cache
def paths_and_costs(seed: int) -> tuple[IntArray, FloatArray]:
    """All paths of a chain that take no more slots than there are, one per row, and what each costs."""
    given = chain(seed)
    length, nodes = given.unary.shape
    paths = np.indices((nodes,) * length).reshape(length, -1).T
    steps = np.arange(length)
    load = (paths[:, given.shares, None] == np.arange(nodes)).sum(axis=1)
    paths = paths[given.open[steps, paths].all(axis=1) & (load <= given.slots).all(axis=1)]
    pairs = given.pairs[steps[:-1], paths[:, :-1], paths[:, 1:]].sum(axis=1)
    return paths, given.constant + given.unary[steps, paths].sum(axis=1) + pairs


def work() -> Work:
    return Work(Deadline.none(), np.inf)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_search_finds_the_cheapest_path_and_bounds_stay_below(seed: int, size: int) -> None:
    """At any multipliers and with any memory, for the whole and for every operator on every node."""
    given = chain(seed)
    paths, costs = paths_and_costs(seed)
    best = float(costs.min())
    memory = Memory(given, size)
    completion = raise_multipliers(
        given, memory, np.zeros(len(given.slots)), best + 0.1, iterations=20, work=work()
    )
    marginals = completion.marginals()
    answer = search_chain(completion, best + 0.1, 10**9, work())

    assert completion.bound <= best + 1e-12
    assert (marginals[np.arange(paths.shape[1]), paths] <= costs[:, None] + 1e-9).all()
    assert answer.complete
    assert answer.nodes is not None
    assert costs[(paths == answer.nodes).all(axis=1)] == pytest.approx([best])


def test_more_memory_gives_a_bound_that_is_no_lower() -> None:
    """At the same multipliers."""
    given = chain(2)
    bounds = [Completion(given, Memory(given, size), np.zeros(5)).bound for size in (1, 2, 3)]

    assert bounds[0] <= bounds[-1] + 1e-12


def test_a_narrow_search_does_not_claim_to_be_complete() -> None:
    """What was dropped might have been better."""
    given = chain(4)
    completion = Completion(given, Memory(given, 1), np.zeros(5))

    assert not search_chain(completion, np.inf, 2, work()).complete


@pytest.mark.parametrize("seed", range(5))
def test_the_cheapest_of_equal_rows_stay_and_no_others(seed: int) -> None:
    """Rows with zeros everywhere, as counts have them."""
    random = np.random.default_rng(seed)
    rows = random.integers(0, 3, (400, 5)).astype(np.int16)
    price = random.uniform(size=400)
    best: dict[tuple[int, ...], float] = {}
    for row, each in zip(map(tuple, rows.tolist()), price.tolist(), strict=True):
        best[row] = min(each, best.get(row, np.inf))
    kept = cheapest_of_equals(rows, price)

    assert {tuple(row): each for row, each in zip(rows[kept].tolist(), price[kept], strict=True)} == best
    assert len(kept) == len(best)
