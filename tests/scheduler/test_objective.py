from __future__ import annotations

import math

import pytest

from scheduler.checks import ModelError
from scheduler.objective import Objective, Scale


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"weights": {"response_time": 0.7}}, "weights: expected a sum of 1, got 0.7"),
        ({"weights": {"response_time": 1, "speed": 0}}, "weights.speed: unknown metric; the metrics are "),
        (
            {"weights": {"response_time": -1}},
            "weights.response_time: expected a number >= 0 and <= 1, got -1",
        ),
        ({"ranges": {"response_time": (5, 5)}}, "range.response_time: expected min < max, got [5, 5]"),
        ({"ranges": {"response_time": (5,)}}, "range.response_time: expected [min, max], got an array"),
        (
            {"ranges": {"availability": (0, 1)}},
            "range.availability[0]: expected a number > 0 and <= 1, got 0",
        ),
        ({"ranges": {"network_usage": (0, "9")}}, 'range.network_usage[1]: expected a number >= 0, got "9"'),
    ],
)
def test_an_objective_refuses(values: dict[str, object], message: str) -> None:
    """Weights sum to 1, metrics are known, ranges are not empty."""
    with pytest.raises(ModelError) as caught:
        Objective(**values)  # type: ignore[arg-type]  # bad values on purpose

    assert str(caught.value).startswith(message)


def test_a_missing_weight_is_zero() -> None:
    """Only the metrics named count."""
    assert Objective({"network_usage": 1.0}).weights == {
        "response_time": 0.0,
        "availability": 0.0,
        "network_usage": 1.0,
    }


def test_f_weighs_positions_within_the_ranges() -> None:
    """Equation 15, worked out by hand: availability by its logarithm, 0 best and 1 worst."""
    weights = {"response_time": 0.5, "availability": 0.3, "network_usage": 0.2}
    ranges = {"response_time": (10.0, 30.0), "availability": (0.25, 1.0), "network_usage": (0.0, 400.0)}
    scale = Scale.of(Objective(weights), ranges)

    assert scale.objective(10.0, 0.0, 0.0) == pytest.approx(0.0)
    assert scale.objective(30.0, -math.log(0.25), 400.0) == pytest.approx(1.0)
    assert scale.objective(15.0, -math.log(0.5), 100.0) == pytest.approx(0.5 * 0.25 + 0.3 * 0.5 + 0.2 * 0.25)
    assert scale.objective(50.0, 0.0, 0.0) == pytest.approx(1.0), "outside the range F goes on"


def test_a_range_without_width_adds_nothing() -> None:
    """A metric in which all placements are alike cannot tell them apart, not even by rounding."""
    ranges = {"response_time": (7.0, 7.0 + 1e-15), "availability": (1.0, 1.0), "network_usage": (0.0, 0.0)}
    scale = Scale.of(Objective(), ranges)

    assert scale.objective(7.0 + 1e-15, 0.0, 0.0) == 0.0
