"""For how long nodes load."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.model.current import GONE, UNPLACED
from scheduler.model.problem import Application, Network, Node, Operator, Problem
from scheduler.moving.prices import loading_s


@pytest.mark.parametrize(
    ("current", "placement", "seconds"),
    [
        ([0, 0], [0, 0], {}),
        ([0, 0], [0, 1], {"y": 3 + 12}),
        ([0, 0], [1, 1], {"y": 3 + 20 + 12}),  # one after the other, on one link
        ([0, 1], [1, 0], {"x": 4, "y": 20}),  # x holds the image of b; both have what all share
        ([UNPLACED, GONE], [0, 0], {"x": 7 + 10 + 4}),
        (None, [1, 1], {"y": 3 + 20 + 12}),
    ],
)
def test_times_of_all_that_comes_to_a_node_add_up(
    current: list[int] | None, placement: list[int], seconds: dict[str, float]
) -> None:
    """Images of 100 and 20 MB with 40 MB of state; x loads 10 MB/s, y 5; what all share takes 7 and 3 s."""
    operators = (Operator("a", image_mb=100.0), Operator("b", image_mb=20.0, state_mb=40.0))
    nodes = (
        Node("x", {}, pull_mb_per_s=10.0, shared_pull_s=7.0, holds=("b",)),
        Node("y", {}, pull_mb_per_s=5.0, shared_pull_s=3.0),
    )
    problem = Problem(
        Application(operators),
        Network(nodes, np.zeros((2, 2))),
        current=None if current is None else np.array(current),
        gone={"b": "z"},
    )
    assert loading_s(problem, np.array(placement)) == pytest.approx(seconds)
