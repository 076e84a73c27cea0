from __future__ import annotations

import numpy as np
import pytest

from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.strategies.odp_ps import OdpPsParameters

ALWAYS = OdpPsParameters(proof_size=1000)
"""The exact solver whatever the size."""


def line(operators: int, pins: dict[int, int], slots: float = 1.0) -> Problem:
    """A chain of operators on eight nodes along a line, in pairs: at 0, 1, 10, 11, 30, 31, 40 and 41 ms."""
    at = np.array([0.0, 1, 10, 11, 30, 31, 40, 41])
    nodes = tuple(Node(f"n{u}", {"slots": slots}) for u in range(8))
    chain = tuple(
        Operator(f"o{i}", allowed=(f"n{pins[i]}",) if i in pins else None) for i in range(operators)
    )
    streams = tuple(Stream(f"o{i}", f"o{i + 1}") for i in range(operators - 1))
    return Problem(Application(chain, streams), Network(nodes, np.abs(at[:, None] - at)))


@pytest.mark.parametrize(
    ("operators", "pins", "reason", "response_ms"),
    [
        (2, {0: 0}, "among 2 of 8 nodes: proved", 1.0),
        (3, {0: 0}, "among 4 of 8 nodes: proved", 10.0),
        (2, {0: 4, 1: 5}, "among 4 of 8 nodes: proved", 1.0),
        (5, {0: 0}, "proved", 30.0),
        (2, {0: 0, 1: 7}, "proved", 41.0),
    ],
)
def test_the_smallest_set_with_a_placement_that_strictly_contains_the_pins_is_solved(
    operators: int, pins: dict[int, int], reason: str, response_ms: float
) -> None:
    """Pairs, then pairs of pairs, then all: as many nodes as hold the operators, and more than the pins."""
    result = plan(line(operators, pins), "odp-ps", ALWAYS)

    assert result.reason.startswith(reason)
    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == response_ms


def test_without_pins_the_ends_of_the_greedy_placement_count_as_pinned() -> None:
    """They are not fixed: within the set around them the best placement is found."""
    result = plan(line(2, {}), "odp-ps")

    assert result.reason.startswith("among 4 of 8 nodes")
    assert result.evaluation is not None
    assert result.evaluation.response_time_ms == 1.0


def test_without_a_deadline_large_sets_are_searched() -> None:
    """Nothing else would end a proof that takes hours."""
    result = plan(line(3, {0: 0}), "odp-ps", OdpPsParameters(proof_size=3 * 4 - 1))

    assert result.reason.startswith("among 4 of 8 nodes")
    assert "ended the search" in result.reason


def test_parameters_are_checked() -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match="proof_size: expected a whole number >= 0, got -1"):
        OdpPsParameters(proof_size=-1)


def test_only_all_nodes_prove_anything() -> None:
    """An optimum of a set has neither proof nor bound, one of the whole network has both."""
    part = plan(line(3, {0: 0}), "odp-ps", ALWAYS)
    whole = plan(line(5, {0: 0}), "odp-ps", ALWAYS)

    assert (part.status, part.bound) == ("feasible", None)
    assert whole.evaluation is not None
    assert whole.status == "optimal"
    assert whole.bound == pytest.approx(whole.evaluation.objective)
