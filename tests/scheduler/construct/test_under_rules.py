"""First-fit with backtracking under rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.first_fit import NodeOrder, place_in_order
from scheduler.model.constraints.bandwidth import UplinkBandwidth
from scheduler.model.constraints.budget import Budget
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream

if TYPE_CHECKING:
    from scheduler.model.constraints.constraint import Constraint


def chained(count: int, slots: tuple[int, ...], *constraints: Constraint) -> Problem:
    """o0 -> o1 -> ... on nodes n0, n1, ..., each a site of its own name."""
    operators = tuple(Operator(f"o{i}", 1.0) for i in range(count))
    streams = tuple(Stream(f"o{i}", f"o{i + 1}", 1.0, 100.0) for i in range(count - 1))
    nodes = tuple(Node(f"n{u}", {"slots": has}, site=f"n{u}") for u, has in enumerate(slots))
    network = Network(nodes, 1.0 - np.eye(len(nodes)))
    return Problem(Application(operators, streams), network, constraints=constraints)


def test_an_earlier_operator_gives_way() -> None:
    """o0 on n0 takes one of the two units that o2 needs on n1: o0 goes to n1, and o2 to n0, for nothing."""
    spent = {"o0": {"n0": 1.0}, "o1": {"n0": 2.0}, "o2": {"n1": 2.0}}
    problem = chained(3, (1, 3), Budget("moves", 2.0, spent))
    found = place_in_order(problem, NodeOrder(np.arange(2)), range(3))

    assert found.placement is not None
    assert found.placement.tolist() == [1, 1, 0]
    assert found.reason == "first-fit placed every operator, after other tries"


def test_what_fits_at_once_is_not_tried_again() -> None:
    """The first nodes with room."""
    problem = chained(3, (1, 3), Budget("moves", 2.0, {"o0": {"n0": 1.0}}))
    found = place_in_order(problem, NodeOrder(np.arange(2)), range(3))

    assert found.placement is not None
    assert found.placement.tolist() == [0, 1, 1]
    assert found.reason == "first-fit placed every operator"


def test_operators_dealt_out_in_turn_begin_behind_the_one_before() -> None:
    """As without rules; a block stays where its first operator is."""
    problem = chained(4, (2, 2, 2), CoLocation(("o0", "o3")))
    found = place_in_order(problem, NodeOrder(np.arange(3), onward=True), range(4))

    assert found.placement is not None
    assert found.placement.tolist() == [0, 1, 2, 0]


def test_a_search_that_has_tried_everything_proves_that_nothing_exists() -> None:
    """Three operators on two nodes of two slots: some stream has to cross, and the uplink carries none."""
    problem = chained(3, (2, 2), UplinkBandwidth("n0", 50.0))
    found = place_in_order(problem, NodeOrder(np.arange(2)), range(3))

    assert (found.placement, found.proved) == (None, True)
    assert found.reason == "no placement meets all constraints (uplink_bandwidth): all were tried"


def test_a_search_that_gives_up_says_that_nothing_is_proved() -> None:
    """Sixty operators have to cross some border, and there is no end of ways to try."""
    uplinks = tuple(UplinkBandwidth(f"n{u}", 50.0) for u in range(30))
    problem = chained(60, (2,) * 30, *uplinks)
    found = place_in_order(problem, NodeOrder(np.arange(30)), range(60))

    assert (found.placement, found.proved) == (None, False)
    assert found.reason.endswith(
        "under the constraints (uplink_bandwidth), though it is not proved that none exists"
    )


def test_an_operator_that_found_no_node_comes_first_in_the_next_search() -> None:
    """Forty operators fill the nodes that the last one could use; placed first, it finds its own."""
    free = 40
    problem = chained(free + 1, (1,) * (free + 1))
    last = {f"o{free}": {f"n{u}": 1.0 for u in range(1, free + 1)}}
    problem = replace(problem, constraints=(Budget("moves", 0.5, last),))
    found = place_in_order(problem, NodeOrder(np.arange(free + 1)), range(free + 1))

    assert found.placement is not None
    assert found.placement[free] == 0
