"""The baseline by lengths of queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Release
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.leasing.state import LeasingState
from scheduler.elasticity.leasing.threshold import ThresholdParameters, decide
from tests.scheduler.elasticity.leasing.example import OFFER, A, F, R, host, reading

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.host import Host

PARAMETERS = ThresholdParameters(components=(A, F, R), offer=OFFER)


def decided(hosts: list[Host], readings: tuple[ComponentReading, ...]) -> LeasingDecision:
    return decide(Observation(300.0, tuple(hosts), readings), LeasingState(), PARAMETERS, seed=0)[0]


@pytest.mark.parametrize(
    ("queued", "executors", "change"), [(251, 3, 2), (51, 3, 1), (50, 3, 0), (0, 3, -1), (0, 1, 0)]
)
def test_paper_003_worked_example_step_7(queued: float, executors: int, change: int) -> None:
    assert PARAMETERS.wanted(queued, executors) == change
    hosts = [host("h0", 600, {"R": executors})]
    decision = decided(hosts, (reading("R", 100, queued),))
    assert len(decision.starts) - len(decision.stops) == change


def test_executors_go_to_the_oldest_lease_with_room() -> None:
    hosts = [host("h0", 600, {"A": 3}), host("h1", 900, {"A": 1}), host("h2", 1000, {})]
    decision = decided(hosts, (reading("A", 100, 51),))
    assert decision.starts == (Change("A", "h1"),)


def test_the_executor_on_the_emptiest_host_stops_and_the_empty_host_goes_at_once() -> None:
    hosts = [host("h0", 600, {"A": 2, "R": 1}), host("h1", 900, {"A": 1})]
    decision = decided(hosts, (reading("A", 100, 0), reading("R", 100, 5)))
    assert decision.stops == (Change("A", "h1"),)
    assert decision.releases == (Release("h1", 300.0),)


def test_the_last_host_stays() -> None:
    decision = decided([host("h0", 600, {})], ())
    assert not decision.releases


def test_the_second_threshold_is_no_less_than_the_first() -> None:
    with pytest.raises(ModelError, match="queue_double: expected a number >= 50, got 40"):
        ThresholdParameters(components=(A,), offer=OFFER, queue_double=40)


def test_hosts_that_are_leaving_or_not_up_yet_stay_as_they_are() -> None:
    """A host that is leaving takes nothing and loses nothing; one that is booting is not empty for good."""
    leaving = host("h0", 600, {"R": 1}, status="leaving")
    decision = decided([leaving, host("h1", 900, {"R": 1})], (reading("R", 100, 51),))
    assert decision.starts == (Change("R", "h1"),)
    decision = decided([leaving, host("h1", 900, {"R": 3})], (reading("R", 100, 0),))
    assert decision.stops == (Change("R", "h1"),)
    hosts = [host("h0", 900, {"R": 1}), host("h1", 900, {"R": 1}), host("h2", 900, {}, status="booting")]
    assert not decided(hosts, (reading("R", 100, 5),)).releases
