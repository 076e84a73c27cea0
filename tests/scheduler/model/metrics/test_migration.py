"""What moves cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.generators.replacement import replacement, running
from scheduler.model.current import ELSEWHERE, GONE, UNPLACED
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.moving.prices import moves_of
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from collections.abc import Sequence


def problem(
    current: Sequence[int] | None, price: Literal["destination", "source"] = "destination"
) -> Problem:
    """Images of 100 and 40 MB with 20 MB of state; x loads 10 MB/s at 2 a second, y 5 MB/s at 3."""
    operators = (Operator("a", image_mb=100.0), Operator("b", image_mb=40.0, state_mb=20.0))
    nodes = (
        Node("x", {"slots": 2}, cost=2.0, pull_mb_per_s=10.0),
        Node("y", {"slots": 2}, cost=3.0, pull_mb_per_s=5.0),
    )
    return Problem(
        Application(operators, (Stream("a", "b", 1.0, 1.0),)),
        Network(nodes, 1.0 - np.eye(2)),
        Objective({"migration": 1.0}, migration_price=price),
        None if current is None else np.array(current),
    )


def price(problem: Problem, *placement: int) -> float:
    return evaluate(problem, np.array(placement)).values["migration"]


def test_an_operator_that_moves_pays_for_the_time_of_loading() -> None:
    """Image and state: 60 MB at 5 MB/s, 3 a second."""
    assert price(problem([0, 0]), 0, 1) == pytest.approx(60 / 5 * 3)
    assert price(problem([0, 0]), 0, 0) == 0
    assert price(problem([1, 1]), 0, 0) == pytest.approx((100 + 60) / 10 * 2)


def test_the_price_of_the_node_that_is_left() -> None:
    """As the paper's formula has it."""
    assert price(problem([0, 0], "source"), 0, 1) == pytest.approx(60 / 5 * 2)


@pytest.mark.parametrize("mark", [UNPLACED, GONE])
def test_a_first_start_costs_nothing(mark: int) -> None:
    assert price(problem([0, mark]), 0, 1) == 0


def test_who_runs_elsewhere_pays_everywhere() -> None:
    assert price(problem([0, ELSEWHERE]), 0, 0) == pytest.approx(60 / 10 * 2)


@pytest.mark.parametrize("kind", ["destination", "source"])
def test_a_part_of_the_network_prices_moves_alike(kind: Literal["destination", "source"]) -> None:
    """Operator b runs on y, which the part leaves out."""
    whole = problem([0, 1], kind)
    part = restrict(whole, np.array([0]))

    assert price(part, 0, 0) == pytest.approx(price(whole, 0, 0))
    assert part.ranges["migration"] == pytest.approx(whole.ranges["migration"])


def test_the_scale_is_the_same_wherever_operators_run() -> None:
    """To come to y is dearest: 100 and 60 MB at 5 MB/s, 3 a second."""
    assert problem([0, 0]).ranges == problem([1, 0]).ranges == problem(None).ranges
    assert problem([0, 0]).ranges["migration"] == pytest.approx((0.0, 160 / 5 * 3))


def test_a_node_without_a_rate_is_refused_where_something_has_to_be_loaded() -> None:
    nodes = (Node("x", {"slots": 2}, pull_mb_per_s=1.0), Node("y", {"slots": 2}))
    network = Network(nodes, np.zeros((2, 2)))
    with pytest.raises(
        ModelError, match=r"network.nodes\[1\].pull_mb_per_s: missing: operator a may come here"
    ):
        Problem(Application((Operator("a", image_mb=7.0),)), network)
    assert Problem(Application((Operator("a"),)), network)
    assert Problem(Application((Operator("a", image_mb=7.0, allowed=("x",)),)), network)


def test_without_images_nothing_is_priced() -> None:
    bare = problem([0, 0])
    operators = tuple(replace(each, image_mb=0.0, state_mb=0.0) for each in bare.application.operators)
    free = replace(bare, application=replace(bare.application, operators=operators))

    assert price(free, 1, 1) == 0
    assert free.ranges["migration"] == (0.0, 0.0)


def sharing(current: Sequence[int] | None) -> Problem:
    """Both operators share what x loads in 5 s at 2 a second and y in 4 s at 3; b has state of 20 MB."""
    plain = problem(current)
    operators = (Operator("a"), Operator("b", state_mb=20.0))
    nodes = tuple(
        replace(node, shared_pull_s=seconds)
        for node, seconds in zip(plain.network.nodes, (5.0, 4.0), strict=True)
    )
    return replace(
        plain,
        application=replace(plain.application, operators=operators),
        network=replace(plain.network, nodes=nodes, delays=plain.network.delays),
    )


