"""How many executors and hosts a rate needs."""

from __future__ import annotations

import pytest

from experiments.lab_elasticity.sizes import executors_for, hosts_for, sleepers_for


@pytest.mark.parametrize(
    ("rate", "service_ms", "executors"),
    [
        (1.0, 100.0, 1),
        (20.0, 120.0, 3),
        # a host more than 3.75: 24 tasks on four executors are six for each
        (20.0, 150.0, 4),
        # nine would be as busy as eight
        (60.0, 100.0, 8),
        (60.0, 150.0, 12),
        # more than one for each task there cannot be
        (500.0, 150.0, 24),
    ],
)
def test_no_executor_is_busier_than_it_is_to_be(rate: float, service_ms: float, executors: int) -> None:
    assert executors_for(rate, service_ms) == executors


def test_hosts_have_room_for_source_sink_and_acker_too() -> None:
    sleepers = sleepers_for(30.0)
    assert sum(each.executors for each in sleepers) == 24
    assert hosts_for(sleepers, 6) == 5
    assert hosts_for(sleepers, 27) == 1
    assert hosts_for(sleepers, 26) == 2
