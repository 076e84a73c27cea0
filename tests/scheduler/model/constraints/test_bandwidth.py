"""Bandwidth between two nodes, and in and out of a site."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import check
from scheduler.model.constraints.bandwidth import PairBandwidth, UplinkBandwidth
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.reduce.subproblem import restrict

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.model.constraints.constraint import Constraint


def connected(*constraints: Constraint) -> Problem:
    """a -> b sends 1000 bytes/s, b -> c 600, c -> a 300 back; x and y in a site, z alone."""
    streams = (
        Stream("a", "b", 10.0, 100.0),
        Stream("b", "c", 6.0, 100.0),
        Stream("c", "a", 3.0, 100.0, critical=False),
    )
    nodes = (
        Node("x", {"slots": 1}, site="edge"),
        Node("y", {"slots": 1}, site="edge"),
        Node("z", {"slots": 2}, site="cloud"),
    )
    delay = np.array([[0.0, 1.0, 50.0], [1.0, 0.0, 50.0], [50.0, 50.0, 0.0]])
    operators = tuple(Operator(name, 1.0) for name in "abc")
    return Problem(Application(operators, streams), Network(nodes, delay), constraints=constraints)


def messages(problem: Problem, *placement: int) -> list[tuple[str, str]]:
    return [(each.kind, each.message) for each in check(problem, np.array(placement))]


def test_both_directions_of_a_pair_count_together() -> None:
    """b on x, c on y: 600 bytes/s there and none back; a on x, c on y: 300 back and b is elsewhere."""
    problem = connected(PairBandwidth("y", "x", 599.0))
    assert messages(problem, 2, 0, 1) == [
        ("pair_bandwidth", "the link between y and x has 599 bytes/s, streams b -> c take 600")
    ]
    assert messages(problem, 0, 2, 1) == []
    assert messages(connected(PairBandwidth("x", "y", 600.0)), 2, 0, 1) == []


def test_an_uplink_carries_what_crosses_the_border_of_its_site() -> None:
    """a and b in the site, c outside: 600 out and 300 in; within the site nothing counts."""
    problem = connected(UplinkBandwidth("edge", 899.0))
    assert messages(problem, 0, 1, 2) == [
        ("uplink_bandwidth", "the uplink of site edge has 899 bytes/s, streams b -> c, c -> a take 900")
    ]
    assert messages(connected(UplinkBandwidth("edge", 900.0)), 0, 1, 2) == []


@pytest.mark.parametrize("strategy", ["greedy", "local-search", "ils", "odp", "hierarchical"])
def test_strategies_avoid_a_link_that_is_too_narrow(strategy: str) -> None:
    """The nearest two nodes may not be used for streams between them; the others have to be shared."""
    free = plan(connected(), strategy).placement
    narrow = plan(connected(PairBandwidth("x", "y", 100.0), UplinkBandwidth("cloud", 1300.0)), strategy)

    assert free is not None
    assert narrow.placement is not None
    assert sorted(narrow.placement.tolist()) != [0, 1, 2]
    assert check(connected(PairBandwidth("x", "y", 100.0)), narrow.placement) == ()


def test_streams_between_pinned_operators_are_a_conflict() -> None:
    """a on x and b on y leave no other way."""
    problem = connected(PairBandwidth("x", "y", 999.0))
    pinned = tuple(
        replace(each, allowed=({"a": "x", "b": "y"}[each.name],)) if each.name in "ab" else each
        for each in problem.application.operators
    )
    stuck = replace(problem, application=replace(problem.application, operators=pinned))

    result = plan(stuck, "greedy")
    assert result.reason == (
        "the link between x and y has 999 bytes/s, and every placement takes 1000 or more"
    )


def test_a_part_of_the_network_keeps_what_it_can_break() -> None:
    """Without y there is no link between x and y; the site of x stays."""
    whole = connected(
        PairBandwidth("x", "y", 1.0), UplinkBandwidth("edge", 2.0), UplinkBandwidth("cloud", 3.0)
    )
    part = restrict(whole, np.array([0, 1]))
    assert part.constraints == whole.constraints[:2]
    assert restrict(whole, np.array([0, 2])).constraints == whole.constraints[1:]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PairBandwidth("x", "x", 1.0), 'second: "x" is the first node too'),
        (lambda: PairBandwidth("x", "y", -1.0), "bytes_per_s: expected a number >= 0, got -1"),
        (lambda: UplinkBandwidth("", 1.0), 'site: expected a name, got ""'),
        (
            lambda: connected(PairBandwidth("x", "y", 1.0), PairBandwidth("x", "q", 1.0)),
            'constraints.pair_bandwidth[1].second: "q" is not a node of the network',
        ),
        (
            lambda: connected(UplinkBandwidth("fog", 1.0)),
            'constraints.uplink_bandwidth[0].site: "fog" is the site of no node',
        ),
    ],
)
def test_bad_records_are_refused_with_their_place(make: Callable[[], object], message: str) -> None:
    """Names and numbers are checked where they are stated."""
    with pytest.raises(ModelError) as caught:
        make()
    assert str(caught.value).startswith(message)
