"""Asking by thresholds of utilisation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.operator_manager.sample import OperatorObservation, OperatorSample
from scheduler.elasticity.operator_manager.threshold import (
    ThresholdParameters,
    ThresholdState,
    decide,
    threshold_action,
)

if TYPE_CHECKING:
    from scheduler.elasticity.operator_manager.request import OperatorRequest

PARAMETERS = ThresholdParameters(executors_max=4)


def sample(*utilisation: float, until_s: float = 60.0) -> OperatorSample:
    return OperatorSample("count", until_s - 60.0, until_s, len(utilisation), 100.0, utilisation, 10.0)


def asked(
    observation: OperatorObservation, state: ThresholdState | None = None, **changed: Any
) -> tuple[OperatorRequest, ThresholdState]:
    parameters = ThresholdParameters(**{"executors_max": 4, **changed})
    return decide(observation, state or ThresholdState(), parameters, seed=0)


@pytest.mark.parametrize(
    ("utilisation", "action"),
    [
        ((0.71,), 1),
        ((0.70,), 0),
        ((0.10,), 0),
        ((0.5, 0.72), 1),
        ((0.5, 0.5), 0),
        ((0.26, 0.26), -1),
        ((0.3, 0.3, 0.3), -1),
        ((0.4, 0.4, 0.4), 0),
        ((0.27, 0.27), 0),
        ((0.9,) * 4, 0),
        ((0.39,) * 4, -1),
        ((0.8, 0.05, 0.05, 0.05), 0),
    ],
)
def test_paper_004_worked_example_of_thresholds(utilisation: tuple[float, ...], action: int) -> None:
    assert threshold_action(utilisation, PARAMETERS) == action
    request, _ = asked(OperatorObservation(60.0, sample(*utilisation)))
    assert request.action == action


@given(st.integers(1, 12), st.floats(0, 1), st.floats(0.1, 1), st.floats(0.1, 0.99))
def test_an_even_load_is_not_given_back_and_asked_for_again(
    n: int, busy: float, out: float, c: float
) -> None:
    """What is left after scaling in does not scale out, as the paper has it."""
    parameters = ThresholdParameters(executors_max=12, scale_out=out, scale_in_factor=c)
    if threshold_action((busy,) * n, parameters) == -1:
        assert threshold_action((busy * n / (n - 1),) * (n - 1), parameters) <= 0


def test_the_least_number_is_kept() -> None:
    parameters = ThresholdParameters(executors_max=4, executors_min=2)
    assert [threshold_action((0.1,) * n, parameters) for n in (1, 2, 3)] == [1, 0, -1]


def test_at_the_most_the_need_is_named() -> None:
    request, _ = asked(OperatorObservation(60.0, sample(0.9, 0.9, 0.9, 0.9)))
    assert (request.verdict, request.why) == (
        "limited",
        "90% of an executor is busy, but there are 4 at most",
    )


def test_executors_that_take_nothing_off_the_fullest_one_are_not_asked_for_for_ever() -> None:
    """A key that cannot be divided keeps one executor full, however many there are."""
    state = ThresholdState()
    actions = []
    hot = [(0.9,), (0.9, 0.0), (0.9, 0.0, 0.0), (0.9, 0.0, 0.0, 0.0)]
    for k, busy in enumerate(hot):
        request, state = asked(
            OperatorObservation(60.0 * (k + 1), sample(*busy, until_s=60.0 * (k + 1))), state, executors_max=9
        )
        actions.append((request.action, request.verdict))
    assert actions == [(1, "asked"), (1, "asked"), (0, "limited"), (0, "limited")]
    endless, _ = asked(
        OperatorObservation(300.0, sample(*hot[-1])),
        state,
        executors_max=9,
        in_vain_max=None,
        sample_age_max_s=999,
    )
    assert endless.action == 1


@pytest.mark.parametrize("then", [(0.6,) * 4, (0.9, 0.0, 0.0)], ids=["not full any more", "less of them"])
def test_additions_in_vain_are_forgotten(then: tuple[float, ...]) -> None:
    """Keys change."""
    state = ThresholdState(executors=4, share=0.9, in_vain=2)
    _, after = asked(OperatorObservation(60.0, sample(*then)), state)
    assert after.in_vain == 0


def test_half_of_what_even_keys_would_give_is_a_help() -> None:
    """From one executor to two, the fullest one's share falls to a half, or at least to three quarters."""
    for fullest, in_vain in ((0.74, 0), (0.76, 1)):
        _, after = asked(
            OperatorObservation(60.0, sample(fullest, 1.0 - fullest)), ThresholdState(1, share=1.0)
        )
        assert after.in_vain == in_vain


def test_a_load_that_grows_is_no_addition_in_vain() -> None:
    """Even if all executors stay full."""
    state = ThresholdState()
    for n in (1, 2, 3, 4):
        request, state = asked(
            OperatorObservation(60.0 * n, sample(*(1.0,) * n, until_s=60.0 * n)), state, executors_max=9
        )
        assert request.action == 1


@pytest.mark.parametrize(
    ("observation", "why"),
    [
        (OperatorObservation(60.0, None), "there is no sample"),
        (OperatorObservation(181.0, sample(0.9)), "the sample is 121 s old, the limit is 120 s"),
        (OperatorObservation(90.0, sample(0.9), changed_s=60.0), "the sample is from before the last change"),
    ],
)
def test_without_a_sample_that_counts_nothing_is_asked_for(
    observation: OperatorObservation, why: str
) -> None:
    request, state = asked(observation)
    assert (request.action, request.verdict, request.why) == (0, "held", why)
    assert state == ThresholdState()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"executors_min": 0}, "executors_min: expected a whole number >= 1, got 0"),
        ({"executors_max": 1, "executors_min": 2}, "executors_max: expected a whole number >= 2, got 1"),
        ({"scale_out": 0}, "scale_out: expected a number > 0 and <= 1, got 0"),
        ({"scale_in_factor": 1}, "scale_in_factor: expected a number < 1, got 1"),
        ({"in_vain_max": 0}, "in_vain_max: expected a whole number >= 1, got 0"),
        ({"sample_age_max_s": 0}, "sample_age_max_s: expected a number > 0, got 0"),
    ],
)
def test_parameters_out_of_their_bounds(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        ThresholdParameters(**{"executors_max": 4, **changed})


def test_a_sample_has_one_utilisation_per_executor() -> None:
    with pytest.raises(ValueError, match=r"^utilisation: expected one number per executor \(2\), got 1$"):
        OperatorSample("count", 0, 60, 2, 1, (0.5,), 1)
    for bad in (-0.5, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=rf"^utilisation\[1\]: expected a number >= 0, got {bad}$"):
            OperatorSample("count", 0, 60, 3, 1, (0.5, bad, 1), 1)
    with pytest.raises(ValueError, match=r"^until_s: expected a number > 60, got 60$"):
        OperatorSample("count", 60, 60, 1, 1, (0.5,), 1)
