"""Asking for what is cheapest over the time to come."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.operator_manager.horizon import Ahead, cheapest, stage_lengths
from scheduler.elasticity.operator_manager.model_parameters import OperatorWeights
from scheduler.elasticity.operator_manager.rolling import RollingState, decide
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from tests.scheduler.elasticity.operator_manager.paths import CHAIN, one

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.request import OperatorRequest

ALONE = RollingParameters(path=one(), pause_s=20.0)
TOGETHER = RollingParameters(path=CHAIN, pause_s=20.0)
OF_CHAIN = {part.component: part for part in CHAIN.parts}


def sample(component: str, executors: int, rate: float, until_s: float = 60.0, **more: Any) -> OperatorSample:
    busy = min(1.0, rate / executors / 100.0)
    return OperatorSample(
        component, until_s - 60, until_s, executors, rate, (busy,) * executors, 10.0, **more
    )


def alone(executors: int, rate: float, **more: Any) -> OperatorObservation:
    found = sample("c0", executors, rate, **more)
    return OperatorObservation(found.until_s, found)


def together(executors: tuple[int, ...], rate: float, own: str) -> OperatorObservation:
    samples = {
        name: sample(name, k, rate * part.per_item)
        for (name, part), k in zip(OF_CHAIN.items(), executors, strict=True)
    }
    return OperatorObservation(60.0, samples[own], others=samples)


def ahead(*rates: float, noise: float = 0.05, backlog: float = 0.0) -> Ahead:
    return Ahead(np.array(rates), (1,) * len(rates), noise, backlog)


def asked(observation: OperatorObservation, parameters: RollingParameters = ALONE) -> OperatorRequest:
    return decide(observation, RollingState(), parameters, seed=0)[0]


def test_several_executors_are_asked_for_at_once() -> None:
    request = asked(alone(1, 250.0))
    assert (request.action, request.verdict) == (3, "asked")
    assert request.score < request.score_stay
    assert asked(alone(6, 20.0)).action == -5


def test_what_is_enough_and_cheap_stays() -> None:
    request = asked(alone(4, 250.0))
    assert (request.action, request.verdict) == (0, "kept")
    assert request.score == request.score_stay


def test_managers_of_a_path_ask_for_parts_of_the_same_plan() -> None:
    """At 660 items per second; the noise of 10 % that is assumed first takes more than 3, 2, 6, 3."""
    running = (1, 1, 1, 1)
    plan = [asked(together(running, 660.0, name), TOGETHER).action + 1 for name in OF_CHAIN]
    assert tuple(plan) in {tuple(each) for each in _rungs()}
    assert CHAIN.kept(plan) > 700.0
    settled = [asked(together(tuple(plan), 660.0, name), TOGETHER).action for name in OF_CHAIN]
    assert settled == [0, 0, 0, 0], "asked again on the outcome, nothing changes"


def test_managers_of_a_path_learn_once() -> None:
    """They begin with the same and see the same, so that the first one's work is that of all."""
    seasons = {
        id(decide(together((1, 1, 1, 1), 123.0, name), RollingState(), TOGETHER, seed=0)[1].season)
        for name in OF_CHAIN
    }
    assert len(seasons) == 1


def _rungs() -> Any:
    from scheduler.elasticity.operator_manager.path import ladder_of  # noqa: PLC0415

    return ladder_of(CHAIN).executors


def test_a_rise_is_met_before_it_comes_only_if_that_pays() -> None:
    """A change at high load pauses more items and drains longer."""
    rising = (*[100.0] * 3, *[280.0] * 60)
    assert cheapest((2,), ahead(*rising), ALONE).executors == (2,), "an early executor costs too"
    early = cheapest((2,), ahead(100.0, *[280.0] * 60), ALONE)
    assert early.executors[0] >= 4
    short = cheapest((4,), ahead(*[100.0] * 5, *[280.0] * 60), ALONE)
    assert short.executors == (4,), "to give back what is soon needed again does not pay"


def test_noise_takes_more_executors() -> None:
    rates = [220.0] * 120
    calm, noisy = (cheapest((1,), ahead(*rates, noise=each), ALONE).executors for each in (0.01, 0.2))
    assert calm < noisy


def test_a_backlog_takes_more_executors() -> None:
    """To drain it sooner."""
    rates = [150.0] * 12
    some = cheapest((1,), ahead(*rates), ALONE).executors
    more = cheapest((1,), ahead(*rates, backlog=60_000.0), ALONE).executors
    assert some < more