def test_what_operators_share_is_loaded_once_where_none_of_them_runs() -> None:
    """The first one that comes to y pays for it, the second one for its state alone; x has it."""
    assert price(sharing([0, 0]), 0, 0) == 0
    assert price(sharing([0, 0]), 1, 0) == pytest.approx(4 * 3)
    assert price(sharing([0, 0]), 1, 1) == pytest.approx(4 * 3 + 20 / 5 * 3)
    assert price(sharing([0, 1]), 0, 0) == pytest.approx(20 / 10 * 2)


@pytest.mark.parametrize("current", [None, [0, UNPLACED], [0, GONE]])
def test_where_an_operator_starts_anew_what_is_shared_has_no_price(current: Sequence[int] | None) -> None:
    """It has to start somewhere."""
    assert price(sharing(current), 1, 1) == 0


def test_the_scale_of_what_is_shared_is_the_same_wherever_operators_run() -> None:
    """Both nodes load it at most, and y the state."""
    assert sharing([0, 0]).ranges == sharing([1, 0]).ranges == sharing(None).ranges
    assert sharing([0, 0]).ranges["migration"] == pytest.approx((0.0, 5 * 2 + 4 * 3 + 20 / 5 * 3))


def test_a_part_of_the_network_prices_what_is_shared_alike() -> None:
    """Operator b runs on y, which the part leaves out."""
    whole = sharing([0, 1])
    part = restrict(whole, np.array([0]))

    assert price(part, 0, 0) == pytest.approx(price(whole, 0, 0)) == pytest.approx(20 / 10 * 2)
    assert part.ranges["migration"] == pytest.approx(whole.ranges["migration"])


def holding(current: Sequence[int] | None, **held: tuple[str, ...]) -> Problem:
    """The plain problem on nodes that hold some images already, by their names."""
    plain = problem(current)
    nodes = tuple(replace(node, holds=held.get(node.name, ())) for node in plain.network.nodes)
    return replace(plain, network=replace(plain.network, nodes=nodes, delays=plain.network.delays))


def test_an_image_that_a_node_holds_is_not_loaded_there() -> None:
    """What is left of b is its state; x holds nothing, so that the way back has its price."""
    assert price(holding([0, 0], y=("a", "b")), 1, 0) == 0
    assert price(holding([0, 0], y=("a", "b")), 1, 1) == pytest.approx(20 / 5 * 3)
    assert price(holding([1, 1], y=("a", "b")), 0, 0) == price(problem([1, 1]), 0, 0)
    moves = moves_of(holding([0, 0], y=("b",)), np.array([1, 1]))
    assert [(each.pull_s, each.cost) for each in moves] == [(20.0, 60.0), (4.0, 12.0)]


def test_the_scale_is_the_same_whatever_nodes_hold() -> None:
    """An image that was left behind makes no other price weigh more."""
    assert holding([0, 0], x=("a",), y=("a", "b")).ranges["migration"] == problem([0, 0]).ranges["migration"]


def test_a_held_image_needs_no_rate_and_state_does() -> None:
    def made(state_mb: float) -> Problem:
        node = Node("x", {"slots": 1}, holds=("a",))
        operator = Operator("a", image_mb=7.0, state_mb=state_mb)
        return Problem(Application((operator,)), Network((node,), np.zeros((1, 1))))

    assert price(made(0.0), 0) == 0
    with pytest.raises(ModelError, match=r"operator a may come here and loads 2 MB"):
        made(2.0)


@pytest.mark.parametrize("strategy", ["odr", "odr-search"])
def test_a_second_plan_moves_nothing_with_the_images_of_the_first_left_behind(strategy: str) -> None:
    """Nodes keep what they loaded; of eight random problems some move at first."""
    moved = 0
    for seed in range(8):
        random = np.random.default_rng(seed)
        before = random.permutation(4)
        made = running(replacement("dag", 4, 4, random), before)
        first = plan(made, strategy).placement
        if first is None:
            continue
        moved += int((first != before).any())
        nodes = tuple(
            replace(node, holds=tuple(f"o{i + 1}" for i in range(4) if u in (before[i], first[i])))
            for u, node in enumerate(made.network.nodes)
        )
        kept = replace(made, network=replace(made.network, nodes=nodes, delays=made.network.delays))
        again = plan(running(kept, first), strategy).placement
        assert again is not None
        assert again.tolist() == first.tolist(), seed
    assert moved > 0
