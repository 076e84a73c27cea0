"""Learning one model for a path, and changing more than one executor at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.elasticity.operator_manager.joint import of_path, rung_of, sample_of
from scheduler.elasticity.operator_manager.model import OperatorModel, first_unknown
from scheduler.elasticity.operator_manager.model_based import ModelBasedState, decide
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.path import ladder_of
from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from tests.scheduler.elasticity.operator_manager.paths import CHAIN

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.request import OperatorRequest

WEIGHTS = OperatorWeights(performance=0.6, reconfiguration=0.22, resources=0.18)
LADDER = ladder_of(CHAIN)
FIRST = ModelBasedState()
"""Of all managers."""


def parameters(component: str = "parse", **changed: Any) -> ModelBasedParameters:
    """Return those of the manager of a part of the chain."""
    place = CHAIN.place(component)
    assert place is not None
    given = {
        "executors_max": 12,
        "rate_max": 2000.0 * CHAIN.parts[place].per_item,
        "response_max_ms": 10.0,
        "levels": 40,
        "weights": WEIGHTS,
        "pause_s": 20.0,
        "skip_disturbed": True,
        "hold_disturbed": True,
        "start_from_queues": True,
        "guard": True,
        "joint": True,
        "steps": 44,
        "path": CHAIN,
        "component": component,
    }
    return ModelBasedParameters(**{**given, **changed})


def samples(
    executors: tuple[int, ...], rate: float, until_s: float, **more: Any
) -> dict[str, OperatorSample]:
    """Return what is measured along the chain, by queues."""
    measured = {}
    for part, k in zip(CHAIN.parts, executors, strict=True):
        own = rate * part.per_item
        spare = part.service_rate - own / k
        busy = (min(1.0, own / k / part.service_rate),) * k
        response = 1000.0 / spare if spare > 0.0 else 9e6
        measured[part.component] = OperatorSample(
            part.component, until_s - 60, until_s, k, own, busy, response, **more
        )
    return measured


def asked(
    states: dict[str, ModelBasedState], seen: dict[str, OperatorSample], **changed: Any
) -> dict[str, OperatorRequest]:
    """Return what the managers of all parts ask for, and let them remember."""
    requests = {}
    for name, sample in seen.items():
        observation = OperatorObservation(sample.until_s, sample, others=seen)
        state = states.get(name, FIRST)
        requests[name], states[name] = decide(observation, state, parameters(name, **changed), seed=0)
    return requests


def test_all_ask_for_their_part_of_one_rung_at_once() -> None:
    """From one executor each to what 660 items per second need, when queues are believed."""
    states: dict[str, ModelBasedState] = {}
    executors: tuple[int, ...] = (1, 1, 1, 1)
    changes = 0
    for k in range(300):
        seen = samples(executors, 660.0, 60.0 * (k + 1))
        requests = asked(states, seen)
        changes += any(each.action for each in requests.values())
        wanted = zip(executors, requests.values(), strict=True)
        executors = tuple(own + each.action for own, each in wanted)
        assert executors in LADDER.executors
    assert changes <= 3
    assert CHAIN.response_ms(executors, 660.0) <= CHAIN.bound_ms
    assert sum(executors) == pytest.approx(sum(CHAIN.least(660.0) or ()), abs=1)
    assert len({id(each) for each in states.values()}) == 1, "what they have learned is one object"


def test_as_the_paper_has_it_one_rung_changes_at_a_time() -> None:
    states: dict[str, ModelBasedState] = {}
    for k in range(400):
        requests = asked(states, samples((1, 1, 1, 1), 660.0, 60.0 * (k + 1)), steps=1, guard=False)
        assert sum(each.action for each in requests.values()) in (0, 1)


def test_a_step_reaches_what_is_the_cheapest_within_it() -> None:
    """Against all changes, tried one by one."""
    chance = np.random.default_rng(5)
    for steps in (1, 2, 3, 9):
        chosen = ModelBasedParameters(
            executors_max=6, rate_max=100.0, response_max_ms=20.0, levels=3, discount=0.9, steps=steps,
            executors_min=2, heed_conditions=False,
        )  # fmt: skip
        model = replace(
            OperatorModel.first(chosen),
            counts=chance.random((3, 3)),
            unknown=chance.random((6, 3)),
        )
        chances = model.counts / model.counts.sum(axis=1, keepdims=True)
        worth = np.zeros((6, 3))
        for _ in range(50):
            before, worth = worth, np.full((6, 3), np.inf)
            reached = (model.unknown + 0.9 * before) @ chances.T
            found = np.zeros((6, 3), dtype=int)
            for k in range(6):
                for then in [
                    k,
                    *range(max(1, k - steps), k)[::-1],
                    *range(max(1, k + 1), min(5, k + steps) + 1),
                ]:
                    cost = (then + 1) / 6 / 3 + (then != k) / 3 + reached[then]
                    found[k] = np.where(cost < worth[k] - 1e-12, then - k, found[k])
                    worth[k] = np.minimum(worth[k], cost)
        swept = model.swept(chosen, 50)
        assert swept.worth.min(axis=2) == pytest.approx(worth)
        assert [[swept.change(k + 1, x, chosen) for x in range(3)] for k in range(6)] == found.tolist()
        assert found.any()


def test_the_path_is_seen_as_one_component() -> None:
    seen = tuple(samples(LADDER.executors[9], 500.0, 60.0).values())
    sample = sample_of(seen, CHAIN)
    assert (sample.executors, sample.arrival_rate, sample.paused) == (10, 500.0, False)
    assert sample.response_ms == pytest.approx(CHAIN.response_ms(LADDER.executors[9], 500.0))
    assert sample.utilisation[0] == max(each.utilisation[0] for each in seen)


@pytest.mark.parametrize(("rate", "expected"), [(500.0, True), (5000.0, False)])
def test_a_part_that_drains_says_nothing_but_overload_does(rate: float, *, expected: bool) -> None:
    seen = samples(LADDER.executors[9], rate, 60.0)
    seen["count"] = replace(seen["count"], backlog=50.0)
    assert sample_of(tuple(seen.values()), CHAIN).paused is expected
    states: dict[str, ModelBasedState] = {}
    assert {each.verdict == "held" for each in asked(states, seen).values()} == {expected}


def test_what_was_granted_in_part_counts_as_what_it_carries() -> None:
    """And executors that carry nothing are given back."""
    rung = LADDER.executors[9]
    more = (rung[0] + 3, *rung[1:])
    assert rung_of(rung, CHAIN) == 10
    assert rung_of(more, CHAIN) == 11
    assert sum(more) > sum(LADDER.executors[10])
    assert rung_of((1, 12, 12, 12), CHAIN) == 1 + int((LADDER.kept <= CHAIN.kept((1, 12, 12, 12))).sum()) - 1
    states: dict[str, ModelBasedState] = {}
    for k in range(200):
        requests = asked(states, samples(more, float(LADDER.kept[10]) - 20.0, 60.0 * (k + 1)))
    given_back = {name: each.action for name, each in requests.items() if each.action}
    total = sum(more) + sum(given_back.values())
    assert given_back["parse"] < 0
    assert total <= sum(LADDER.executors[10])


def test_the_managers_of_all_parts_have_the_same_parameters() -> None:
    """But for rounding, which would let each learn for itself."""
    together = {of_path(parameters(each.component), CHAIN) for each in CHAIN.parts}
    assert len(together) == 1
    (chosen,) = together
    assert (chosen.executors_max, chosen.rate_max, chosen.response_max_ms) == (45, 2000.0, 100.0)
    # at the middle of each level the first rung that keeps the bound, and none above 1,667 items per second
    late = first_unknown(chosen)
    assert (late[:, 13] > 0.0).sum() == (LADDER.kept < 675.0).sum()
    assert (late[:, 39] > 0.0).all()


HELD: list[tuple[dict[str, Any], str]] = [
    ({"others": {}}, "cell: there is no sample"),
    ({"until_s": 60.0}, "the sample is 240 s old, the limit is 120 s"),
    ({"executors": (13, 1, 1, 1)}, "13 executors run, more than the 12 that it knows of"),
    ({"paused": True}, "the sample says nothing: the topology paused, or drained a backlog"),
]


@pytest.mark.parametrize(("changed", "why"), HELD)
def test_held(changed: dict[str, Any], why: str) -> None:
    given = {"executors": (1, 1, 1, 1), "until_s": 300.0, "paused": False, **changed}
    seen = samples(given["executors"], 100.0, given["until_s"], paused=given["paused"])
    observation = OperatorObservation(300.0, seen["parse"], others=changed.get("others", seen))
    request, _ = decide(observation, ModelBasedState(), parameters(), seed=0)
    assert (request.action, request.verdict, request.why) == (0, "held", why)


def test_at_least_so_many_executors_run() -> None:
    parts = tuple(replace(each, executors_min=3) for each in CHAIN.parts)
    seen = samples((1, 3, 3, 3), 10.0, 60.0)
    chosen = parameters(path=replace(CHAIN, parts=parts), executors_min=3)
    request, _ = decide(
        OperatorObservation(60.0, seen["parse"], others=seen), ModelBasedState(), chosen, seed=0
    )
    assert (request.action, request.why) == (2, "at least 3 executors are to run")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"path": None}, "joint: expected a path beside it, got none"),
        ({"steps": 0}, "steps: expected a whole number >= 1, got 0"),
        (
            {"weights": OperatorWeights(0.4, 0.18, 0.42)},
            r"weights: performance 0.4 has to be above 0.410667 \(resources of 44 of 45 executors\), .*",
        ),
        (
            {"weights": OperatorWeights(0.6, 0.3, 0.1)},
            r"weights: reconfiguration 0.3 has to be below 0.222222 .*",
        ),
    ],
)
def test_what_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parameters(**changed)


def test_conditions_know_which_rung_the_peak_needs() -> None:
    """At 660 items per second it is the eleventh: ten more than the first."""
    weights = OperatorWeights(0.4, 0.18, 0.42)
    assert parameters(rate_max=660.0, weights=weights).conditions() == ()
