"""How many executors and hosts a rate needs."""

from __future__ import annotations

import pytest

from experiments.lab_elasticity.sizes import executors_for, hosts_for, sizes_for
from experiments.lab_elasticity.workloads.chosen import BY_NAME
from experiments.lab_elasticity.workloads.workload import Scaled


@pytest.mark.parametrize(
    ("rate", "service_ms", "executors"),
    [
        (1.0, 100.0, 1),
        (20.0, 120.0, 3),
        # more than 3.75: 120 tasks on four executors are thirty for each
        (20.0, 150.0, 4),
        (60.0, 150.0, 12),
        # eleven are enough, if their busiest has eleven tasks
        (60.0, 140.0, 11),
        # 21 would be as busy as 23: their busiest have six tasks, as of 20
        (60.0, 280.0, 24),
        # more than one for each task there cannot be
        (900.0, 150.0, 120),
    ],
)
def test_no_executor_is_busier_than_it_is_to_be(rate: float, service_ms: float, executors: int) -> None:
    assert executors_for(rate, Scaled("parse", service_ms, 120)) == executors


def test_hosts_have_room_for_source_sink_and_acker_too() -> None:
    sleeping = BY_NAME["sleeping"]
    sizes = sizes_for(sleeping, 30.0)
    assert sum(sizes.values()) == 22
    assert hosts_for(sleeping, sizes, 6) == 5
    assert hosts_for(sleeping, sizes, 25) == 1
    assert hosts_for(sleeping, sizes, 24) == 2
