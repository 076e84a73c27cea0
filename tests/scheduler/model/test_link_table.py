from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.base.checks import ModelError
from scheduler.model.link_table import (
    KEPT_MATRIX,
    LARGEST_MATRIX,
    Coordinates,
    MatrixTable,
    NetworkTooLargeError,
)
from scheduler.model.network import Network, Node


def scattered(seed: int, count: int, dimensions: int = 2) -> Coordinates:
    random = np.random.default_rng(seed)
    heights = random.uniform(0.0, 3.0, (count, 1))
    return Coordinates.of(np.hstack([random.normal(0.0, 20.0, (count, dimensions)), heights]))


@pytest.mark.parametrize("count", [7, KEPT_MATRIX + 9])
@given(seed=st.integers(0, 99), dimensions=st.integers(1, 4))
def test_single_delays_and_blocks_are_those_of_the_matrix(seed: int, dimensions: int, count: int) -> None:
    """However delays are asked for, they are the same floats, also where no matrix is kept."""
    delays = scattered(seed, count, dimensions)
    matrix = delays.matrix()
    random = np.random.default_rng(seed)
    start, end = random.integers(0, count, (2, 6, 3))
    rows, columns = random.permutation(count)[:5], random.permutation(count)[:4]

    assert np.array_equal(delays.between(start, end), matrix[start, end])
    assert np.array_equal(delays.block(rows, columns), matrix[np.ix_(rows, columns)])
    assert np.array_equal(delays.restricted(rows).matrix(), matrix[np.ix_(rows, rows)])


@given(seed=st.integers(0, 999), exact_pairs=st.sampled_from([0, 1000]))
def test_no_delay_leaves_the_extremes(seed: int, exact_pairs: int) -> None:
    """Looked up or from the boxes around the nodes, the bounds hold; looked up, they are reached."""
    delays, random = scattered(seed, 30), np.random.default_rng(seed)
    rows = random.permutation(30)[: random.integers(1, 12)]
    columns = random.permutation(30)[: random.integers(1, 12)]
    least, most = delays.extremes(rows, columns, exact_pairs)
    block = delays.block(rows, columns)

    assert least <= block.min() + 1e-9
    assert most >= block.max() - 1e-9
    if exact_pairs:
        assert (least, most) == (block.min(), block.max())


def test_a_matrix_gives_its_own_extremes() -> None:
    """With a matrix nothing has to be estimated, whatever the number of pairs."""
    delays = MatrixTable(np.array([[0.0, 4.0, 7.0], [1.0, 0.0, 2.0], [9.0, 5.0, 0.0]]))

    assert delays.extremes(np.array([0, 1]), np.array([2]), exact_pairs=0) == (2.0, 7.0)


def test_a_matrix_of_too_many_nodes_is_refused() -> None:
    """A network by coordinates works without it, and says so where something insists."""
    count = LARGEST_MATRIX + 1
    network = Network([Node(f"n{u}", {}) for u in range(count)], scattered(0, count))

    assert network.delays.between(np.array([0]), np.array([count - 1])).shape == (1,)
    with pytest.raises(NetworkTooLargeError, match="4097 nodes are too many for a matrix"):
        _ = network.delay_ms


def test_every_node_has_its_coordinates() -> None:
    """A network refuses more or fewer rows than nodes."""
    with pytest.raises(ModelError, match="coordinates: expected 2 rows, one per node, got 3"):
        Network((Node("x", {}), Node("y", {})), scattered(0, 3))
