"""The rule to move on the worked example of paper 001, whose plan gains 0.024 of F for 210 units."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.checks import ModelError
from scheduler.instances.document import parse_instance
from scheduler.instances.generators.replacement import replacement
from scheduler.moving.noise import gain_noise
from scheduler.moving.reading_errors import ReadingErrors, drawn
from scheduler.moving.rule import MoveRule, judge
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem

INSTANCES = Path("benchmarks/instances/replacement")
GAIN = 0.024005
EXACT = MoveRule(least_gain=0.02)


@pytest.fixture
def joined() -> Problem:
    """Case 2a: a second fog node has joined."""
    return parse_instance(json.loads((INSTANCES / "odr-2a.json").read_text(encoding="utf-8")))


@pytest.fixture
def better(joined: Problem) -> IntArray:
    found = plan(joined, "odr").placement
    assert found is not None
    return found


def test_a_gain_above_the_least_is_carried_out(joined: Problem, better: IntArray) -> None:
    """Gain and price are those of the worked example."""
    judgement = judge(joined, better, EXACT)
    assert judgement.gain == pytest.approx(GAIN, abs=1e-6)
    assert judgement.price == pytest.approx(210.0)
    assert judgement.noise == 0.0
    assert judgement.why_not == ""


def test_a_gain_below_the_least_is_not(joined: Problem, better: IntArray) -> None:
    why = judge(joined, better, MoveRule(least_gain=0.05)).why_not
    assert why == "the gain 0.024 is not above 0.05"


def test_a_plan_has_to_pay_its_price_within_the_horizon(joined: Problem, better: IntArray) -> None:
    """What it is worth per second, by the weights, is the gain without the price of the moves."""
    payback_s = judge(joined, better, EXACT).payback_s
    assert payback_s is not None
    weight, span = 0.25, 107.0 - 51.0
    without_price = GAIN + 0.25 * 210.0 / 420.25
    assert payback_s == pytest.approx(210.0 / (without_price / (weight / span)), rel=1e-4)
    assert judge(joined, better, replace(EXACT, horizon_s=payback_s * 1.01)).why_not == ""
    late = judge(joined, better, replace(EXACT, horizon_s=payback_s * 0.99)).why_not
    assert late.startswith("the plan pays its price after")
    assert judge(joined, better, replace(EXACT, horizon_s=0.0)).why_not


def test_where_cost_alone_is_weighed_the_payback_is_money(joined: Problem) -> None:
    """Price over what nodes cost less per second, as the paper has it."""
    objective = replace(joined.objective, weights={"cost": 0.999, "migration": 0.001})
    problem = replace(joined, objective=objective)
    cheaper = plan(problem, "odr")
    assert cheaper.placement is not None
    assert cheaper.evaluation is not None
    judgement = judge(problem, cheaper.placement, EXACT)
    assert judgement.worth_per_s == pytest.approx(92.0 - cheaper.evaluation.values["cost"])


def test_without_a_weight_of_the_cost_no_payback_is_known(joined: Problem) -> None:
    problem = replace(joined, objective=replace(joined.objective, weights={"response_time": 1.0}))
    found = plan(problem, "odr").placement
    assert found is not None
    judgement = judge(problem, found, replace(EXACT, horizon_s=1.0))
    assert judgement.payback_s is None
    assert judgement.why_not == ""


def test_a_gain_within_its_noise_is_not_carried_out(joined: Problem, better: IntArray) -> None:
    """Errors of delays that hardly matter let it pass; those that drown it do not."""
    shape = (joined.n_nodes, joined.n_nodes)
    small = ReadingErrors(delay_ms=np.full(shape, 1.0))
    large = ReadingErrors(delay_ms=np.full(shape, 200.0), availability=np.full(joined.n_nodes, 0.05))
    assert judge(joined, better, EXACT, small).why_not == ""
    judgement = judge(joined, better, EXACT, large)
    assert 2 * judgement.noise > judgement.gain
    assert "standard deviations of its noise" in judgement.why_not
    assert judge(joined, better, EXACT, large) == judgement


def test_the_plan_that_runs_is_no_plan(joined: Problem) -> None:
    assert joined.current is not None
    assert judge(joined, joined.current, EXACT).why_not == "the plan is the placement that runs"


def test_what_breaks_a_constraint_has_to_move(joined: Problem, better: IntArray) -> None:
    """Where it runs it has no room, so that no gain is asked for."""
    crowded = np.zeros(joined.n_ops, dtype=np.int64)
    problem = replace(joined, current=crowded)
    assert judge(problem, better, MoveRule(least_gain=1.0)).why_not == ""


@pytest.mark.parametrize(
    ("given", "place"),
    [
        (ReadingErrors(availability=np.zeros(2)), "errors.availability"),
        (ReadingErrors(rate=np.zeros(1)), "errors.rate"),
        (ReadingErrors(delay_ms=np.full((3, 3), -1.0)), "errors.delay_ms"),
        (ReadingErrors(link_availability=np.full((3, 3), math.nan)), "errors.link_availability"),
    ],
)
def test_errors_that_cannot_be_are_refused(
    joined: Problem, better: IntArray, given: ReadingErrors, place: str
) -> None:
    with pytest.raises(ModelError, match=place):
        judge(joined, better, EXACT, given)


@pytest.mark.parametrize("bad", [{"least_gain": -1}, {"sigmas": math.nan}, {"draws": 1}, {"horizon_s": -1.0}])
def test_rules_that_cannot_be_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(bad))):
        MoveRule(**bad)  # type: ignore[arg-type]  # refused at run time, which is the point


def test_what_is_drawn_has_the_stated_errors(joined: Problem) -> None:
    """Means and spreads are those asked for; links are alike both ways, and a node is near itself."""
    errors = ReadingErrors(delay_ms=np.full((3, 3), 5.0), availability=np.full(3, 0.001))
    random = np.random.default_rng(1)
    problems = [drawn(joined, errors, random) for _ in range(400)]
    delays = np.array([each.network.delay_ms for each in problems])
    true = joined.network.delay_ms
    assert (delays == delays.transpose(0, 2, 1)).all()
    assert (delays.diagonal(axis1=1, axis2=2) == 0).all()
    assert delays[:, 0, 1].mean() == pytest.approx(true[0, 1], abs=1.0)
    assert delays[:, 0, 1].std() == pytest.approx(5.0, rel=0.15)
    up = np.array([each.network.availability for each in problems])
    assert up.std(axis=0) == pytest.approx(0.001, rel=0.15)


def test_rates_are_drawn_with_their_errors(joined: Problem) -> None:
    """None falls below 0, and the gain of who weighs traffic has noise for it."""
    errors = ReadingErrors(rate=np.full(len(joined.application.streams), 0.5))
    random = np.random.default_rng(2)
    rates = np.array([drawn(joined, errors, random).application.rate for _ in range(400)])
    assert rates.min() >= 0
    assert rates.mean(axis=0) == pytest.approx(joined.application.rate, abs=0.1)
    assert rates.std(axis=0) == pytest.approx(0.5, rel=0.2)
    weighed = replace(joined, objective=replace(joined.objective, weights={"network_usage": 1.0}))
    assert weighed.current is not None
    moved = (weighed.current + 1) % weighed.n_nodes
    assert gain_noise(weighed, weighed.current, moved, errors) > 0
    assert gain_noise(joined, weighed.current, moved, errors) == 0


def test_noise_is_known_where_hardly_anything_is_available() -> None:
    """An availability that is 0 as a number still has a logarithm."""
    random = np.random.default_rng(0)
    problem = replacement("chain", 4, 3, random)
    links = np.full((3, 3), 1e-200)
    np.fill_diagonal(links, 1.0)
    weak = replace(problem, network=replace(problem.network, link_availability=links))
    errors = ReadingErrors(delay_ms=np.full((3, 3), 1.0))
    noise = gain_noise(weak, np.array([0, 1, 0, 1]), np.array([2, 1, 0, 1]), errors, draws=4)
    assert math.isfinite(noise)
