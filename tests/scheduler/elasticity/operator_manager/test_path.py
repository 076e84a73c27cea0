"""Which numbers of executors carry the most along a path."""

from __future__ import annotations

import math
from itertools import product

import pytest

from scheduler.elasticity.operator_manager.path import Path, PathPart, ladder_of
from scheduler.elasticity.operator_manager.queue_model import response_ms
from tests.scheduler.elasticity.operator_manager.paths import CHAIN, one

SMALL = Path((PathPart("a", 1.0, 100.0, 4), PathPart("b", 0.5, 30.0, 4)), 120.0)


def test_times_along_a_path_add_up() -> None:
    assert SMALL.response_ms((2, 1), 40.0) == pytest.approx(
        response_ms(40.0, 2, 100.0) + response_ms(20.0, 1, 30.0)
    )
    assert SMALL.response_ms((1, 1), 60.0) == math.inf
    assert SMALL.capacity((1, 4)) == 100.0


@pytest.mark.parametrize("rate", [1.0, 30.0, 55.0, 90.0, 140.0, 180.0])
def test_the_fewest_executors_are_the_fewest_of_all_numbers(rate: float) -> None:
    enough = [sum(each) for each in product(range(1, 5), repeat=2) if SMALL.response_ms(each, rate) <= 120.0]
    found = SMALL.least(rate)
    assert (None if found is None else sum(found)) == (min(enough) if enough else None)


def test_each_rung_carries_the_most_of_all_numbers_with_its_total() -> None:
    ladder = ladder_of(SMALL)
    for executors, kept in zip(ladder.executors, ladder.kept, strict=True):
        others = [each for each in product(range(1, 5), repeat=2) if sum(each) == sum(executors)]
        assert kept == pytest.approx(max(SMALL.kept(each) for each in others))
        assert SMALL.response_ms(executors, kept) == pytest.approx(120.0)


@pytest.mark.parametrize("rate", [90.0, 120.0])
def test_a_large_step_makes_small_ones_needless(rate: float) -> None:
    """Twelve of 23 tasks' executors do what eleven do not: fewer of the other part are enough beside them."""
    parts = (PathPart("a", 1.8, 211.0, 18, tasks=23), PathPart("b", 1.4, 134.0, 10))
    path = Path(parts, 2.2 * (1000 / 211.0 + 1000 / 134.0))
    enough = [
        each
        for each in product(*(part.choices for part in parts))
        if path.response_ms(each, rate) <= path.bound_ms
    ]
    assert sum(path.least(rate) or ()) == min(map(sum, enough))
    ladder = ladder_of(path)
    assert list(ladder.kept) == sorted(ladder.kept), "what carries no more is no rung"
    best = {sum(each): 0.0 for each in enough}
    for each in product(*(part.choices for part in parts)):
        best[sum(each)] = max(best.get(sum(each), 0.0), path.kept(each))
    for executors, kept in zip(ladder.executors, ladder.kept, strict=True):
        assert kept == pytest.approx(best[sum(executors)])


def test_a_shared_bound_needs_fewer_executors_than_bounds_of_their_own() -> None:
    """At 660 and 1,100 items per second: 4, 3, 6, 3 and 6, 4, 10, 4 with bounds by service times."""
    assert sum(CHAIN.least(660.0) or ()) == 14
    assert sum(CHAIN.least(1100.0) or ()) == 23
    assert CHAIN.least(1700.0) is None


def test_least_executors_are_kept() -> None:
    assert one(executors_min=3).least(1.0) == (3,)
    assert ladder_of(one(executors_min=3)).executors == ((3,), (4,), (5,), (6,))


@pytest.mark.parametrize(
    ("parts", "bound_ms", "message"),
    [
        ((), 100.0, "path.parts: expected a component, got none"),
        ((one().parts[0],) * 2, 100.0, r'path.parts\[1\].component: "c0" is there twice'),
        (one().parts, 10.0, "path.bound_ms: expected a number > 10, got 10.0"),
    ],
)
def test_paths_that_are_refused(parts: tuple[PathPart, ...], bound_ms: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Path(parts, bound_ms)


def test_parts_that_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^executors_max: expected a whole number >= 3, got 2$"):
        PathPart("a", 1.0, 100.0, 2, 3)
    with pytest.raises(ValueError, match=r"^per_item: expected a number > 0, got 0\.0$"):
        PathPart("a", 0.0, 100.0, 2)
