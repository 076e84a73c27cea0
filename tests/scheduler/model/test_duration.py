"""How long operators may take per tuple."""

from __future__ import annotations

import json

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import check
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
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


def queued(limit_ms: float, rate: float = 50.0) -> Problem:
    """A source and a sink of 10 ms each at so many tuples per second; nodes of speed-up 1, 2 and 4."""
    operators = tuple(Operator(name, 10.0, duration_max_ms=limit_ms) for name in "ab")
    nodes = tuple(Node(f"n{speedup:g}", {"slots": 2}, speedup=speedup) for speedup in (1.0, 2.0, 4.0))
    application = Application(operators, (Stream("a", "b", rate, 1.0),))
    objective = Objective(duration_model="queue")
    return Problem(application, Network(nodes, np.zeros((3, 3))), objective)


@pytest.mark.parametrize(
    ("limit_ms", "allowed"),
    [
        (15.1, [True, True, True]),  # half busy: 10 ms and 5 of waiting
        (14.9, [False, True, True]),
        (5.84, [False, True, True]),  # a quarter busy: 5 ms and 5/6
        (5.8, [False, False, True]),
        (0.0, [True, True, True]),
    ],
)
def test_a_queue_makes_nodes_too_slow(limit_ms: float, allowed: list[bool]) -> None:
    """M/D/1; the source takes in what it sends, and no limit is no limit."""
    assert queued(limit_ms).allowed.tolist() == [allowed, allowed]


def test_who_cannot_keep_up_is_named() -> None:
    """150 tuples per second of 10 ms: more than a node of speed-up 1 can do, at any limit."""
    problem = queued(1e6, rate=150.0)
    assert problem.allowed.tolist() == [[False, True, True]] * 2
    broken = [each.message for each in check(problem, np.array([0, 1]))]
    assert broken == ["operator a cannot keep up with its tuples on node n1"]
    assert plan(queued(1e6, rate=500.0)).reason == "operator a cannot keep up with its tuples on node n4"
    assert plan(queued(1.0)).reason.startswith("operator a would take 2.6")


def test_a_document_says_what_limits_look_at() -> None:
    problem = queued(15.1)
    document = json.loads(json.dumps(to_document(problem)))
    assert document["objective"]["duration_model"] == "queue"
    assert (parse_instance(document).allowed == problem.allowed).all()
    document["objective"]["duration_model"] = "guess"
    with pytest.raises(ModelError, match="duration_model"):
        parse_instance(document)
