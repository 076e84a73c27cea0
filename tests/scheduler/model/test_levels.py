from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model.levels import Levels

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

OPERATORS = 9
FORWARD = st.tuples(st.integers(0, OPERATORS - 1), st.integers(0, OPERATORS - 1)).filter(
    lambda e: e[0] < e[1]
)
EDGES = st.lists(FORWARD, max_size=30)


def longest(edges: IntArray, own: FloatArray, hop: FloatArray) -> FloatArray:
    """Longest ways by relaxing edges until nothing changes."""
    reached = np.zeros(OPERATORS)
    for _ in range(OPERATORS):
        for (source, target), way in zip(edges, hop, strict=True):
            reached[target] = max(reached[target], reached[source] + own[source] + way)
    return reached


@pytest.mark.parametrize(("wide", "chunk"), [(40, 4096), (0, 4096), (0, 2)])
@given(edges=EDGES, seed=st.integers(0, 99))
def test_longest_ways_are_found_in_a_loop_and_in_steps(
    edges: list[tuple[int, int]], seed: int, wide: int, chunk: int
) -> None:
    """Narrow and wide graphs, whole levels and parts of them give what relaxing every edge gives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scheduler.model.levels.WIDE", wide)
        patch.setattr("scheduler.model.levels.CHUNK", chunk)
        random = np.random.default_rng(seed)
        pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
        own, hop = random.uniform(0, 9, OPERATORS), random.uniform(0, 9, len(pairs))
        levels = Levels.of(OPERATORS, pairs[:, 0], pairs[:, 1], np.arange(len(pairs)))
        arrival, origin = levels.forward.longest_and_origins(own, lambda streams: hop[streams])

        assert arrival == pytest.approx(longest(pairs, own, hop))
        assert levels.backward.longest(own, lambda s: hop[s]) == pytest.approx(
            longest(pairs[:, ::-1], own, hop)
        )
        both = levels.forward.longest(
            np.stack([own, 2 * own], axis=1), lambda s: hop[s][:, None] * [1.0, 2.0]
        )
        assert both == pytest.approx(np.stack([arrival, 2 * arrival], axis=1))
        for operator, before in enumerate(origin):
            ways = [
                arrival[source] + own[source] + hop[k] if source == before else -1.0
                for k, (source, target) in enumerate(pairs)
                if target == operator
            ]
            assert (before < 0) == (not ways)
            assert not ways or max(ways) == arrival[operator]


@given(EDGES)
def test_operators_of_one_depth_share_no_stream(edges: list[tuple[int, int]]) -> None:
    """So they may move at once without changing each other's paths."""
    pairs = np.array(sorted(edges), dtype=np.int64).reshape(-1, 2)
    depth = Levels.of(OPERATORS, pairs[:, 0], pairs[:, 1], np.arange(len(pairs))).depth

    assert (depth[pairs[:, 0]] < depth[pairs[:, 1]]).all()
