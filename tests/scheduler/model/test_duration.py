"""How long operators may take per tuple."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check
from scheduler.model.problem import Application, Network, Node, Operator, Problem
from scheduler.plan import plan


def problem(**limit: float) -> Problem:
    """One operator that took 300 ms on a node of speed-up 1.5; nodes of 1, 2 and 4."""
    operator = Operator("a", 10.0, **{"actual_ms": 300.0, "actual_speedup": 1.5} | limit)  # type: ignore[arg-type]  # numbers
    nodes = tuple(Node(f"n{speedup:g}", {"slots": 1}, speedup=speedup) for speedup in (1.0, 2.0, 4.0))
    return Problem(Application((operator,)), Network(nodes, np.zeros((3, 3))))


@pytest.mark.parametrize(
    ("limit", "allowed"),
    [
        ({"duration_max_ms": 450.0}, [True, True, True]),
        ({"duration_max_ms": 449.0}, [False, True, True]),
        ({"duration_max_ms": 112.5}, [False, False, True]),
        ({"duration_max_ms": 449.0, "actual_ms": 0.0}, [True, True, True]),
        ({"duration_max_ms": 449.0, "actual_speedup": 0.0}, [True, True, True]),
        ({}, [True, True, True]),
    ],
)
def test_nodes_that_are_too_slow_are_not_allowed(limit: dict[str, float], allowed: list[bool]) -> None:
    """450 ms at speed-up 1; the limit is off unless the duration was measured."""
    assert problem(**limit).allowed.tolist() == [allowed]


def test_a_node_that_is_too_slow_is_named_with_the_time() -> None:
    (violation,) = check(problem(duration_max_ms=200.0), np.array([1]))

    assert violation.message == "operator a would take 225 ms per tuple on node n2, and its limit is 200"


def test_who_is_too_slow_everywhere_is_named() -> None:
    result = plan(problem(duration_max_ms=100.0))

    assert result.reason == (
        "operator a keeps to 100 ms per tuple from a speed-up of 4.5 on, and the fastest node has 4"
    )
