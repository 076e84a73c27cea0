from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.strategies.tabu_search import ENTRY, TabuSearchParameters

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"list_length": 0}, "list_length: expected a whole number >= 1, got 0"),
        ({"list_length": None}, "list_length: expected a whole number >= 1, got None"),
        ({"patience": True}, "patience: expected a whole number >= 1, got True"),
        ({"patience": 1.5}, "patience: expected a whole number >= 1, got 1.5"),
    ],
)
def test_parameters_are_checked(values: dict[str, object], message: str) -> None:
    """Bad settings are refused where they are made."""
    with pytest.raises(ValueError, match=message):
        TabuSearchParameters(**values)  # type: ignore[arg-type]  # bad values on purpose


def test_it_is_never_worse_than_local_search_and_better_somewhere(make_problem: MakeProblem) -> None:
    """It starts from the local optimum and leaves it behind."""
    wins = 0
    for seed in range(6):
        problem = make_problem(seed, 10, 10)
        local, tabu = plan(problem).evaluation, plan(problem, "tabu-search").evaluation
        assert local is not None
        assert tabu is not None
        assert tabu.rank <= local.rank
        wins += tabu.objective < local.objective - 1e-6

    assert wins >= 1


def ring(nodes: int) -> Problem:
    """One free operator; its distance to the pinned one grows with the node's number."""
    operators = (Operator("home", allowed=("n0",)), Operator("free"))
    delay = np.abs(np.arange(nodes)[:, None] - np.arange(nodes)[None, :]).astype(np.float64)
    network = Network(tuple(Node(f"n{u}", {"slots": 2.0}) for u in range(nodes)), delay)
    return Problem(Application(operators, (Stream("home", "free"),)), network)


def test_it_ends_when_every_neighbour_was_visited() -> None:
    """Five nodes for one operator: four steps lead everywhere, and the best placement is remembered."""
    result = plan(ring(5), "tabu-search")

    assert result.reason == "every neighbour was visited"
    assert result.placement is not None
    assert result.placement.tolist() == [0, 0]


def test_a_short_list_lets_it_come_back() -> None:
    """With a list of two it goes to and fro until its patience ends."""
    result = plan(ring(5), "tabu-search", TabuSearchParameters(list_length=2, patience=30))

    assert result.reason == "30 steps without a better placement ended the search"


def test_patience_one_is_the_papers_ending() -> None:
    """The first step that improves nothing ends the search."""
    result = plan(ring(5), "tabu-search", TabuSearchParameters(patience=1))

    assert result.reason == "1 steps without a better placement ended the search"


def test_without_limits_it_searches_until_the_deadline(hundred_nodes: Problem) -> None:
    """Without patience time alone ends it, and without a deadline either a single step."""
    parameters = ENTRY.until_deadline(TabuSearchParameters(list_length=7))
    ticks = iter(range(10_000))
    timed = plan(hundred_nodes, "tabu-search", parameters, deadline=Deadline(ticks.__next__, at=60))

    assert parameters == TabuSearchParameters(7, None)
    assert timed.reason == "the deadline ended the search"
    assert plan(ring(5), "tabu-search", parameters).reason.startswith("1 steps")
