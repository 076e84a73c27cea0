"""Several topologies on shared nodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.critical_path import longest_paths
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.plan import plan

QUICK = (Operator("a", 1.0, graph="quick"), Operator("b", 2.0, graph="quick"))
SLOW = (Operator("c", 30.0, graph="slow"), Operator("d", 40.0, graph="slow"))
STREAMS = (Stream("a", "b", 10.0, 100.0), Stream("c", "d", 10.0, 100.0))


def two(cost_model: str = "per-operator", **weights: float) -> Problem:
    """Two chains of two operators on two nodes 5 ms apart, with room for all on each of them."""
    nodes = tuple(Node(name, {"slots": 4.0}, cost=cost) for name, cost in (("x", 3.0), ("y", 2.0)))
    delay = np.array([[0.0, 5.0], [5.0, 0.0]])
    objective = Objective(weights or {"response_time": 1.0}, cost_model=cost_model)
    return Problem(Application((*QUICK, *SLOW), STREAMS), Network(nodes, delay), objective)


def test_the_response_time_is_the_mean_of_the_longest_paths() -> None:
    """So that no topology hides behind the slowest one."""
    problem = two()
    apart = np.array([0, 1, 1, 1])
    assert longest_paths(problem, apart) == {"quick": 8.0, "slow": 70.0}
    assert evaluate(problem, apart).response_time_ms == pytest.approx(39.0)
    together = plan(problem, "odp")
    assert together.status == "optimal"
    assert together.evaluation is not None
    assert together.evaluation.response_time_ms == pytest.approx(36.5)


def test_a_node_that_several_share_is_paid_once() -> None:
    """Jointly all go to one node; the cheaper one, as both cost the same for every operator."""
    result = plan(two("per-node", cost=1.0), "odr")
    assert result.placement is not None
    assert result.placement.tolist() == [1, 1, 1, 1]
    assert result.evaluation is not None
    assert result.evaluation.values["cost"] == 2.0


def test_no_stream_joins_two_graphs() -> None:
    """Its delay would belong to neither of them."""
    across = (*STREAMS, Stream("b", "c"))
    with pytest.raises(ModelError, match=r"streams\[2\]: joins graph .quick. with graph .slow."):
        Application((*QUICK, *SLOW), across)


def test_documents_name_graphs_only_where_there_are_some() -> None:
    """And come back as they were."""
    problem = two()
    document = to_document(problem)
    assert [each["graph"] for each in document["application"]["operators"]] == ["quick"] * 2 + ["slow"] * 2
    back = parse_instance(document)
    assert back.application.graphs.names == ("quick", "slow")
    single = tuple(replace(each, graph=QUICK[0].graph) for each in (*QUICK, *SLOW))
    assert Application(single, STREAMS).graphs.count == 1
