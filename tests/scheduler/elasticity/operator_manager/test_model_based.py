"""Learning when to ask for executors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scheduler.elasticity.learning.choice import greedy
from scheduler.elasticity.learning.season import SeasonParameters
from scheduler.elasticity.operator_manager.model import OperatorModel, first_unknown
from scheduler.elasticity.operator_manager.model_based import (
    ModelBasedState,
    decide,
    disturbed,
    learned,
    level_of,
)
from scheduler.elasticity.operator_manager.model_parameters import ModelBasedParameters, OperatorWeights
from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from tests.scheduler.elasticity.operator_manager.paths import CHAIN

WEIGHTS = OperatorWeights(performance=0.5, reconfiguration=0.3, resources=0.2)


def parameters(**changed: Any) -> ModelBasedParameters:
    """Return those of the worked example, but for what is changed."""
    given = {
        "executors_max": 2,
        "rate_max": 100.0,
        "response_max_ms": 20.0,
        "levels": 2,
        "weights": WEIGHTS,
        "discount": 0.9,
        "learning_rate": 0.5,
    }
    return ModelBasedParameters(**{**given, **changed})


def example() -> OperatorModel:
    """Return the model of the worked example before the first sweep."""
    return replace(
        OperatorModel.first(parameters()),
        counts=np.array([[3.0, 1.0], [1.0, 1.0]]),
        unknown=np.array([[0.0, 0.5], [0.0, 0.1]]),
    )


def table(model: OperatorModel) -> list[tuple[float, float]]:
    """Return the two allowed actions of each state: staying, then the other one."""
    return [(model.worth[k, x, 0], model.worth[k, x, 2 - k]) for k in (0, 1) for x in (0, 1)]


SWEEPS = {
    1: [(0.225, 0.525), (0.35, 0.55), (0.225, 0.525), (0.25, 0.65)],
    2: [(0.45562, 0.73313), (0.60875, 0.76375), (0.43313, 0.75562), (0.46375, 0.90875)],
    3: [(0.66952, 0.92170), (0.82897, 0.95359), (0.62170, 0.96952), (0.65359, 1.12897)],
    403: [(2.53027, 2.62258), (2.68330, 2.65484), (2.32258, 2.83027), (2.35484, 2.98330)],
}


@pytest.mark.parametrize("sweeps", SWEEPS)
def test_paper_004_worked_example_of_operator_learning(sweeps: int) -> None:
    model = example().swept(parameters(), sweeps)
    assert np.array(table(model)) == pytest.approx(np.array(SWEEPS[sweeps]), abs=1e-5)
    assert np.isinf(model.worth[0, :, 1]).all(), "the last executor is not given back"
    assert np.isinf(model.worth[1, :, 2]).all(), "nor is one added beyond the most"


def test_paper_004_worked_example_of_greedy_operator_actions() -> None:
    model = example().swept(parameters(), 403)
    assert [greedy(model.worth[k, x]) for k in (0, 1) for x in (0, 1)] == [0, 1, 0, 0]


def late(executors: int, level: int, until_s: float, *, late: bool, **more: Any) -> OperatorSample:
    """Return a sample at the middle of a level."""
    rate, response = 25.0 + 50.0 * level, 30.0 if late else 10.0
    busy = (0.5,) * executors
    return OperatorSample("count", until_s - 60, until_s, executors, rate, busy, response, **more)


OBSERVED = [
    # state and action before, then what is seen after it
    ((2, 0), (1, 1, True), [[3, 2], [1, 1]], [[0, 0.5], [0, 0.1]]),
    ((2, 1), (2, 0, True), [[3, 2], [2, 1]], [[0.25, 0.5], [0.25, 0.25]]),
    ((1, 1), (1, 1, False), [[3, 2], [2, 2]], [[0.25, 0.25], [0.25, 0.25]]),
    ((1, 1), (1, 1, False), [[3, 2], [2, 3]], [[0.125, 0.125], [0.125, 0.125]]),
]


def test_paper_004_worked_example_of_the_clamp() -> None:
    """One good sample wipes three other memories."""
    state = ModelBasedState(example().swept(parameters(), 403))
    for k, ((_, before), (executors, level, is_late), counts, unknown) in enumerate(OBSERVED):
        state = replace(state, level=before)
        state = learned(state, late(executors, level, 60.0 * (k + 1), late=is_late), parameters())
        assert state.model is not None
        assert state.model.counts.tolist() == counts
        assert state.model.unknown == pytest.approx(np.array(unknown), abs=1e-5)
    assert state.model is not None
    last = [(2.81891, 3.10526), (2.81861, 3.10525), (2.80526, 3.11891), (2.80525, 3.11861)]
    assert np.array(table(state.model)) == pytest.approx(np.array(last), abs=1e-5)


def test_with_estimates_kept_a_good_sample_wipes_nothing() -> None:
    """The same samples; what is read never contradicts itself either."""
    chosen = parameters(keep_estimates=True)
    state = ModelBasedState(example())
    for k, ((_, before), (executors, level, is_late), _, _) in enumerate(OBSERVED):
        state = replace(state, level=before)
        state = learned(state, late(executors, level, 60.0 * (k + 1), late=is_late), chosen)
        assert state.model is not None
        read = state.model.expected(chosen)
        assert (np.diff(read, axis=0) <= 1e-12).all()
        assert (np.diff(read, axis=1) >= -1e-12).all()
    assert state.model is not None
    assert state.model.unknown == pytest.approx(np.array([[0, 0.125], [0.25, 0.1]]))
    assert state.model.seen.tolist() == [[0, 3], [1, 0]]
    # weights 1, 3, 2, 1: all four contradict each other
    pooled = (3 * 0.125 + 2 * 0.25 + 0.1) / 7
    assert state.model.expected(chosen) == pytest.approx(np.full((2, 2), pooled), abs=1e-5)


def test_what_was_seen_more_often_weighs_more() -> None:
    """Also if its own estimate stays: fewer executors at less load seem to cost less than more of them."""
    chosen = parameters(keep_estimates=True)
    first = OperatorModel.first(chosen).with_estimates(np.array([[0.0, 0.5], [0.4, 0.5]]), chosen)
    assert first.fit.table[:, 0] == pytest.approx([0.2, 0.2], abs=1e-5)
    again = first.charged(1, 0, 0.0, chosen)
    assert again.unknown.tolist() == first.unknown.tolist()
    assert again.fit.table[:, 0] == pytest.approx([0.4 / 3, 0.4 / 3], abs=1e-5)


def test_levels_cut_the_rate_evenly_and_end_with_the_highest() -> None:
    assert [level_of(rate, parameters()) for rate in (0, 49.9, 50, 99, 100, 1000)] == [0, 0, 1, 1, 1, 1]


def test_a_rejected_request_is_learned_as_no_change() -> None:
    """The cost belongs to the executors that ran."""
    request, state = decide(
        OperatorObservation(60.0, late(1, 1, 60.0, late=False)),
        ModelBasedState(example().swept(parameters(), 403)),
        parameters(),
        seed=0,
    )
    assert (request.action, request.verdict) == (1, "asked")
    assert request.score < request.score_stay
    _, state = decide(OperatorObservation(120.0, late(1, 1, 120.0, late=True)), state, parameters(), seed=0)
    assert state.model is not None
    assert state.model.seen.tolist() == [[0, 1], [0, 0]]


def test_a_sample_is_learned_from_once() -> None:
    state = ModelBasedState(example(), level=0)
    once = learned(state, late(1, 1, 60.0, late=True), parameters())
    assert learned(once, late(1, 1, 60.0, late=True), parameters()) is once


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, False),
        ({"paused": True}, True),
        ({"backlog": 5.0}, True),
    ],
)
def test_intervals_that_say_nothing_are_skipped(more: dict[str, Any], *, expected: bool) -> None:
    """Transitions are counted all the same."""
    chosen = parameters(skip_disturbed=True, service_rate=60.0)
    sample = late(2, 1, 60.0, late=True, **more)
    assert disturbed(sample, chosen) is expected
    state = learned(ModelBasedState(example(), level=0), sample, chosen)
    assert state.model is not None
    assert state.model.seen.sum() == (0 if expected else 1)
    assert state.model.counts.tolist() == [[3, 2], [1, 1]]
    as_written = learned(ModelBasedState(example(), level=0), sample, parameters())
    assert as_written.model is not None
    assert as_written.model.seen.sum() == 1


def test_overload_is_learned_although_a_backlog_is_left() -> None:
    chosen = parameters(skip_disturbed=True, service_rate=60.0)
    assert not disturbed(late(1, 1, 60.0, late=True, backlog=100.0), chosen)
    unknown = parameters(skip_disturbed=True)
    assert not disturbed(late(2, 1, 60.0, late=True, backlog=5.0), unknown), (
        "without a service rate nobody knows"
    )


def test_with_a_shared_bound_only_the_application_makes_an_interval_late() -> None:
    """Late itself, and late together with the others."""
    chosen = parameters(share_bound=True)
    paid = []
    for load in (0.9, 1.1, None):
        sample = late(1, 1, 60.0, late=True, application_load=load)
        state = learned(ModelBasedState(example(), level=0), sample, chosen)
        assert state.model is not None
        paid.append(state.model.unknown[0, 1])
    assert paid == [0.25, 0.5, 0.5]


def test_with_a_shared_bound_queues_predict_the_whole_path() -> None:
    """At 686 items per second cell would need 3 by a bound of its own, and does with 2."""
    given = {
        "executors_max": 12,
        "rate_max": 1960.0,
        "levels": 10,
        "response_max_ms": 10.8,
        "service_rate": 400.0,
        "start_from_queues": True,
        "path": CHAIN,
        "component": "cell",
        "heed_conditions": False,
    }
    own, shared = (
        first_unknown(parameters(**given, share_bound=each))[:, 3].tolist() for each in (False, True)
    )
    assert own == [0.5] * 2 + [0.0] * 10
    assert shared == [0.5] * 1 + [0.0] * 11


def test_the_level_is_that_of_the_highest_rate_that_is_expected() -> None:
    """Two days of 80 tuples per second from the sixth hour on, and 20 before it."""
    chosen = parameters(season=SeasonParameters(season_s=86_400.0, slot_s=3600.0), ahead_s=5400.0)
    state = ModelBasedState()
    for hour in range(24 + 5):
        rate = 80.0 if hour % 24 > 5 else 20.0
        until_s = 3600.0 * (hour + 1)
        sample = OperatorSample("count", until_s - 3600, until_s, 1, rate, (0.5,), 10.0)
        state = learned(state, sample, chosen)
        if hour % 24 == 3:
            assert state.level == 0, "two hours before it rises"
    assert state.level == 1, "an hour before"
    assert learned(ModelBasedState(), sample, parameters()).level == 0


def test_on_such_an_interval_nothing_is_asked_for() -> None:
    """Although the levels in it are learned from."""
    chosen = parameters(hold_disturbed=True)
    for paused, verdict in ((True, "held"), (False, "asked")):
        state = ModelBasedState(example().swept(parameters(), 403), level=1)
        sample = late(1, 1, 60.0, late=True, paused=paused)
        request, state = decide(OperatorObservation(60.0, sample), state, chosen, seed=0)
        assert request.verdict == verdict
        assert state.model is not None
        assert state.model.counts.tolist() == [[3, 1], [1, 2]]


def test_queues_predict_which_states_are_late() -> None:
    """At 60 tuples/s an executor keeps 20 ms up to 10 of them: 25 need two or more, 75 more than two."""
    chosen = parameters(start_from_queues=True, service_rate=60.0, executors_max=3, heed_conditions=False)
    assert first_unknown(chosen).tolist() == [[0.5, 0.5], [0.5, 0.5], [0.0, 0.5]]
    assert OperatorModel.first(chosen).unknown.tolist() == first_unknown(chosen).tolist()
    assert not first_unknown(parameters()).any()


def _saturated(executors: int, until_s: float) -> OperatorObservation:
    busy = (1.0,) * executors
    return OperatorObservation(
        until_s, OperatorSample("count", until_s - 60, until_s, executors, 90.0, busy, 99.0)
    )


def test_saturated_executors_are_answered() -> None:
    """As written a level at which all numbers are late makes the fewest the cheapest, for ever."""
    collapsed = replace(OperatorModel.first(parameters()), unknown=np.full((2, 2), 0.5)).swept(
        parameters(), 400
    )
    for guard, asked in ((False, 0), (True, 1)):
        state = ModelBasedState(collapsed)
        chosen = parameters(guard=guard)
        actions = []
        for k in (1, 2):
            request, state = decide(_saturated(1, 60.0 * k), state, chosen, seed=0)
            actions.append(request.action)
        assert actions == [0, asked]
    request, _ = decide(_saturated(2, 180.0), replace(state, saturated=5), parameters(guard=True), seed=0)
    assert request.verdict == "limited"


@pytest.mark.parametrize("guard", [False, True])
def test_a_backlog_that_is_drained_too_slowly_is_answered(guard: bool) -> None:
    """Although samples with a backlog say nothing: behind a flood they would for hours."""
    chosen = parameters(guard=guard, hold_disturbed=True)
    state, asked = ModelBasedState(OperatorModel.first(chosen)), []
    for k in range(1, 14):
        seen = _saturated(1, 60.0 * k)
        assert seen.sample is not None
        seen = replace(seen, sample=replace(seen.sample, paused=True))
        request, state = decide(seen, state, chosen, seed=0)
        asked.append(request.action)
    assert [k + 1 for k, action in enumerate(asked) if action] == ([4, 8, 12] if guard else [])


def test_a_level_at_which_all_numbers_are_late_is_learned_anew() -> None:
    collapsed = replace(
        OperatorModel.first(parameters()),
        unknown=np.array([[0.5, 0.5], [0.0, 0.49]]),
        seen=np.full((2, 2), 9.0),
    )
    state = learned(ModelBasedState(collapsed), late(1, 0, 60.0, late=False), parameters(guard=True))
    assert state.model is not None
    assert state.model.unknown.tolist() == [[0.5, 0.0], [0.0, 0.0]]
    assert state.model.seen.tolist() == [[9, 0], [9, 0]]


def test_executors_that_were_saturated_once_are_not_answered() -> None:
    state = ModelBasedState(OperatorModel.first(parameters()), saturated=1)
    request, state = decide(
        OperatorObservation(60.0, late(1, 1, 60.0, late=False)), state, parameters(guard=True), seed=0
    )
    request, state = decide(_saturated(1, 120.0), state, parameters(guard=True), seed=0)
    assert state.saturated == 1
    assert "saturated" not in request.why


def test_at_least_so_many_executors_run() -> None:
    """Below that one more is asked for, whatever the model says; at it, none less is possible."""
    chosen = parameters(executors_max=4, executors_min=3, heed_conditions=False)
    request, state = decide(
        OperatorObservation(60.0, late(1, 0, 60.0, late=False)), ModelBasedState(), chosen, seed=0
    )
    assert (request.action, request.why) == (1, "at least 3 executors are to run")
    assert state.model is not None
    assert np.isfinite(state.model.worth[:, :, 0]).all()
    assert np.isinf(state.model.worth[2, :, 1]).all()
    assert np.isfinite(state.model.worth[3, :, 1]).all()


def test_before_anything_was_seen_levels_stay() -> None:
    assert OperatorModel.first(parameters()).counts.tolist() == [[1, 0], [0, 1]]


def test_of_equal_actions_the_first_is_taken() -> None:
    """Also if rounding makes a later one cheaper."""
    assert greedy(np.array([1.0 + 1e-15, 1.0, 2.0])) == 0
    assert greedy(np.array([2.0, 1.0 + 1e-15, 1.0])) == -1
    assert greedy(np.array([2.0, np.inf, 1.0])) == 1


def test_more_executors_than_it_knows_of_are_named() -> None:
    request, _ = decide(
        OperatorObservation(60.0, late(3, 1, 60.0, late=False)), ModelBasedState(), parameters(), seed=0
    )
    assert (request.verdict, request.why) == ("held", "3 executors run, more than the 2 that it knows of")


def test_old_samples_teach_nothing() -> None:
    state = ModelBasedState()
    request, after = decide(
        OperatorObservation(999.0, late(1, 1, 60.0, late=True)), state, parameters(), seed=0
    )
    assert request.verdict == "held"
    assert after is state


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"weights": OperatorWeights(0.3, 0.2, 0.5), "executors_max": 12},
            r"weights: performance 0.3 has to be above 0.458333 \(resources of 11 of 12 executors\), "
            "or being late at the peak is optimal",
        ),
        (
            {"weights": OperatorWeights(0.4, 0.4, 0.2), "executors_max": 12},
            r"weights: reconfiguration 0.4 has to be below 0.166667 \(what one executor costs for ever\), "
            "or none is ever given back",
        ),
        (
            {"weights": OperatorWeights(0.7, 0.1, 0.2), "pause_s": 20.0},
            r"weights: reconfiguration 0.1 has to be at least 0.233333 "
            r"\(performance for the time of a pause\), or pauses are free",
        ),
        (
            {"weights": OperatorWeights(0.5, 0.3, 0.2), "pause_s": 600.0},
            "weights: reconfiguration 0.3 has to be at least 0.5 .*",
        ),
        ({"ahead_s": -1.0}, "ahead_s: expected a number >= 0, got -1.0"),
        ({"path": CHAIN}, 'component: expected one of the path, got ""'),
        ({"start_from_queues": True}, "start_from_queues: expected a service_rate beside it, got none"),
        ({"discount": 1}, "discount: expected a number < 1, got 1"),
        ({"learning_rate": 0}, "learning_rate: expected a number > 0 and <= 1, got 0"),
        ({"levels": 0}, "levels: expected a whole number >= 1, got 0"),
        ({"rate_max": 0}, "rate_max: expected a number > 0, got 0"),
    ],
)
def test_weights_and_parameters_that_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parameters(**changed)


def test_conditions_know_how_many_executors_the_peak_needs() -> None:
    """And can be left unheeded, to measure what they are for."""
    weights = OperatorWeights(0.3, 0.2, 0.5)
    few = parameters(weights=weights, executors_max=12, rate_max=100.0, service_rate=110.0)
    assert few.conditions() == ()
    with pytest.raises(ValueError, match="resources of 9 of 12"):
        parameters(weights=weights, executors_max=12, rate_max=500.0, service_rate=100.0)
    assert len(parameters(weights=weights, executors_max=12, heed_conditions=False).conditions()) == 1


def test_weights_add_up_to_one() -> None:
    with pytest.raises(ValueError, match=r"^weights: expected a sum of 1, got 1\.1$"):
        OperatorWeights(0.5, 0.4, 0.2)
