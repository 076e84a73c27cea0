"""Learning where executors are dealt tasks, so that only some numbers of them make a difference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scheduler.elasticity.operator_manager.joint import of_path, rung_of, sample_of
from scheduler.elasticity.operator_manager.model import OperatorModel, first_unknown
from scheduler.elasticity.operator_manager.model_based import ModelBasedState, decide
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.path import Path, PathPart, ladder_of
from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from scheduler.elasticity.useful import choices, effective

PATH = Path((PathPart("a", 1.0, 100.0, 12, tasks=12), PathPart("b", 0.5, 50.0, 10, tasks=10)), 60.0)
LADDER = ladder_of(PATH)


def of_part(place: int, **changed: Any) -> ModelBasedParameters:
    """Return those of the manager of a part of the path."""
    part = PATH.parts[place]
    given = {
        "executors_max": part.executors_max,
        "tasks": part.tasks,
        "rate_max": 800.0 * part.per_item,
        "response_max_ms": 30.0,
        "weights": OperatorWeights(performance=0.6, reconfiguration=0.2, resources=0.2),
        "service_rate": part.service_rate,
        "skip_disturbed": True,
        "hold_disturbed": True,
        "guard": True,
        "start_from_queues": True,
        "joint": True,
        "steps": len(LADDER.executors),
        "path": PATH,
        "component": part.component,
    }
    return ModelBasedParameters(**{**given, **changed})


def samples(executors: tuple[int, ...], rate: float, until_s: float) -> dict[str, OperatorSample]:
    """Return what is measured along the path, by queues."""
    found = {}
    for part, k in zip(PATH.parts, executors, strict=True):
        own = rate * part.per_item
        spare = part.service_rate - own / effective(part.tasks, k)
        busy = (min(1.0, own / part.served(k)),) * k
        response_ms = 1000.0 / spare if spare > 0.0 else 9e6
        found[part.component] = OperatorSample(
            part.component, until_s - 60.0, until_s, k, own, busy, response_ms
        )
    return found


@pytest.mark.parametrize("steps", [1, 2, 3, 9])
def test_steps_are_counted_in_numbers_that_make_a_difference(steps: int) -> None:
    """Of twelve tasks; against all changes, tried one by one."""
    chance = np.random.default_rng(7)
    numbers = choices(12, 1, 12)
    n = len(numbers)
    chosen = ModelBasedParameters(
        executors_max=12, executors_min=3, tasks=12, rate_max=100.0, response_max_ms=20.0, levels=3,
        discount=0.9, steps=steps, heed_conditions=False,
    )  # fmt: skip
    unknown = chance.random((n, 3))
    model = replace(OperatorModel.first(chosen), counts=chance.random((3, 3)), unknown=unknown)
    chances = model.counts / model.counts.sum(axis=1, keepdims=True)
    worth, found = np.zeros((n, 3)), np.zeros((n, 3), dtype=int)
    for _ in range(50):
        reached = (unknown + 0.9 * worth) @ chances.T
        worth = np.full((n, 3), np.inf)
        for k in range(n):
            fewer, more = range(max(2, k - steps), k)[::-1], range(max(2, k + 1), min(n - 1, k + steps) + 1)
            for then in (k, *fewer, *more):
                cost = numbers[then] / 12 / 3 + (then != k) / 3 + reached[then]
                found[k] = np.where(cost < worth[k] - 1e-12, numbers[then], found[k])
                worth[k] = np.minimum(worth[k], cost)
    swept = model.swept(chosen, 50)
    assert swept.worth.min(axis=2) == pytest.approx(worth)
    asked = [[k + swept.change(k, x, chosen) for x in range(3)] for k in numbers]
    assert asked == found.tolist()
    assert any(row != [k] * 3 for k, row in zip(numbers, asked, strict=True))
    # between two of them as from the smaller one, unless they stay
    for x in range(3):
        then = found[numbers.index(6), x]
        assert 9 + swept.change(9, x, chosen) == (9 if then == 6 else then)


def test_a_number_that_queues_ask_for_along_the_path_is_not_late_at_first() -> None:
    """Of ten tasks four executors do what three and a third would: no less than was asked for."""
    path = replace(PATH, parts=(PATH.parts[0], replace(PATH.parts[1], executors_max=4)), bound_ms=150.0)
    chosen = of_part(1, joint=False, share_bound=True, levels=40, path=path, executors_max=4)
    late = first_unknown(chosen) > 0.0
    asked = [path.least((level + 0.5) / 40 * 800.0) for level in range(40)]
    assert 4 in {each[1] for each in asked if each is not None}
    for level, needed in enumerate(asked):
        rows = len(chosen.choices) if needed is None else chosen.choices.index(needed[1])
        assert late[:, level].sum() == rows


def test_one_model_for_a_path_goes_from_rung_to_rung() -> None:
    """Which skips numbers that make no difference; the cheapest that keeps the bound is reached at once."""
    rate, executors, changes = 420.0, (1, 1), 0
    states = dict.fromkeys((part.component for part in PATH.parts), ModelBasedState())
    for k in range(300):
        seen, asked = samples(executors, rate, 60.0 * (k + 1)), []
        for place, (name, sample) in enumerate(seen.items()):
            observation = OperatorObservation(sample.until_s, sample, others=seen)
            request, states[name] = decide(observation, states[name], of_part(place), seed=0)
            asked.append(request.action)
        changes += any(asked)
        executors = (executors[0] + asked[0], executors[1] + asked[1])
        assert executors in LADDER.executors
    assert changes <= 3
    assert executors == PATH.least(rate)
    assert len({id(each) for each in states.values()}) == 1


def test_rungs_cost_what_their_executors_cost() -> None:
    """They are not one executor apart."""
    costs = of_path(of_part(0), PATH).resource_costs
    totals = [sum(each) for each in LADDER.executors]
    assert set(np.diff(totals)) > {1}
    assert costs == pytest.approx(0.2 * (np.array(totals) - 1) / (12 + 10 - 1))
    with pytest.raises(ValueError, match=r"resources of 20 of 21 executors"):
        of_part(0, weights=OperatorWeights(performance=0.4, reconfiguration=0.1, resources=0.5))


def test_managers_of_a_path_learn_one_model_whatever_their_tasks_are() -> None:
    together = {of_path(of_part(place), PATH) for place in (0, 1)}
    assert len(together) == 1
    assert together.pop().choices == tuple(range(1, len(LADDER.executors) + 1))


def test_executors_that_do_no_more_are_on_the_rung_of_those_that_do_as_much() -> None:
    top = LADDER.executors[-1]
    assert top == (12, 10)
    assert rung_of((11, 9), PATH) == rung_of((6, 5), PATH)


def test_what_comes_faster_than_executors_keep_up_with_is_no_drain() -> None:
    """Eleven executors on twelve tasks keep up with 600 items/s, not with 1100."""
    for rate, paused in ((590.0, True), (610.0, False)):
        seen = samples((11, 10), rate, 60.0)
        waiting = replace(seen["a"], backlog=50.0)
        assert sample_of((waiting, seen["b"]), PATH).paused is paused
