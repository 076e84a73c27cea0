from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import (
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)
from scheduler.reduce.hierarchy import aggregate, create_hierarchy

if TYPE_CHECKING:
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@pytest.mark.parametrize(
    ("nodes", "factor", "sizes"),
    [
        (1, 2, [1]),
        (2, 2, [2]),
        (3, 2, [2, 3]),
        (36, 2, [2, 4, 8, 16, 36]),
        (100, 2, [2, 4, 8, 16, 32, 64, 100]),
        (100, 3, [3, 9, 27, 100]),
        (100, 200, [100]),
    ],
)
def test_level_l_has_the_grouping_factor_to_the_power_of_l_plus_one_data_centres(
    make_problem: MakeProblem, nodes: int, factor: int, sizes: list[int]
) -> None:
    """The height is the rounded logarithm of the number of nodes less one (Algorithm 1, lines 16-23)."""
    hierarchy = create_hierarchy(make_problem(0, 3, nodes), factor, np.random.default_rng(0))

    assert [level.n_nodes for level in hierarchy.levels] == sizes
    for k, group in enumerate(hierarchy.group):
        assert set(group.tolist()) == set(range(sizes[k]))


def test_ancestors_are_the_groups_of_groups(make_problem: MakeProblem) -> None:
    """Two levels up is one level up twice; the level itself is where it starts."""
    hierarchy = create_hierarchy(make_problem(0, 3, 20), 2, np.random.default_rng(0))
    last = len(hierarchy.levels) - 1

    assert hierarchy.ancestors(last, last).tolist() == list(range(20))
    assert hierarchy.ancestors(last, last - 2).tolist() == [
        int(hierarchy.group[last - 2][k]) for k in hierarchy.group[last - 1]
    ]


def test_a_data_centre_sums_up_its_nodes() -> None:
    """Means of speed-up, availability, cost and links, sums of capacities; worked out by hand."""
    nodes = (
        Node("x", {"slots": 2}, speedup=1.0, availability=0.9, cost=3.0),
        Node("y", {"slots": 3}, speedup=3.0, availability=0.8, cost=5.0),
        Node("z", {"slots": 1}, speedup=1.5, availability=0.6, cost=1.0),
    )
    delay = np.array([[0.0, 2, 10], [4, 0, 20], [30, 50, 0]])
    links = np.array([[1.0, 0.5, 0.9], [0.5, 1, 0.7], [0.4, 0.6, 1]])
    cost = np.array([[0.0, 1, 2], [1, 0, 4], [6, 8, 0]])
    operators = (Operator("a", 1.0, allowed=("y",)), Operator("b", 1.0, demand={"slots": 2.0}))
    objective = Objective({"response_time": 1.0}, {"response_time": (0.0, 100.0)})
    problem = Problem(
        Application(operators, (Stream("a", "b"),)), Network(nodes, delay, links, cost), objective
    )
    summed = aggregate(problem, np.array([0, 0, 1]))

    assert summed.capacity.tolist() == [[5.0], [1.0]]
    assert summed.network.speedup == pytest.approx([2.0, 1.5])
    assert summed.network.availability == pytest.approx([0.85, 0.6])
    assert summed.network.cost == pytest.approx([4.0, 1.0])
    assert summed.network.delay_ms == pytest.approx(np.array([[0.0, 15], [40, 0]]))
    assert summed.network.link_availability == pytest.approx(np.array([[1.0, 0.8], [0.5, 1]]))
    assert summed.network.link_cost == pytest.approx(np.array([[0.0, 3], [7, 0]]))
    assert summed.allowed.tolist() == [[True, False], [True, False]]  # z is too small for b
    assert summed.ranges["response_time"] == (0.0, 100.0)


def test_operators_run_in_the_data_centre_of_their_node(make_problem: MakeProblem) -> None:
    """As metrics may depend on that; one that runs nowhere runs nowhere there."""
    problem = replace(make_problem(1, 3, 4, pins=False), current=np.array([3, -1, 1]))
    current = aggregate(problem, np.array([0, 1, 0, 2])).current

    assert current is not None
    assert current.tolist() == [2, -1, 1]


@given(seed=st.integers(0, 1000), data=st.data())
@settings(max_examples=15)
def test_what_is_feasible_on_nodes_is_feasible_on_data_centres(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int, data: st.DataObject
) -> None:
    """Limits on co-location and pins included, so that infeasible there proves infeasible here."""
    limit = CoLocationLimit(("o1", "o2", "o3"), most=1)
    problem = replace(make_problem(seed, 4, 5), constraints=(limit,))
    group = np.array(data.draw(st.permutations([0, 0, 1, 1, 2])))
    summed = aggregate(problem, group)

    for placement in feasible_placements(problem):
        assert check(summed, group[placement]) == ()


def test_nodes_of_the_largest_capacity_that_a_problem_may_state_can_be_summed_up() -> None:
    """As one who means "no limit" writes it: the sum is no larger than the model permits."""
    nodes = tuple(Node(name, {"slots": 1e15}) for name in "xyz")
    problem = Problem(Application((Operator("a"), Operator("b"))), Network(nodes, np.zeros((3, 3))))

    assert aggregate(problem, np.array([0, 0, 1])).capacity.tolist() == [[1e15], [1e15]]


@pytest.mark.parametrize(("limit", "most_ms"), [("soft", 50.0), ("hard", 0.0)])
def test_data_centres_keep_soft_limits_on_measured_durations(limit: str, most_ms: float) -> None:
    """On their mean speed-up, 2, what takes 100 ms at 1 keeps to 50; hard limits are in what is allowed."""
    operator = Operator("a", 10.0, duration_max_ms=50.0, actual_ms=100.0, actual_speedup=1.0)
    nodes = (Node("slow", {"slots": 1}, speedup=1.0), Node("fast", {"slots": 1}, speedup=3.0))
    objective = Objective({"response_time": 1.0}, duration_limit=limit)  # type: ignore[arg-type]  # a word
    problem = Problem(Application((operator,)), Network(nodes, np.zeros((2, 2))), objective)
    summed = aggregate(problem, np.array([0, 0]))

    assert summed.allowed.all()
    assert summed.application.duration_max_ms.tolist() == [most_ms]
    assert evaluate(summed, np.array([0])).values["duration_excess"] == 0.0


@pytest.mark.parametrize(
    ("allowed", "held", "first_holds"),
    [
        (None, ("a", "a"), ("a",)),
        (None, ("a", ""), ()),
        (("n0", "n2"), ("a", ""), ("a",)),  # nothing of it comes to n1
    ],
)
def test_a_data_centre_holds_an_image_if_none_of_its_nodes_has_to_load_it(
    allowed: tuple[str, ...] | None, held: tuple[str, str], first_holds: tuple[str, ...]
) -> None:
    """Of two data centres, n0 and n1, and n2 alone; where it is held no rate is needed."""
    nodes = tuple(
        Node(f"n{u}", {"slots": 1}, pull_mb_per_s=0.0 if name else 1.0, holds=(name,) if name else ())
        for u, name in enumerate((*held, ""))
    )
    operator = Operator("a", 10.0, image_mb=5.0, allowed=allowed)
    problem = Problem(Application((operator,)), Network(nodes, np.zeros((3, 3))))
    summed = aggregate(problem, np.array([0, 0, 1]))

    assert [node.holds for node in summed.network.nodes] == [first_holds, ()]
