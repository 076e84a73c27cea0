"""Hosts and what runs on them, through boot, start, stop and the end of paid time."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.elasticity.fleet import Fleet
from experiments.elasticity.policy import First
from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Move, Release
from tests.experiments.elasticity.scenarios import OFFER, scenario

EVERY_S = np.arange(0.0, 100.0)


def fleet(**changed: object) -> Fleet:
    given = scenario(**changed)
    return Fleet(given, given.offer["small"], 1, First({"a": 1, "b": 1}, 1))


def test_it_begins_with_one_executor_of_each_component() -> None:
    hosts = fleet()
    (host,) = hosts.seen(0.0)
    assert (dict(host.executors), host.status, host.paid_until_s) == ({"a": 1, "b": 1}, "ready", 600.0)
    assert {name: each.tolist() for name, each in hosts.working(EVERY_S[:2]).items()} == {
        "a": [1, 1],
        "b": [1, 1],
    }


def test_an_executor_works_once_its_host_is_up_and_it_has_started() -> None:
    hosts = fleet()
    hosts.carry_out(LeasingDecision(leases=("l1",), starts=(Change("a", "l1"), Change("b", "first-1"))), 10.0)
    working = hosts.working(EVERY_S)
    assert working["b"].tolist() == [1.0] * 15 + [2.0] * 85, "the image is there: 5 s"
    assert working["a"].tolist() == [1.0] * 60 + [2.0] * 40, "40 s and 10 s"
    assert [each.status for each in hosts.seen(49.0)] == ["ready", "booting"]
    assert [each.paid_until_s for each in hosts.seen(49.0)] == [600.0, 650.0], "billed from when it is up"
    assert fleet(bill_from="request").seen(0.0)[0].paid_until_s == 600.0


def test_what_was_decided_is_seen_at_once() -> None:
    hosts = fleet()
    decided = (
        (LeasingDecision(starts=(Change("a", "first-1"),)), {"a": 2, "b": 1}, "ready", 600.0),
        (LeasingDecision(stops=(Change("b", "first-1"),)), {"a": 2}, "ready", 600.0),
        (LeasingDecision(), {"a": 2}, "ready", 1200.0),
        (LeasingDecision(releases=(Release("first-1", 1200.0),)), {"a": 2}, "leaving", 1200.0),
    )
    for decision, executors, status, paid_until_s in decided:
        hosts.carry_out(decision, 0.0)
        hosts.pass_until(paid_until_s - 600.0 + 1.0)
        (host,) = hosts.seen(0.0)
        assert (dict(host.executors), host.status, host.paid_until_s) == (executors, status, paid_until_s)


def test_what_moves_works_until_it_has_started_anew() -> None:
    hosts = fleet()
    hosts.carry_out(LeasingDecision(leases=("l1",)), 0.0)
    hosts.carry_out(LeasingDecision(moves=(Move("a", "first-1", "l1"),)), 45.0)
    assert hosts.working(EVERY_S)["a"].tolist() == [1.0] * 100
    hosts.pass_until(60.0)
    assert dict(hosts.seen(60.0)[0].executors) == {"b": 1}
    assert dict(hosts.seen(60.0)[1].executors) == {"a": 1}


def test_what_has_not_begun_stops_first() -> None:
    hosts = fleet()
    hosts.carry_out(LeasingDecision(starts=(Change("a", "first-1"),)), 0.0)
    hosts.carry_out(LeasingDecision(stops=(Change("a", "first-1"),)), 2.0)
    assert hosts.working(EVERY_S)["a"].tolist() == [1.0] * 100


def test_what_works_is_counted_through_all_changes() -> None:
    """Minute by minute against a list of what was decided, until a host is given back."""
    hosts = fleet()
    decided = {
        0: LeasingDecision(leases=("l1",), starts=(Change("a", "l1"), Change("a", "first-1"))),
        60: LeasingDecision(starts=(Change("b", "l1"),)),
        180: LeasingDecision(stops=(Change("a", "first-1"),)),
        240: LeasingDecision(moves=(Move("b", "first-1", "l1"),)),
        420: LeasingDecision(releases=(Release("first-1", 600.0),)),
    }
    # a start takes 10 s, 5 with an image, and boot 40 s before it
    expected = {
        "a": [(0, 1), (5, 2), (50, 3), (180, 2), (600, 1)],
        "b": [(0, 1), (70, 2)],
    }
    there = []
    for begin in range(0, 720, 60):
        hosts.carry_out(decided.get(begin, LeasingDecision()), float(begin))
        working = hosts.working(np.arange(float(begin), begin + 60.0))
        for name, steps in expected.items():
            wanted = [next(n for at, n in reversed(steps) if at <= now) for now in range(begin, begin + 60)]
            assert working[name].tolist() == wanted, f"{name} from {begin} s on"
        hosts.pass_until(begin + 60.0)
        there.append(hosts.executors())
    assert there[7:10] == [{"a": 2, "b": 2}, {"a": 2, "b": 2}, {"a": 1, "b": 2}], "until 480, 540 and 600 s"


def test_a_component_that_changes_stands_still_for_a_pause() -> None:
    hosts = fleet(pause_s=20)
    hosts.carry_out(LeasingDecision(starts=(Change("a", "first-1"),)), 10.0)
    working = hosts.working(EVERY_S)
    assert working["a"].tolist() == [1.0] * 10 + [0.0] * 20 + [2.0] * 70
    assert working["b"].tolist() == [1.0] * 100


@pytest.mark.parametrize(("unit_s", "units"), [(600, 5), (1800, 3), (3600, 3)])
def test_started_units_are_paid(unit_s: int, units: int) -> None:
    """Hosts that live from 0 to 1500, 130 to 700 and 800 to 860 s, as in the worked example."""
    hosts = fleet(offer={"small": {**OFFER, "billing_unit_s": unit_s, "boot_s": 0}})
    now_s = 0.0
    for at_s, decision in [
        (130.0, LeasingDecision(leases=("l1",))),
        (700.0, LeasingDecision(releases=(Release("l1", 700.0),))),
        (800.0, LeasingDecision(leases=("l2",))),
        (860.0, LeasingDecision(releases=(Release("l2", 860.0),))),
        (1500.0, LeasingDecision(releases=(Release("first-1", 1500.0),))),
    ]:
        hosts.pass_until(at_s)
        hosts.carry_out(decision, at_s)
        now_s = at_s
    hosts.pass_until(now_s)
    assert hosts.units == units
    assert hosts.hosts == []
    assert (hosts.leases, hosts.releases) == (2, 3)


def test_a_host_goes_at_the_end_of_its_paid_time_without_another_unit() -> None:
    hosts = fleet()
    hosts.carry_out(LeasingDecision(leases=("l1",), releases=(Release("first-1", 600.0),)), 570.0)
    assert [each.status for each in hosts.seen(580.0)] == ["leaving", "booting"]
    hosts.pass_until(615.0)
    assert [each.name for each in hosts.seen(615.0)] == ["l1"]
    assert hosts.units == 2


def test_hosts_are_slow_at_times_whatever_the_policy_does() -> None:
    slow = {"per_minute": 0.5, "lasts_s": 20, "speed": 0.5}
    one, other = fleet(disturbance=slow), fleet(disturbance=slow)
    other.carry_out(LeasingDecision(leases=("l1",)), 0.0)
    times_s = np.arange(0.0, 600.0)
    seen = one.working(times_s)["a"]
    assert set(seen.tolist()) == {0.5, 1.0}
    assert seen.tolist() == other.working(times_s)["a"].tolist()
