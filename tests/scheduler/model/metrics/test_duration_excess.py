"""Limits on durations that may be exceeded, at a price."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.evaluation.exceeded import exceeded
from scheduler.instances.document import parse_instance
from scheduler.instances.generators.replacement import replacement, running
from scheduler.instances.writing import to_document
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.moving.prices import staying
from scheduler.optimal_ranges import open_ends
from scheduler.plan import plan
from scheduler.registry import anywhere
from tests.scheduler.replacement.worked_example import CASES, document, every_placement

SOFT = {"cost": 0.5, "duration_excess": 0.5}


def problem(weights: dict[str, float] = SOFT, model: str = "measured", **objective: Any) -> Problem:
    """Two operators of 10 ms at 50 tuples/s, 300 ms as measured at 1.5; three nodes at 1, 5 and 9."""
    measured = {"actual_ms": 300.0, "actual_speedup": 1.5} if model == "measured" else {}
    limit = 200.0 if model == "measured" else 12.0
    operators = tuple(Operator(name, 10.0, duration_max_ms=limit, **measured) for name in "ab")  # type: ignore[arg-type]  # numbers
    nodes = tuple(
        Node(f"n{speedup:g}", {"slots": 2}, speedup=speedup, cost=cost)
        for speedup, cost in ((1.0, 1.0), (2.0, 5.0), (4.0, 9.0))
    )
    application = Application(operators, (Stream("a", "b", 50.0, 1.0),))
    asked = Objective(weights, duration_model=model, **objective)  # type: ignore[arg-type]  # a word
    return Problem(application, Network(nodes, np.zeros((3, 3))), asked)


@pytest.mark.parametrize(
    ("model", "of_node"),
    [
        ("measured", (250.0, 25.0, 0.0)),  # 450, 225 and 112.5 ms
        ("queue", (3.0, 0.0, 0.0)),  # half busy: 10 ms and 5 of waiting
    ],
)
def test_it_is_the_time_beyond_the_limit(model: str, of_node: tuple[float, ...]) -> None:
    """Summed over the operators."""
    soft = problem(model=model)
    found = [evaluate(soft, np.array([u, 2])).values["duration_excess"] for u in range(3)]
    assert found == pytest.approx(of_node)
    assert soft.ranges["duration_excess"] == pytest.approx((0.0, 2 * of_node[0]))


def test_a_limit_is_soft_where_what_exceeds_it_is_weighed() -> None:
    """And stays so for the optimum of another metric alone; a word says otherwise."""
    assert problem().allowed.all()
    assert problem({"cost": 1.0}).allowed.tolist() == [[False, False, True]] * 2
    assert problem({"cost": 1.0}, duration_limit="soft").allowed.all()
    assert not problem(duration_limit="hard").allowed.all()
    alone = replace(problem().objective, weights={"cost": 1.0})
    assert replace(problem(), objective=alone).allowed.all()
    assert ("duration_excess", "worst") in open_ends(problem())
    assert ("duration_excess", "worst") not in open_ends(problem({"cost": 1.0}))


@pytest.mark.parametrize(
    ("per_ms", "placed"),
    # a node of 2 saves 225 ms of each operator for 4 units, one of 4 another 25 ms for 4 units
    [(0.01, [0, 0]), (0.1, [1, 1]), (0.2, [2, 2])],
)
def test_the_weight_over_the_range_is_the_price_of_a_millisecond(per_ms: float, placed: list[int]) -> None:
    """In units of the cost, which weighs the same over a range of one."""
    priced = problem(ranges={"cost": (0.0, 1.0), "duration_excess": (0.0, 1.0 / per_ms)})
    for strategy in ("odr", "odr-search", "odp", "ils"):
        result = plan(priced, strategy)
        assert result.placement is not None
        assert result.placement.tolist() == placed, strategy


def test_who_cannot_keep_up_has_no_price() -> None:
    """150 tuples per second of 10 ms are more than a node of speed-up 1 can do, soft or not."""
    plain = problem(model="queue")
    streams = (replace(plain.application.streams[0], rate=150.0),)
    busy = replace(plain, application=replace(plain.application, streams=streams))
    assert busy.allowed.tolist() == [[False, True, True]] * 2
    (broken,) = check(busy, np.array([0, 1]))
    assert broken.message == "operator a cannot keep up with its tuples on node n1"
    assert np.isfinite(evaluate(busy, np.array([0, 1])).objective)


@pytest.mark.parametrize("strategy", anywhere())
def test_every_strategy_places_what_exceeds_its_limit_everywhere(strategy: str) -> None:
    """Case 2i of the worked example, in which no node is fast enough for o4."""
    given = document(CASES["2i"])
    given["objective"]["weights"] = {"response_time": 0.25, "cost": 0.25, "duration_excess": 0.5}
    result = plan(parse_instance(given), strategy)
    assert result.placement is not None
    late = exceeded(parse_instance(given), result.placement)
    assert ("o4", 1200.0) in [(each.operator, each.limit_ms) for each in late]


@pytest.mark.parametrize("model", ["measured", "queue"])
@pytest.mark.parametrize("shape", ["chain", "dag"])
def test_the_optimum_is_that_of_all_placements(shape: Any, model: str) -> None:
    """With what exceeds worked out by hand, at random limits; and a second plan moves nothing."""
    weights = {"response_time": 0.2, "cost": 0.2, "migration": 0.2, "duration_excess": 0.4}
    for seed in range(4):
        random = np.random.default_rng(seed)
        plain = replacement(shape, 4, 4, random)
        limits = random.uniform(100.0, 600.0, 4)
        operators = tuple(
            replace(each, duration_max_ms=float(limit), actual_ms=each.execution_time_ms, actual_speedup=1.0)
            for each, limit in zip(plain.application.operators, limits, strict=True)
        )
        streams = tuple(replace(each, rate=0.5) for each in plain.application.streams)
        application = replace(plain.application, operators=operators, streams=streams)
        objective = Objective(weights, duration_model=model)  # type: ignore[arg-type]  # a word
        soft = running(replace(plain, application=application, objective=objective), random.integers(0, 4, 4))
        all_placements = every_placement(soft)
        service = application.execution_time_ms[:, None] / soft.network.speedup
        taken = service
        if model == "queue":
            incoming = np.bincount(application.stream_target, application.rate, 4)
            incoming[0] = 0.5  # the only source sends 0.5 tuples per second along each stream
            busy = incoming[:, None] * service / 1000.0
            taken = np.where(busy < 1, service + busy * service / 2 / (1 - busy), np.inf)
        by_hand = np.maximum(taken - limits[:, None], 0.0)
        worth = [evaluate(soft, placement) for placement in all_placements.T]
        for placement, each in zip(all_placements.T, worth, strict=True):
            expected = by_hand[np.arange(4), placement].sum()
            assert each.values["duration_excess"] == pytest.approx(expected)
        best = min(each.objective for each in worth)
        for strategy in ("odp", "odr"):
            result = plan(soft, strategy)
            assert result.evaluation is not None
            assert result.evaluation.objective == pytest.approx(best, abs=2e-7), (strategy, seed)
        assert result.placement is not None
        again = plan(running(soft, result.placement), "odr").placement
        assert again is not None
        assert again.tolist() == result.placement.tolist(), seed


def test_staying_states_what_exceeds_whether_or_not_it_may() -> None:
    """Under a hard limit it breaks it as well."""
    for weights, broken in ((SOFT, 0), ({"cost": 1.0}, 1)):
        stay = staying(replace(problem(weights), current=np.array([1, 2])))
        assert stay is not None
        assert stay.worth.values["duration_excess"] == pytest.approx(25.0)
        assert len(stay.violations) == broken


def test_operators_that_exceed_are_listed_with_their_times() -> None:
    (late,) = exceeded(problem(), np.array([2, 1]))
    assert (late.operator, late.node, late.duration_ms, late.limit_ms) == ("b", "n2", 225.0, 200.0)
    unlimited = tuple(replace(each, duration_max_ms=0.0) for each in problem().application.operators)
    free = replace(problem(), application=Application(unlimited))
    assert exceeded(free, np.array([0, 0])) == ()


def test_a_document_comes_back() -> None:
    """Also where the word is all that says it."""
    for each in (problem(), problem({"cost": 1.0}, duration_limit="soft"), problem({"cost": 1.0})):
        again = parse_instance(to_document(each))
        assert again.objective.duration_limit == each.objective.duration_limit
        assert to_document(again) == to_document(each)
