from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.contract.additions import Additions
from scheduler.instances.writing import to_document
from scheduler.model.constraints.link_bandwidth import overfull_links
from scheduler.plan import plan
from scheduler.reduce.additions.colocation import colocated
from scheduler.reduce.additions.constrained import constrained
from scheduler.reduce.additions.pinning import pinned
from scheduler.reduce.additions.restriction import restricted
from scheduler.strategies.inop_exact import InopExactParameters
from scheduler.strategies.inop_heuristics import HeuristicParameters
from scheduler.strategies.inop_sequential import SequentialParameters
from tests.scheduler.tiers.worked_example import (
    every_feasible,
    named,
    narrowed,
    networked,
    parsed,
    relaying,
    side_by_side,
    unlimited,
    weighed,
    within,
)

if TYPE_CHECKING:
    from scheduler.contract.result import Result

COMBINED = {"inop-comb-1", "inop-comb-2", "inop-comb-3"}
TABLE = {
    "inop-exact": ("f1 f1 e2 e2 e1", 76, 105, 90.5),
    "inop-restrict": ("e1 f1 f2 f2 c1", 94, 100, 97.0),
    "inop-pin": ("e2 f1 e2 f2 e1", 76, 131, 103.5),
    "inop-colocate": ("e1 f1 e2 f2 f2", 92, 100, 96.0),
    "inop-comb-1": ("e2 f1 e2 f2 c1", 88, 121, 104.5),
    "inop-comb-2": ("e2 f1 e2 f2 f2", 89, 121, 105.0),
    "inop-comb-3": ("e1 f1 c1 c1 c1", 104, 100, 102.0),
    "cloud-greedy": ("c2 c1 c1 c2 c2", 74, 642, 358.0),
    "inop-sequential": ("e1 f1 e2 f2 c1", 91, 100, 95.5),
}
"""Placement, P, Q and cost (7) by strategy."""


def objective(result: Result) -> float | None:
    """F, None without a placement."""
    return result.evaluation and result.evaluation.objective


@pytest.mark.parametrize("strategy", TABLE)
def test_every_strategy(strategy: str) -> None:
    problem = parsed()
    result = plan(problem, strategy)

    assert result.placement is not None
    assert result.evaluation is not None
    values = result.evaluation.values
    found = (values["placement_cost"], values["link_cost"], result.evaluation.objective)
    placement, *expected = TABLE[strategy]
    assert found == pytest.approx(tuple(expected), abs=1e-6)
    assert named(problem, result.placement) == placement
    assert result.status == ("optimal" if strategy == "inop-exact" else "feasible")


@pytest.mark.parametrize("strategy", ["greedy", "local-search", "ils", "odp", "odr"])
def test_other_strategies_keep_to_links(strategy: str) -> None:
    """Those that prove find the same cost; none finds a lower one."""
    cost = objective(plan(parsed(), strategy))

    assert cost is not None
    assert cost >= 90.5 - 1e-6
    if strategy == "odr":
        assert cost == pytest.approx(90.5)


@pytest.mark.parametrize("model", ["flow", "pair"])
@pytest.mark.parametrize(
    ("changed", "cost"),
    [
        (networked(bandwidth_sum="pair"), 90.5),
        (networked(bandwidth_sum="none"), 84.0),
        (unlimited(), 77.0),
        (relaying(), 141.5),
        (weighed(0.0), 100.0),
        (weighed(0.25), 97.75),
        (weighed(0.75), 83.25),
        (weighed(1.0), 69.0),
        (narrowed(f2_e2=11), 90.5),
        (side_by_side(), 97.5),
        (within(20.0), 95.5),
        (within(13.0), None),
        (narrowed(f2_e2=3, e1_e2=3), None),
    ],
    ids=[
        "pair",
        "none",
        "unlimited",
        "relays",
        "0",
        "0.25",
        "0.75",
        "1",
        "11",
        "adjacent",
        "20 ms",
        "13 ms",
        "3",
    ],
)
def test_variants(changed: dict[str, Any], cost: float | None, model: Any) -> None:
    result = plan(parsed(changed), "inop-exact", InopExactParameters(model))

    assert result.status == ("infeasible" if cost is None else "optimal")
    assert objective(result) == (None if cost is None else pytest.approx(cost, abs=1e-6))


@pytest.mark.parametrize("mixed", ["edge", "all"])
@pytest.mark.parametrize(
    ("strategy", "cost", "nodes"),
    [
        ("inop-restrict", 90.5, "f1 f1 e2 e2 e1"),
        ("inop-comb-1", 103.5, "e2 f1 e2 f2 e1"),
        ("inop-comb-3", 96.0, "e1 f1 e2 f2 f2"),
    ],
)
def test_ends_at_the_edge_and_in_the_cloud(strategy: str, cost: float, nodes: str, mixed: Any) -> None:
    problem = parsed()
    result = plan(problem, strategy, HeuristicParameters(mixed=mixed))

    assert result.placement is not None
    assert objective(result) == pytest.approx(cost)
    assert named(problem, result.placement) == nodes


