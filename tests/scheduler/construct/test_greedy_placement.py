from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import Deadline
from scheduler.construct import greedy_placement as module
from scheduler.construct.greedy_placement import pinned_nodes
from scheduler.construct.penalty import LinkPenalty
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.plan import plan

if TYPE_CHECKING:
    import pytest


def line(*pinned: str | None, weights: dict[str, float] | None = None) -> Problem:
    """Nodes at 0, 10, 13, 30 and 31 ms on a line, one slot each; a chain of as many operators as given."""
    spots = np.array([0.0, 10.0, 13.0, 30.0, 31.0])
    nodes = tuple(Node(f"n{k}", {"slots": 1}) for k in range(5))
    operators = tuple(Operator(f"o{k}", 1.0, allowed=(pin,) if pin else None) for k, pin in enumerate(pinned))
    streams = tuple(Stream(f"o{k}", f"o{k + 1}") for k in range(len(pinned) - 1))
    network = Network(nodes, np.abs(spots[:, None] - spots[None, :]))
    return Problem(Application(operators, streams), network, Objective(weights or {"response_time": 1.0}))


def placement(problem: Problem, strategy: str) -> list[int]:
    found = plan(problem, strategy).placement
    assert found is not None
    return found.tolist()


def test_nodes_are_taken_by_their_penalty_to_all_pinned_nodes() -> None:
    """With ends on n0 and n3 (30 ms apart) nodes between them cost 30 in sum, n4 costs 32."""
    problem = line("n0", None, None, None, "n3")

    assert pinned_nodes(problem).tolist() == [0, 3]
    assert placement(problem, "greedy") == [0, 1, 2, 4, 3]


def test_without_penalty_nodes_are_taken_as_listed() -> None:
    """The reference knows no delays: the operator after n4 goes to n0."""
    assert placement(line("n4", None), "greedy-no-penalty") == [4, 0]
    assert placement(line("n4", None), "greedy") == [4, 3]


def test_even_deals_operators_out_in_turn() -> None:
    """After the last node taken comes the next one that has room, whatever its delay."""
    assert placement(line("n2", None, None), "even") == [2, 3, 4]
    assert placement(line(None, None, None), "even") == [0, 1, 2]


def test_without_pins_the_best_neighbourhood_is_found() -> None:
    """Two operators go to the two nodes that are 1 ms apart, wherever they are listed."""
    assert sorted(placement(line(None, None), "greedy")) == [3, 4]


def test_a_deadline_ends_the_search_for_the_best_neighbourhood() -> None:
    """One neighbourhood is always tried, here the first node's, 10 ms wide."""
    result = plan(line(None, None), "greedy", deadline=Deadline(clock=lambda: 1.0, at=0.0))

    assert result.placement is not None
    assert result.placement.tolist() == [0, 1]


def test_equal_penalties_keep_the_order_of_the_nodes() -> None:
    """The list is stable, so equal problems give equal plans."""
    nodes = tuple(Node(f"n{k}", {"slots": 1}) for k in range(4))
    network = Network(nodes, np.array([[0, 1, 1, 1], [9, 0, 9, 9], [1, 1, 0, 1], [9, 9, 9, 0]], dtype=float))
    problem = Problem(Application((Operator("a"),)), network, Objective({"network_usage": 1.0}))

    assert LinkPenalty.of(problem).order(np.array([1, 3])).tolist() == [0, 2, 1, 3]


def test_on_a_large_problem_the_densest_surroundings_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of sixty nodes some are looked at and one is tried: it lies among the twenty that are close."""
    monkeypatch.setattr("scheduler.construct.greedy_placement.WORK", 0)
    monkeypatch.setattr("scheduler.construct.greedy_placement.LEAST_TRIES", 1)
    spots = np.concatenate([np.arange(20) * 50.0, 2000 + np.arange(20) * 1.0, 3000 + np.arange(20) * 50.0])
    nodes = tuple(Node(f"n{k}", {"slots": 1}) for k in range(60))
    operators = tuple(Operator(f"o{k}") for k in range(10))
    streams = tuple(Stream(f"o{k}", f"o{k + 1}") for k in range(9))
    network = Network(nodes, np.abs(spots[:, None] - spots[None, :]))
    found = plan(Problem(Application(operators, streams), network), "greedy").placement

    assert found is not None
    assert set(found.tolist()) <= set(range(20, 40))


def test_a_proof_that_fails_is_not_tried_again_for_every_node(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three operators of about 4 on two nodes of 7: sums permit it, no packing does; either node may be P."""
    asked: list[Problem] = []
    monkeypatch.setattr("scheduler.model.constraints.built_in.prove_infeasible", asked.append)
    operators = tuple(Operator(name, demand={"mem": 4.0 + k / 10}) for k, name in enumerate("abc"))
    network = Network(tuple(Node(name, {"mem": 7.0}) for name in "xy"), np.zeros((2, 2)))
    result = plan(Problem(Application(operators), network), "greedy")

    assert result.status == "infeasible"
    assert "not proved" in result.reason
    assert len(asked) == 1


def test_few_nodes_are_tried_where_first_fit_gets_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    """5 + 3 + 3 + 3 do not fit into 7 + 7, which no count or sum shows: tries as far as the work goes."""
    operators = tuple(Operator(f"o{k}", demand={"memory": size}) for k, size in enumerate((5, 3, 3, 3)))
    nodes = tuple(Node(name, {"memory": 7}) for name in "xy")
    problem = Problem(Application(operators), Network(nodes, 1.0 - np.eye(2)))
    tried: list[object] = []
    genuine = module.place_in_order
    monkeypatch.setattr(module, "place_in_order", lambda *each: tried.append(each) or genuine(*each))
    for work, tries in ((1, 1), (8, 1), (16, 2)):
        monkeypatch.setattr(module, "REPAIR_WORK", work)
        tried.clear()

        assert "not proved" in plan(problem, "greedy").reason
        assert len(tried) == tries
