"""Rounds of the policy that sizes components by their load."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler.elasticity.leasing.by_load import sized
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import SizedState
from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Move, Price, Reason, Release
from scheduler.elasticity.leasing.host import Host, Offer
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from tests.scheduler.elasticity.leasing.example import OFFER, A, F, R, host


def decided(
    now_s: float, hosts: list[Host], demand: dict[str, float], state: SizedState | None = None, **changed: Any
) -> tuple[LeasingDecision, SizedState]:
    """Decide a round in which items take 500 ms everywhere."""
    readings = tuple(
        ComponentReading(name, (), 0.0, demand_per_s=each, service_ms=500.0) for name, each in demand.items()
    )
    parameters = SizedParameters(components=(A, F, R), offer=OFFER, **changed)
    return sized.decide(Observation(now_s, tuple(hosts), readings), state or SizedState(), parameters, 0)


def test_what_is_needed_starts_at_once_and_on_hosts_paid_for_longest() -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1}), host("h1", 900, {"A": 1})]
    decision, _ = decided(300, hosts, {"A": 3.2, "F": 3.2, "R": 1.6})
    assert decision.starts == (Change("F", "h1"),)
    assert decision.leases == ()
    assert [each.why for each in decision.reasons] == ["3.2 items/s come, 0 wait, each takes 500 ms"]


def test_hosts_are_leased_for_all_that_has_no_room() -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1})]
    demand = {"A": 11.2, "F": 1.6, "R": 1.6}
    decision, state = decided(300, hosts, demand, penalty=0.001)
    assert [each.host for each in decision.starts] == ["h0", *["lease-1"] * 3, *["lease-2"] * 2]
    assert decision.leases == ("lease-1", "lease-2")
    assert state.leasing.requests == 2


def test_no_host_is_leased_while_late_items_cost_less() -> None:
    """Six executors keep up with what seven were to be 80 % busy with."""
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1})]
    decision, _ = decided(300, hosts, {"A": 11.2, "F": 1.6, "R": 1.6}, penalty=0.00001)
    assert [each.host for each in decision.starts] == ["h0", *["lease-1"] * 3, "lease-2"]
    assert decision.reasons[-1].why.endswith("but late items cost less than a host")


def crowded(waiting: dict[str, float], tasks: int | None = None) -> LeasingDecision:
    """Decide a round on two hosts, no more can be had: A has two executors, F one, and both need three."""
    small = [replace(each, cpu=1.0, memory_mb=1.0, most=tasks, tasks=tasks) for each in (A, F)]
    hosts = (
        Host("h0", 3.0, 3.0, 900.0, {"A": 2, "F": 1}),
        Host("h1", 1.0, 1.0, 900.0),
    )
    readings = tuple(
        ComponentReading(name, (), waiting.get(name, 0.0), demand_per_s=each, service_ms=500.0)
        for name, each in {"A": 3.2, "F": 3.2}.items()
    )
    parameters = SizedParameters(
        components=tuple(small), offer=Offer(3.0, 3.0, 600.0), hosts_max=2, penalty=0.01, target_load=0.8
    )
    decision, _ = sized.decide(Observation(300.0, hosts, readings), SizedState(), parameters, 0)
    return decision


def test_what_comes_goes_before_what_waits_where_room_is_scarce() -> None:
    """A has enough for what comes and much that waits; F, which comes later, does not keep up."""
    decision = crowded({"A": 600.0})
    assert decision.starts == (Change("F", "h1"),)
    assert [each.about for each in decision.reasons if each.verdict == "limited"] == ["A"]


def test_scarce_room_is_not_given_to_a_step_that_does_nothing() -> None:
    """Of four tasks two executors do as much as three; there is no room for four."""
    decision = crowded({"A": 600.0, "F": 600.0}, tasks=4)
    assert decision.starts == (Change("F", "h1"),)


def test_what_is_not_needed_makes_room_before_a_host_is_leased() -> None:
    hosts = [host("h0", 900, {"A": 2, "F": 2, "R": 1})]
    decision, _ = decided(300, hosts, {"A": 3.2, "F": 1.6, "R": 3.2})
    assert decision.stops == (Change("F", "h0"),)
    assert decision.starts == (Change("R", "h0"),)
    assert decision.leases == ()


def test_nothing_stops_that_is_in_the_way_of_nothing() -> None:
    decision, _ = decided(300, [host("h0", 900, {"A": 2, "F": 2, "R": 1})], {"A": 1.0, "F": 1.0, "R": 1.0})
    assert decision == LeasingDecision()


def test_a_host_goes_at_the_end_of_its_paid_time_and_what_is_needed_moves() -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1}), host("h1", 900, {"F": 1, "R": 1})]
    demand = {"A": 1.6, "F": 1.6, "R": 1.6}
    before, state = decided(540, hosts, demand)
    assert before == LeasingDecision(), "it is not in the window yet"
    decision, state = decided(575, hosts, demand, state)
    assert decision.moves == (Move("A", "h0", "h1"),)
    assert decision.stops == (Change("F", "h0"),)
    assert decision.releases == (Release("h0", 600),)
    assert decision.reasons[-1].why == "with it a billing unit costs 1, without it 0.001"
    assert decision.price == Price(pytest.approx(0.001), 1.0, 0.0)
    assert state.leasing.settled == {"h0": 600}


def test_a_peak_keeps_a_host() -> None:
    hosts = [host("h0", 600, {"A": 2, "F": 1}), host("h1", 900, {"A": 2, "F": 1, "R": 1})]
    _, state = decided(60, hosts, {"A": 3.9, "F": 1.6, "R": 1.6})
    low = {"A": 1.6, "F": 1.6, "R": 1.6}
    decision, _ = decided(575, hosts, low, state, penalty=0.001)
    assert decision.prolongations == ("h0",)
    assert decision.reasons[-1].why == "it is worth its cost"
    assert decision.price is not None
    assert decision.price.cost == decision.price.kept_cost
    assert decision.price.bound == pytest.approx(decision.price.cost, abs=0.001)
    decision, _ = decided(575, hosts, low, state, penalty=0.0001)
    assert decision.releases == (Release("h0", 600),), (
        "two of A keep up, and late items cost less than a host"
    )


def test_a_host_is_judged_when_all_that_runs_there_is_known() -> None:
    """Until then it stays, also beyond its paid time."""
    hosts = [host("h0", 600, {"R": 1}), host("h1", 900, {"A": 1, "F": 1, "R": 1})]
    decision, state = decided(575, hosts, {"A": 1.6, "F": 1.6})
    assert decision.releases == ()
    assert decision.reasons[-1].why == "nothing is known of R, which runs there"
    known, _ = decided(590, hosts, {"A": 1.6, "F": 1.6, "R": 1.6}, state)
    assert known.releases == (Release("h0", 600),)
    late, _ = decided(600, hosts, {"A": 1.6, "F": 1.6}, state)
    assert late.prolongations == ("h0",)


def test_the_last_host_stays() -> None:
    decision, _ = decided(575, [host("h0", 600, {"A": 1, "F": 1, "R": 1})], {"A": 1.0, "F": 1.0, "R": 1.0})
    assert decision.reasons[-1].why == "at least 1 hosts stay"


def test_limits_are_named() -> None:
    few = replace(A, most=2)
    readings = (ComponentReading("A", (), 0.0, demand_per_s=16.0, service_ms=500.0),)
    parameters = SizedParameters(components=(few,), offer=OFFER, hosts_max=1)
    observation = Observation(300, (host("h0", 600, {"A": 1}),), readings)
    decision, _ = sized.decide(observation, SizedState(), parameters, 0)
    assert decision.starts == (Change("A", "h0"),), "its need is within its bounds"
    why = "16 items/s come, 0 wait, each takes 500 ms: 10 executors are needed, it may have 2"
    assert Reason("limited", "A", why, "bound") in decision.reasons
    crowded = Observation(300, (host("h0", 600, {"A": 1, "F": 2, "R": 2}),), readings)
    parameters = SizedParameters(components=(A, F, R), offer=OFFER, hosts_max=1)
    decision, _ = sized.decide(crowded, SizedState(), parameters, 0)
    assert "limited" in {each.verdict for each in decision.reasons}
    assert decision.leases == ()