def test_longer_pauses_make_fewer_changes() -> None:
    rates = [210.0] * 6 + [150.0] * 60
    assert cheapest((4,), ahead(*rates), ALONE).executors == (3,)
    assert cheapest((4,), ahead(*rates), replace(ALONE, pause_s=55.0)).executors == (4,)


def test_stages_grow_and_add_up() -> None:
    lengths = stage_lengths(180)
    assert sum(lengths) == 180
    assert lengths[:6] == (1,) * 6
    assert list(lengths[:-1]) == sorted(lengths[:-1])
    assert len(lengths) < 40


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (OperatorObservation(60.0, None), "there is no sample"),
        (replace(alone(1, 250.0), now_s=999.0), "the sample is 939 s old, the limit is 120 s"),
        (replace(alone(1, 250.0), changed_s=60.0), "the sample is from before the last change"),
        (alone(1, 250.0, paused=True), "the sample says nothing: the topology paused"),
        (alone(7, 250.0), "7 executors run, more than the 6 that it knows of"),
        (
            OperatorObservation(60.0, sample("x", 1, 250.0)),
            "it is no part of the path that is planned",
        ),
    ],
)
def test_held(observation: OperatorObservation, why: str) -> None:
    request = asked(observation)
    assert (request.action, request.verdict, request.why) == (0, "held", why)


def test_held_while_another_part_of_the_path_is_not_seen() -> None:
    seen = together((1, 1, 1, 1), 660.0, "cell")
    others = {name: each for name, each in seen.others.items() if name != "rank"}
    request = asked(replace(seen, others=others), TOGETHER)
    assert (request.verdict, request.why) == ("held", "rank: there is no sample")
    old = replace(seen.others["rank"], from_s=0.0, until_s=1.0)
    late = {
        name: replace(each, from_s=140.0, until_s=200.0)
        for name, each in seen.others.items()
        if name != "rank"
    }
    request = asked(OperatorObservation(200.0, late["cell"], others={**late, "rank": old}), TOGETHER)
    assert request.why == "rank: the sample is 199 s old, the limit is 120 s"


def test_a_sample_counts_once() -> None:
    observation = alone(4, 250.0)
    _, once = decide(observation, RollingState(), ALONE, seed=0)
    _, twice = decide(observation, once, ALONE, seed=0)
    assert twice is once


def test_saturated_executors_get_another_although_the_plan_is_content() -> None:
    """Service rates are not what they were thought to be."""
    state, actions = RollingState(), []
    for until_s in (60.0, 120.0):
        seen = replace(sample("c0", 2, 20.0, until_s), utilisation=(1.0, 1.0))
        request, state = decide(OperatorObservation(until_s, seen), state, ALONE, seed=0)
        actions.append(request.action)
    assert actions[1] == 1
    most = replace(ALONE, path=one(executors_max=2))
    request, _ = decide(OperatorObservation(until_s, seen), state, most, seed=0)
    assert (request.action, request.verdict) == (0, "limited")
    request, _ = decide(OperatorObservation(until_s, seen), state, replace(ALONE, guard=False), seed=0)
    assert request.action <= 0


@given(
    executors=st.integers(1, 8),
    rate=st.floats(0.0, 2000.0),
    least=st.integers(1, 6),
    more=st.integers(0, 6),
    backlog=st.floats(0.0, 1e6),
)
def test_limits_are_kept(executors: int, rate: float, least: int, more: int, backlog: float) -> None:
    parameters = RollingParameters(path=one(least + more, least), pause_s=20.0, heed_conditions=False)
    request = asked(alone(executors, rate, backlog=backlog), parameters)
    if request.verdict == "held":
        assert executors > least + more
    else:
        assert least <= executors + request.action <= least + more


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"horizon_s": 30.0}, r"horizon_s: expected at least period_s \(60\), got 30"),
        ({"pause_s": -1.0}, "pause_s: expected a number >= 0, got -1.0"),
        (
            {"weights": OperatorWeights(0.3, 0.2, 0.5)},
            r"weights: performance 0.3 has to be above 0.416667 \(resources of 5 of 6 executors\), "
            "or being late is cheaper than they are",
        ),
        (
            {"horizon_s": 600.0},
            r"weights: reconfiguration with its pause, 0.333333, has to be below 0.0555556 "
            r"\(what one executor costs until the horizon\), or none is ever given back",
        ),
    ],
)
def test_parameters_that_are_refused(changed: dict[str, Any], message: str) -> None:
    given_ = {"path": one(60) if "horizon_s" in changed else one(), **changed}
    with pytest.raises(ValueError, match=f"^{message}$"):
        RollingParameters(**given_)
