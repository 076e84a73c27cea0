"""What is refused, in one sentence with the place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Host, Offer
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.leasing.removal_score import RemovalWeights
from tests.scheduler.elasticity.leasing.example import A, F, host, parameters, reading


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"components": (A, A)}, r'components\[1\].name: "A" is the name of components\[0\] too'),
        (
            {"components": (F, replace(A, memory_mb=2561))},
            r"components\[1\].memory_mb: an executor needs 2561, but a host of the offer has 2560",
        ),
        ({"queue_reading": "all"}, 'queue_reading: expected "waiting" or "in-system", got "all"'),
        ({"queue_down": 51}, r"queue_down: expected at most queue_up \(50\), got 51"),
        ({"hosts_min": 0}, "hosts_min: expected a whole number >= 1, got 0"),
        ({"hosts_min": 3, "hosts_max": 2}, "hosts_max: expected a whole number >= 3, got 2"),
        ({"drop_share_max": 1.5}, "drop_share_max: expected a number >= 0 and <= 1, got 1.5"),
        ({"release_window_share": 0}, "release_window_share: expected a number > 0 and <= 1, got 0"),
        ({"release_lead_s": 601}, r"release_lead_s: expected at most the billing unit \(600 s\), got 601"),
        ({"queue_double": 49}, "queue_double: expected a number >= 50, got 49"),
        ({"sample_age_max_s": 0}, "sample_age_max_s: expected a number > 0, got 0"),
        ({"observations": 0}, "observations: expected a whole number >= 1, got 0"),
        ({"cached_factor": 2}, "cached_factor: expected a number >= 0 and <= 1, got 2"),
        ({"cooldown_s": -1}, "cooldown_s: expected a number >= 0, got -1"),
        ({"penalty": -1}, "penalty: expected a number >= 0, got -1"),
    ],
)
def test_parameters_out_of_their_bounds(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        parameters(**changed)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Component("A", 0, 1, 1), "slo_ms: expected a number > 0, got 0"),
        (lambda: Component("A", 1, 1, 1, least=0), "least: expected a whole number >= 1, got 0"),
        (lambda: Component("A", 1, 1, 1, least=3, most=2), "most: expected a whole number >= 3, got 2"),
        (lambda: Offer(1, 1, 0), "billing_unit_s: expected a number > 0, got 0"),
        (lambda: Host("h", 1, 1, 600, {"A": -1}), "executors.A: expected a whole number >= 0, got -1"),
        (
            lambda: host("h", 600, {}, status="gone"),
            'status: expected "booting" or "ready" or "leaving", got "gone"',
        ),
        (
            lambda: ComponentReading("A", (1.0, -2.0), 1),
            r"durations_ms\[1\]: expected a number >= 0, got -2.0",
        ),
        (lambda: reading("A", 1, float("nan")), "waiting: expected a number >= 0, got nan"),
        (
            lambda: Observation(0, (), (reading("A", 1, 1), reading("A", 2, 2))),
            r'readings\[1\].component: "A" is there twice',
        ),
        (
            lambda: Observation(0, (host("h", 1, {}), host("h", 2, {})), ()),
            r'hosts\[1\].name: "h" is the name of hosts\[0\] too',
        ),
        (lambda: RemovalWeights(delay=-1), "delay: expected a number >= 0, got -1"),
        (lambda: host("h", 1, {}).with_one_less("A"), "executors.A: none of them is on the host h"),
    ],
)
def test_bad_values_of_the_rest(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()


def test_an_executor_may_fill_a_host() -> None:
    large = replace(A, cpu=2048, memory_mb=2560)
    assert parameters(components=(large,)).by_name == {"A": large}