@pytest.mark.parametrize(("order", "cost"), [("a,b", 95.5), ("b,a", 90.5), ("b", 90.5)])
def test_one_graph_after_the_other(order: str, cost: float) -> None:
    assert objective(plan(parsed(), "inop-sequential", SequentialParameters(order=order))) == pytest.approx(
        cost
    )


@pytest.mark.parametrize(
    ("added", "feasible"),
    [
        (Additions(), 2717),
        (Additions(allowed=restricted(parsed())), 516),
        (Additions(pinned={"a.o1": "e2", "b.o3": "e2"}), 78),
        (Additions(colocated=(("b.o4", "b.o5"),)), 543),
        (Additions(restricted(parsed(), apart_from=("a.o1", "b.o3")), {"a.o1": "e2", "b.o3": "e2"}), 30),
        (Additions(pinned={"a.o1": "e2", "b.o3": "e2"}, colocated=(("b.o4", "b.o5"),)), 14),
        (Additions(allowed=restricted(parsed()), colocated=(("b.o4", "b.o5"),)), 117),
    ],
    ids=["plain", "restriction", "pinning", "co-location", "comb-1", "comb-2", "comb-3"],
)
def test_how_many_placements_there_are(added: Additions, feasible: int) -> None:
    costs = [cost for cost, _ in every_feasible(constrained(parsed(), added))]

    assert len(costs) == feasible
    assert costs.count(min(costs)) == 1


def test_what_heuristics_add() -> None:
    problem = parsed()
    underlay = problem.network.underlay
    assert underlay is not None

    assert pinned(problem, underlay) == {"a.o1": "e2", "b.o3": "e2"}
    assert colocated(problem) == (("b.o4", "b.o5"),)
    assert restricted(problem) == {
        "a.o1": ("f1", "f2", "e1", "e2"),
        "a.o2": ("f1", "f2", "e1", "e2"),
        "b.o3": ("c1", "c2", "f1", "f2"),
        "b.o4": ("c1", "c2", "f1", "f2"),
        "b.o5": ("c1", "c2", "f1", "f2"),
    }


@pytest.mark.parametrize(
    ("capacities", "pins"),
    [
        ({"e2": 4.0}, {"a.o1": "e2", "b.o3": "e1"}),
        ({"e2": 4.0, "e1": 2.0}, {"a.o1": "e2", "b.o3": "f2"}),
        ({"e2": 4.0, "e1": 2.0, "f2": 2.0}, {"a.o1": "e2"}),
    ],
)
def test_pins_leave_room_for_each_other(capacities: dict[str, float], pins: dict[str, str]) -> None:
    """The second one goes where the first one has left enough, or nowhere."""
    changed = networked()
    for node in changed["network"]["nodes"]:
        node["capacity"]["load"] = capacities.get(node["name"], node["capacity"]["load"])
    problem = parsed(changed)
    assert problem.network.underlay is not None

    assert pinned(problem, problem.network.underlay) == pins


@pytest.mark.parametrize("strategy", ["inop-pin", "inop-comb-1", "inop-comb-2"])
def test_a_pin_against_a_narrow_link(strategy: str) -> None:
    """The answer names both, and that there is a placement without the pin; `drop` finds it."""
    narrow = parsed(narrowed(f2_e2=11))
    result = plan(narrow, strategy)

    assert result.status == "infeasible"
    assert result.reason == (
        f"pin a.o1@e2 ({strategy}) against bandwidth f2-e2 11 and bandwidth e1-e2 12; "
        f"without what {strategy} adds there is a placement"
    )

    dropped = plan(narrow, strategy, HeuristicParameters(drop=True))
    assert dropped.evaluation is not None
    assert "pins" in dropped.reason
    assert not dropped.added.pinned
    assert dropped.evaluation.objective < 358


def test_greedy_overfills_links_and_says_which() -> None:
    narrow = parsed(narrowed(f2_e2=11))
    result = plan(narrow, "cloud-greedy")

    assert result.placement is not None
    assert objective(result) == pytest.approx(358)
    assert overfull_links(narrow, result.placement) == [("f2-e2", 17, 11)]


@pytest.mark.parametrize("strategy", TABLE)
def test_no_strategy_finds_room_where_there_is_none(strategy: str) -> None:
    result = plan(parsed(narrowed(f2_e2=3, e1_e2=3)), strategy)

    assert result.status == "infeasible"
    assert "a.o1 can run nowhere" in result.reason


@pytest.mark.parametrize(
    "changed", [weighed(0.5), networked(bandwidth_sum="none"), within(20.0), relaying(), side_by_side()]
)
def test_a_document_comes_back(changed: dict[str, Any]) -> None:
    problem = parsed(changed)
    again = parsed(to_document(problem))

    assert to_document(again) == to_document(problem)
    assert again.constraints == problem.constraints
