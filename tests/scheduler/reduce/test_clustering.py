from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.reduce.clustering import between, clusters, nested_sets


def distances(seed: int, size: int, kinds: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Distances between points of a plane; few kinds make many points equal."""
    random = np.random.default_rng(seed)
    points = random.uniform(0, 1, (kinds, 2))[random.integers(kinds, size=size)]
    distance: np.ndarray[tuple[int, int], np.dtype[np.float64]] = np.linalg.norm(
        points[:, None] - points[None, :], axis=2
    )
    return distance


def test_the_distance_of_a_pair_is_the_mean_of_both_directions() -> None:
    """The penalty of a node to itself is no distance."""
    assert between(np.array([[0.5, 0.2], [0.4, 0.1]])) == pytest.approx(np.array([[0.0, 0.3], [0.3, 0.0]]))


@given(seed=st.integers(0, 1000), size=st.integers(1, 20), kinds=st.sampled_from([1, 2, 50]), data=st.data())
def test_there_are_as_many_groups_as_asked_for_and_none_is_empty(
    seed: int, size: int, kinds: int, data: st.DataObject
) -> None:
    """Even where all entities are alike."""
    count = data.draw(st.integers(1, size))
    group = clusters(distances(seed, size, kinds), count, np.random.default_rng(seed))

    assert group.shape == (size,)
    assert set(group.tolist()) == set(range(count))


@pytest.mark.parametrize("seed", range(5))
def test_groups_that_lie_far_apart_are_found(seed: int) -> None:
    """Four sites of five nodes, a hundred times nearer to each other than to those elsewhere."""
    site = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), 5))
    distance = np.where(site[:, None] == site, 0.01, 1.0) * (1.0 - np.eye(20))
    group = clusters(distance, 4, np.random.default_rng(seed))

    assert ((group[:, None] == group) == (site[:, None] == site)).all()


@given(seed=st.integers(0, 1000), size=st.integers(2, 20), kinds=st.sampled_from([1, 3, 50]))
def test_joined_sets_contain_each_other_or_nothing_of_each_other(seed: int, size: int, kinds: int) -> None:
    """There is one join less than entities, the last set holds all of them, and they grow."""
    sets = [frozenset(each.tolist()) for each in nested_sets(distances(seed, size, kinds))]

    assert len(sets) == size - 1
    assert sets[-1] == set(range(size))
    assert all(len(a) <= len(b) for a, b in pairwise(sets))
    assert all(a < b or not a & b for a, b in combinations(sets, 2))


def test_nearest_entities_are_joined_first_and_then_the_nearest_pairs() -> None:
    """Worked out by hand: four on a line at 0, 1, 10 and 12, and one far off."""
    at = np.array([0.0, 10.0, 1.0, 12.0, 100.0])
    sets = nested_sets(np.abs(at[:, None] - at))

    assert [each.tolist() for each in sets] == [[0, 2], [1, 3], [0, 1, 2, 3], [0, 1, 2, 3, 4]]


def test_a_single_entity_has_nothing_to_join() -> None:
    """Neither sets nor more than one group."""
    assert nested_sets(np.zeros((1, 1))) == ()
    assert clusters(np.zeros((1, 1)), 1, np.random.default_rng(0)).tolist() == [0]
