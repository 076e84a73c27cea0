"""Rounds of both layers: who gets an executor, on which host, and when hosts come and go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler.elasticity.application_manager.bucket import Bucket
from scheduler.elasticity.application_manager.granting import ApplicationParameters
from scheduler.elasticity.infrastructure_manager.granting import InfrastructureParameters
from scheduler.elasticity.layers import layers
from scheduler.elasticity.layers.observation import LayersObservation, LayersState
from scheduler.elasticity.layers.parameters import LayersParameters, Operator, Region
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Release
from scheduler.elasticity.leasing.host import Host, HostStatus, Offer
from scheduler.elasticity.operator_manager.path import Path, PathPart
from scheduler.elasticity.operator_manager.rolling_parameters import RollingParameters
from scheduler.elasticity.operator_manager.sample import OperatorSample
from scheduler.elasticity.operator_manager.threshold import ThresholdParameters
from scheduler.elasticity.region_manager.idle_pool import IdlePoolParameters

A, B = Component("a", 10, cpu=1, memory_mb=1), Component("b", 10, cpu=1, memory_mb=1)
OFFER = Offer(cpu=2, memory_mb=2, billing_unit_s=600)
MANAGER = ThresholdParameters(executors_max=6)
PARAMETERS = LayersParameters(
    operators=(Operator(A, "north", 20, MANAGER), Operator(B, "south", 20, MANAGER)),
    regions={each: Region(OFFER, IdlePoolParameters(hosts_max=3)) for each in ("north", "south")},
)


def host(name: str, status: HostStatus = "ready", **executors: int) -> Host:
    return Host(name, 2, 2, 600, executors, frozenset(), status)


def sample(component: str, executors: int, busy: float, until_s: float = 60.0) -> OperatorSample:
    return OperatorSample(component, until_s - 60, until_s, executors, 1.0, (busy,) * executors, 10.0)


def seen(now_s: float, north: tuple[Host, ...], *samples: OperatorSample) -> LayersObservation:
    hosts = {"north": north, "south": (host("s1", b=1),)}
    return LayersObservation(now_s, hosts, {each.component: each for each in samples})


STEADY = replace(LayersState(), regions_asked_s=60.0)
"""Regions have just been asked."""


def test_a_granted_executor_starts_on_the_fullest_host_of_its_region() -> None:
    north = (host("n1"), host("n2", a=1), host("n3", "booting"))
    decision, state = layers.decide(
        seen(60, north, sample("a", 1, 0.9), sample("b", 1, 0.5)), STEADY, PARAMETERS, 0
    )
    assert decision["north"].starts == (Change("a", "n2"),)
    assert decision["south"] == LeasingDecision()
    assert state.changed_s == {"a": 60}


def test_an_executor_that_is_not_needed_leaves_the_emptiest_host() -> None:
    north = (host("n1", a=2), host("n2", a=1))
    decision, _ = layers.decide(seen(60, north, sample("a", 3, 0.1)), STEADY, PARAMETERS, 0)
    assert decision["north"].stops == (Change("a", "n2"),)


def test_a_request_without_a_place_is_reported_to_the_region() -> None:
    full = (host("n1", a=2), host("n2", "booting"))
    decision, state = layers.decide(seen(60, full, sample("a", 2, 0.9)), STEADY, PARAMETERS, 0)
    assert decision["north"].starts == ()
    assert decision["north"].reasons[0].why.endswith("no-slot")
    assert state.unmet == {"north": 1}
    _, after = layers.decide(seen(180, full, sample("a", 2, 0.9, 180)), state, PARAMETERS, 0)
    assert after.unmet == {}


def test_regions_are_asked_after_the_application_and_less_often() -> None:
    north = (host("n1", a=1),)
    decision, state = layers.decide(seen(60, north, sample("a", 1, 0.5)), LayersState(), PARAMETERS, 0)
    assert decision["north"].leases == ("lease-1",)
    assert decision["south"].leases == ("lease-2",)
    later, state = layers.decide(seen(120, north, sample("a", 1, 0.5, 120)), state, PARAMETERS, 0)
    assert later["north"].leases == (), "one period has passed, not two"
    once_more, _ = layers.decide(seen(180, north, sample("a", 1, 0.5, 180)), state, PARAMETERS, 0)
    assert once_more["north"].leases == ("lease-3",)


def test_idle_hosts_beyond_the_pool_go_at_once() -> None:
    north = (host("n1", a=1), host("n2"), host("n3"))
    decision, _ = layers.decide(seen(60, north, sample("a", 1, 0.5)), LayersState(), PARAMETERS, 0)
    assert decision["north"].releases == (Release("n3", 60),)


def test_a_budget_is_shared_by_all_regions() -> None:
    tight = replace(PARAMETERS, infrastructure=InfrastructureParameters(budget_per_hour=18.0))
    decision, _ = layers.decide(seen(60, (host("n1", a=1),), sample("a", 1, 0.5)), LayersState(), tight, 0)
    assert decision["north"].leases == ("lease-1",)
    assert decision["south"].leases == (), "three hosts cost 18 per hour"


def test_what_was_not_measured_is_held_and_said() -> None:
    decision, _ = layers.decide(seen(60, (host("n1", a=1),)), STEADY, PARAMETERS, 0)
    assert [each.verdict for each in decision["north"].reasons] == ["held"]
    assert decision["north"].starts == ()


def test_nothing_is_decided_twice_in_a_period() -> None:
    observation = seen(60, (host("n1", a=1),), sample("a", 1, 0.9))
    decision, state = layers.decide(observation, STEADY, PARAMETERS, 0)
    assert decision["north"].starts
    again, _ = layers.decide(replace(observation, now_s=75.0), state, PARAMETERS, 0)
    assert again == {"north": LeasingDecision(), "south": LeasingDecision()}


def test_an_operator_of_no_region() -> None:
    with pytest.raises(ValueError, match=r'^operators\[0\].region: there is no region "east"$'):
        LayersParameters(operators=(Operator(A, "east", 20),), regions={})


def test_a_change_that_could_never_be_afforded() -> None:
    """What stays as it is pauses nothing."""
    spent = ApplicationParameters(pauses=Bucket(per_hour=120, most=19))
    operators = (Operator(A, "north", 20, MANAGER, pause_s=20), Operator(B, "south", 20, pause_s=60))
    why = (
        "expected at least 20, the longest pause of a change, or what pauses so long is never changed, got 19"
    )
    with pytest.raises(ValueError, match=rf"^application\.pauses\.most: {why}$"):
        replace(PARAMETERS, operators=operators, application=spent)
    enough = ApplicationParameters(pauses=Bucket(per_hour=120, most=20))
    assert replace(PARAMETERS, operators=operators, application=enough).application is enough


def test_several_executors_start_and_stop_in_one_round() -> None:
    """As many as hosts have room for."""
    parameters = RollingParameters(path=Path((PathPart("a", 1.0, 10.0, 6),), 400.0))
    given = replace(PARAMETERS, operators=(Operator(A, "north", 400, parameters),))
    north = (host("n1", a=1), host("n2"), host("n3"))
    busy = OperatorSample("a", 0, 60, 1, 26.0, (1.0,), 1e6)
    decision, _ = layers.decide(seen(60, north, busy), STEADY, given, 0)
    assert decision["north"].starts == (Change("a", "n1"), Change("a", "n2"), Change("a", "n2"))
    full = (host("n1", a=1), host("n2", "booting"))
    decision, state = layers.decide(seen(60, full, busy), STEADY, given, 0)
    assert decision["north"].starts == (Change("a", "n1"),)
    assert state.unmet == {"north": 2}
    north = (host("n1", a=2), host("n2", a=2))
    calm = OperatorSample("a", 0, 60, 4, 2.0, (0.05,) * 4, 100.0)
    decision, _ = layers.decide(seen(60, north, calm), STEADY, given, 0)
    assert decision["north"].stops == (Change("a", "n1"), Change("a", "n1"), Change("a", "n2"))


def test_hosts_that_are_paid_for_go_when_that_time_ends() -> None:
    """And only then; hosts that cost nothing are paid for ever."""
    given = replace(PARAMETERS, release_lead_s=60.0)
    north = (
        host("n1", a=1),
        replace(host("n2"), paid_until_s=110.0),
        host("n3"),
        replace(host("n4"), paid_until_s=1e9),
    )
    decision, _ = layers.decide(seen(60, north, sample("a", 1, 0.5)), LayersState(), given, 0)
    assert decision["north"].releases == (Release("n2", 110.0),)


@pytest.mark.parametrize(("now", "free", "starts"), [(4, 2, 2), (4, 1, 1), (8, 4, 4), (8, 3, 0)])
def test_a_part_of_a_step_is_rounded_to_what_does_more(now: int, free: int, starts: int) -> None:
    """Of 24 tasks five executors do more than four, and eleven no more than eight."""
    a = Component("a", 10, cpu=1, memory_mb=1, most=24, tasks=24)
    manager = ThresholdParameters(executors_max=24, tasks=24)
    given = replace(PARAMETERS, operators=(Operator(a, "north", 20, manager),))
    north = (Host("n1", now + free, now + free, 600, {"a": now}),)
    decision, state = layers.decide(seen(60, north, sample("a", now, 0.9)), STEADY, given, 0)
    assert len(decision["north"].starts) == starts
    whole = starts == {4: 2, 8: 4}[now]
    assert any(each.verdict == "limited" for each in decision["north"].reasons) != whole
    assert ("a" in state.changed_s) == (starts > 0)
    assert state.unmet == ({} if whole else {"north": {4: 2, 8: 4}[now] - free})
