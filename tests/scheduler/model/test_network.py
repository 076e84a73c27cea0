from __future__ import annotations

import math

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.model.link_table import Coordinates
from scheduler.model.network import Network, Node


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speedup": 0}, "speedup: expected a number >= 1e-09, got 0"),
        ({"speedup": 1e-320}, "speedup: expected a number >= 1e-09, got 1e-320"),
        ({"availability": 0.0}, "availability: expected a number > 0 and <= 1, got 0.0"),
        ({"availability": 1.01}, "availability: expected a number > 0 and <= 1, got 1.01"),
        ({"capacity": {"slots": -1}}, "capacity.slots: expected a number >= 0, got -1"),
        ({"site": ""}, 'site: expected a name, got ""'),
    ],
)
def test_a_node_refuses(values: dict[str, object], message: str) -> None:
    """Each bad value is named with what was expected."""
    with pytest.raises(ModelError) as caught:
        Node(**({"name": "n", "capacity": {}} | values))  # type: ignore[arg-type]  # bad values on purpose

    assert str(caught.value) == message


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("as_array", [False, True])
@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ([[0.0]], "delay_ms: expected 2 rows, one per node, got 1 rows"),
        ([[0.0, 1.0], [0.0, 1.0]], "delay_ms[1][1]: expected 0 on the diagonal, got 1"),
        ([[0.0, -1.0], [0.0, 0.0]], "delay_ms[0][1]: expected a number >= 0, got -1.0"),
        ([[0.0, 1.0], [NAN, 0.0]], "delay_ms[1][0]: expected a number >= 0, got nan"),
        ([[0.0, INF], [1.0, 0.0]], "delay_ms[0][1]: expected a number >= 0, got inf"),
    ],
)
def test_a_delay_matrix_is_refused(delay: list[list[float]], message: str, as_array: bool) -> None:
    """Size, diagonal and every value are checked, for lists and arrays alike."""
    nodes = (Node("x", {}), Node("y", {}))
    with pytest.raises(ModelError) as caught:
        Network(nodes, np.array(delay) if as_array else delay)  # type: ignore[arg-type]  # lists are taken too

    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("delay", "message"),
    [
        ([[0, "1"], [1, 0]], 'delay_ms[0][1]: expected a number >= 0, got "1"'),
        ([[0, True], [1, 0]], "delay_ms[0][1]: expected a number >= 0, got true"),
        ([[0, 10**400], [1, 0]], f"delay_ms[0][1]: expected a number >= 0, got {10**400}"),
        ([[0, 1, 2], [1, 0]], "delay_ms[0]: expected 2 values, one per node, got 3"),
        ([[0, 1], 7], "delay_ms[1]: expected 2 values, one per node, got 7"),
        ({}, "delay_ms: expected 2 rows, one per node, got an object"),
    ],
)
def test_a_delay_matrix_of_other_things_is_refused(delay: object, message: str) -> None:
    """Text that looks like a number is no number, and rows have one length."""
    with pytest.raises(ModelError) as caught:
        Network((Node("x", {}), Node("y", {})), delay)  # type: ignore[arg-type]  # bad values on purpose

    assert str(caught.value) == message


def test_link_availability_lies_above_zero_and_is_one_on_the_diagonal() -> None:
    """A node reaches itself always; a link that is never up is no link."""
    nodes, delay = (Node("x", {}), Node("y", {})), np.zeros((2, 2))
    with pytest.raises(
        ModelError, match=r"link_availability\[0\]\[1\]: expected a number > 0 and <= 1, got 0"
    ):
        Network(nodes, delay, np.array([[1.0, 0.0], [1.0, 1.0]]))
    with pytest.raises(ModelError, match=r"link_availability\[1\]\[1\]: expected 1 on the diagonal, got 0.5"):
        Network(nodes, delay, np.array([[1.0, 1.0], [1.0, 0.5]]))


def test_duplicate_nodes_and_an_empty_network_are_refused() -> None:
    """Names identify nodes."""
    with pytest.raises(ModelError, match=r'nodes\[1\].name: "x" is the name of nodes\[0\] too'):
        Network((Node("x", {}), Node("x", {})), np.zeros((2, 2)))
    with pytest.raises(ModelError, match="nodes: expected at least one node"):
        Network((), np.zeros((0, 0)))


def test_coordinates_give_distance_plus_both_heights() -> None:
    """The last coordinate is a height, paid at both ends, and a node reaches itself at once."""
    delay = Coordinates.of([[0, 0, 1], [3, 4, 2], [0, 0, 0]])

    assert delay.matrix().tolist() == [[0, 8, 1], [8, 0, 7], [1, 7, 0]]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0, 0, 1], [0, 1]], "[1]: expected [x, y, ..., height] like the others, got an array"),
        ([[1], [2]], "[0]: expected [x, y, ..., height] like the others, got an array"),
        ([[0, 10**400, 1]], f"[0][1]: expected a number >= -1e+15, got {10**400}"),
        ([[0, 0, -1]], "[0][2]: expected a number >= 0, got -1"),
        ([[0, NAN, 1]], "[0][1]: expected a number >= -1e+15, got nan"),
    ],
)
def test_coordinates_are_refused(rows: list[list[float]], message: str) -> None:
    """Rows have one length, values are finite, heights are not negative."""
    with pytest.raises(ModelError) as caught:
        Coordinates.of(rows)

    assert str(caught.value) == message
