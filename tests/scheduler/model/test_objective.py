from __future__ import annotations

import math

import pytest

from scheduler.base.checks import ModelError
from scheduler.model.metrics.catalogue import METRICS
from scheduler.model.objective import Objective, Scale


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


GIVEN = {
    "response_time": (10.0, 30.0),
    "availability": (0.25, 1.0),
    "network_usage": (0.0, 400.0),
    "inter_node_traffic": (5.0, 25.0),
    "cost": (1.0, 2.0),
}
RANGES = dict.fromkeys(METRICS, (0.5, 1.0)) | GIVEN


def f(scale: Scale, **raw: float) -> float:
    """F of raw metrics; those not given are 0."""
    return scale.objective(dict.fromkeys(METRICS, 0.0) | raw)


def test_a_missing_weight_is_zero() -> None:
    """Only the metrics named count."""
    weights = dict(Objective({"network_usage": 1.0}).weights)

    assert weights.pop("network_usage") == 1.0
    assert weights == dict.fromkeys(METRICS.keys() - {"network_usage"}, 0.0)


def test_f_weighs_positions_within_the_ranges() -> None:
    """Equation 15, worked out by hand: availability by its logarithm, 0 best and 1 worst."""
    weights = {
        "response_time": 0.4,
        "availability": 0.3,
        "network_usage": 0.1,
        "inter_node_traffic": 0.1,
        "cost": 0.1,
    }
    scale = Scale.of(Objective(weights), RANGES)
    best = {"response_time": 10.0, "inter_node_traffic": 5.0, "cost": 1.0}
    worst = {
        "response_time": 30.0,
        "availability": -math.log(0.25),
        "network_usage": 400.0,
        "inter_node_traffic": 25.0,
        "cost": 2.0,
    }
    between = {
        "response_time": 15.0,
        "availability": -math.log(0.5),
        "network_usage": 100.0,
        "inter_node_traffic": 10.0,
        "cost": 1.1,
    }

    assert f(scale, **best) == pytest.approx(0.0)
    assert f(scale, **worst) == pytest.approx(1.0)
    assert f(scale, **between) == pytest.approx(0.4 * 0.25 + 0.3 * 0.5 + 0.1 * 0.25 + 0.1 * 0.25 + 0.1 * 0.1)
    assert f(scale, **best | {"response_time": 50.0}) == pytest.approx(0.8), "outside the range F goes on"


def test_f_is_its_constant_plus_factors_times_metrics() -> None:
    """The linear form uses these: F of zeros, and F per unit."""
    scale = Scale.of(Objective({"response_time": 0.5, "cost": 0.5}), RANGES)

    assert scale.constant == pytest.approx(f(scale))
    assert scale.factor("cost") == pytest.approx(0.5)
    assert scale.factor("response_time") == pytest.approx(0.025)


def test_a_range_without_width_adds_nothing() -> None:
    """A metric in which all placements are alike cannot distinguish them, not even by rounding."""
    scale = Scale.of(Objective(), RANGES | {"response_time": (7.0, 7.0 + 1e-15)})

    assert f(scale, response_time=7.0 + 1e-15) == 0.0
