"""The policy by billing units, on the worked example and on its edges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing.btu import decide
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Move, Release
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from scheduler.elasticity.leasing.state import LeasingState
from tests.scheduler.elasticity.leasing.example import (
    RISING,
    SHORT_QUEUE,
    TREND,
    A,
    F,
    R,
    host,
    parameters,
    reading,
)

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.host import Host

BEFORE_STEP_3 = [host("h0", 600, {"A": 2, "F": 2, "R": 1}), host("h1", 900, {"A": 2, "F": 2, "R": 1})]
BEFORE_STEP_4 = [host("h0", 1200, {"A": 1, "F": 1, "R": 1}), host("h1", 900, {"A": 2, "F": 2, "R": 1})]
QUIET = (reading("A", 1200, 0), reading("F", 500, 0), reading("R", 1000, 0))
SCALINGS = {"A": 4, "F": 3, "R": 3}


def decided(
    now_s: float,
    hosts: list[Host],
    readings: tuple[ComponentReading, ...],
    state: LeasingState | None = None,
    **changed: Any,
) -> tuple[LeasingDecision, LeasingState]:
    return decide(
        Observation(now_s, tuple(hosts), readings), state or LeasingState(), parameters(**changed), seed=0
    )


def test_paper_003_worked_example_step_1() -> None:
    """A is late, F will be, R has a short queue; both go to the tighter but better balanced host."""
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1}), host("h1", 900, {"A": 1}, images="A")]
    readings = (reading("A", RISING, 120), reading("F", TREND, 60), reading("R", SHORT_QUEUE, 30))
    decision, state = decided(300, hosts, readings)
    assert decision.starts == (Change("A", "h0"), Change("F", "h0"))
    assert not decision.leases
    assert not decision.stops
    assert state.scalings == {"A": 1, "F": 1}


def test_paper_003_worked_example_step_2() -> None:
    """No host has room for F: one R leaves h1, whose room then suits F best, and no host is leased."""
    hosts = [host("h0", 600, {"A": 2, "F": 2, "R": 1}), host("h1", 900, {"A": 2, "F": 1, "R": 2})]
    readings = (reading("A", 1450, 40), reading("F", 700, 300), reading("R", 900, 0))
    decision, state = decided(420, hosts, readings, LeasingState({"A": 4, "F": 2, "R": 2}))
    assert decision.stops == (Change("R", "h1"),)
    assert decision.starts == (Change("F", "h1"),)
    assert not decision.leases
    assert state.scalings == {"A": 4, "F": 3, "R": 3}


def test_paper_003_worked_example_step_3() -> None:
    """A and F may lose an executor each, but what is left of h0 has no room: it is prolonged."""
    readings = (reading("A", 1600, 20), reading("F", 650, 10), reading("R", 1400, 5))
    decision, state = decided(570, BEFORE_STEP_3, readings, LeasingState(SCALINGS))
    assert replace(decision, reasons=()) == LeasingDecision(prolongations=("h0",))
    assert state.scalings == SCALINGS


def test_paper_003_worked_example_step_4() -> None:
    """One of each stops, F and then A move, and h1 is gone at the end of its paid time."""
    decision, state = decided(870, BEFORE_STEP_4, QUIET, LeasingState(SCALINGS))
    assert sorted(decision.stops, key=lambda each: each.component) == [
        Change("A", "h1"),
        Change("F", "h1"),
        Change("R", "h1"),
    ]
    assert decision.moves == (Move("F", "h1", "h0"), Move("A", "h1", "h0"))
    assert decision.releases == (Release("h1", 900),)
    assert not decision.prolongations
    assert state.scalings == {"A": 5, "F": 4, "R": 4}


def test_a_host_is_judged_once_per_unit() -> None:
    """Between the verdict and the end of the paid time it stays as it is, whatever else is read."""
    first, state = decided(870, BEFORE_STEP_4, QUIET, LeasingState(SCALINGS), hosts_min=2)
    second, _ = decided(885, BEFORE_STEP_4, QUIET, state)
    assert first.prolongations == ("h1",)
    assert replace(second, reasons=()) == LeasingDecision()


def test_outside_the_window_nothing_is_given_back() -> None:
    decision, _ = decided(869, BEFORE_STEP_4, QUIET)
    assert replace(decision, reasons=()) == LeasingDecision()
    wider, _ = decided(869, BEFORE_STEP_4, QUIET, release_lead_s=31)
    assert wider.releases


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"hosts_min": 2}, "at least 2 hosts stay"),
        ({"now_s": 900}, "has passed before it was looked at"),
        ({"readings": QUIET[:2]}, "nothing is known of R"),
        ({"state": LeasingState(leased_s=800.0), "cooldown_s": 180}, "a host has just been leased"),
    ],
    ids=["last hosts", "seen late", "no reading", "cool-down"],
)
def test_a_host_is_kept_for_a_reason(changed: dict[str, Any], why: str) -> None:
    arguments: dict[str, Any] = {"now_s": 870, "hosts": BEFORE_STEP_4, "readings": QUIET, **changed}
    decision, _ = decided(**arguments)
    assert decision.prolongations == ("h1",)
    assert any(why in each.why for each in decision.reasons if each.about == "h1")


def test_after_it_has_grown_a_component_keeps_its_executors_for_a_while() -> None:
    """Then A on h1 has to move, for which there is no room with R beside it."""
    state = LeasingState(SCALINGS, grown_s={"A": 800.0, "F": 800.0, "R": 800.0})
    assert decided(870, BEFORE_STEP_4, QUIET, state)[0].releases
    assert not decided(870, BEFORE_STEP_4, QUIET, state, cooldown_s=180)[0].releases


def test_a_host_is_leased_where_nothing_can_stop() -> None:
    """Requests are numbered on, so that a repeated one is known to be the same."""
    hosts = [host("h0", 600, {"A": 3, "F": 1, "R": 1})]
    readings = (reading("A", RISING, 120), reading("F", 500, 5), reading("R", 900, 5))
    decision, state = decided(300, hosts, readings, LeasingState(requests=4))
    assert decision.leases == ("lease-5",)
    assert decision.starts == (Change("A", "lease-5"),)
    assert (state.requests, state.leased_s) == (5, 300)


def test_two_components_share_a_host_that_is_being_leased() -> None:
    hosts = [host("h0", 600, {"A": 3})]
    late = (reading("A", RISING, 120), reading("F", 700, 120), reading("R", 1400, 120))
    decision, _ = decided(300, hosts, late)
    assert decision.leases == ("lease-1",)
    assert [each.host for each in decision.starts] == ["lease-1", "lease-1", "h0"]


@pytest.mark.parametrize(
    ("limit", "about"),
    [
        ({"hosts_max": 1}, "there are 1 hosts at most"),
        ({"components": (replace(A, most=3), F, R)}, "it has 3 executors at most"),
    ],
)
def test_limits_are_named(limit: dict[str, Any], about: str) -> None:
    hosts = [host("h0", 600, {"A": 3, "F": 1, "R": 1})]
    readings = (reading("A", RISING, 120), reading("F", 500, 5), reading("R", 900, 5))
    decision, _ = decided(300, hosts, readings, **limit)
    assert replace(decision, reasons=()) == LeasingDecision()
    assert [each.verdict for each in decision.reasons if about in each.why] == ["limited"]


def test_components_are_looked_at_once_per_interval() -> None:
    """Ends of paid time are looked at in between."""
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1}), host("h1", 900, {"A": 1})]
    readings = (reading("A", RISING, 120), reading("F", 500, 0), reading("R", 900, 0))
    state = LeasingState(looked_at_s=300.0)
    early, between = decided(359, hosts, readings, state)
    assert not early.starts
    assert between.looked_at_s == 300.0
    assert decided(360, hosts, readings, state)[0].starts
    assert decided(299, hosts, readings, state)[0].starts, "a clock that was set back stops nothing"


def test_both_readings_of_the_queue() -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1})]
    readings = (
        ComponentReading("A", RISING, waiting=49, in_service=2),
        reading("F", 500, 0),
        reading("R", 900, 0),
    )
    assert not decided(300, hosts, readings)[0].starts
    assert decided(300, hosts, readings, queue_reading="in-system")[0].starts


def test_a_long_queue_may_ask_for_two_late_or_not() -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1})]
    readings = (reading("A", 100, 10), reading("F", 100, 10), reading("R", 100, 251))
    assert not decided(300, hosts, readings)[0].starts
    twice, _ = decided(300, hosts, readings, queue_double=250)
    assert twice.starts == (Change("R", "h0"), Change("R", "h0"))


@pytest.mark.parametrize(
    ("late", "why"),
    [
        (reading("A", RISING, 120, age_s=121), "the reading is 121 s old, the limit is 120 s"),
        (reading("A", RISING, 120, age_s=10), "the reading is from before the last change"),
        (reading("A", (), 120), "nothing that it has processed is recorded"),
    ],
    ids=["too old", "before a change", "no duration"],
)
def test_readings_that_do_not_count_hold_their_component_loudly(late: ComponentReading, why: str) -> None:
    hosts = [host("h0", 600, {"A": 1, "F": 1, "R": 1})]
    readings = (late, reading("F", 500, 0), reading("R", 900, 0))
    decision, _ = decided(300, hosts, readings, LeasingState(changed_s={"A": 290.0}))
    assert not decision.starts
    assert [(each.verdict, each.about) for each in decision.reasons if each.why == why] == [("held", "A")]


def test_names_that_the_parameters_do_not_know_are_refused() -> None:
    with pytest.raises(ModelError, match=r'observation.readings\[0\].component: no component "X"'):
        decided(0, [], (reading("X", 1, 1),))
    with pytest.raises(ModelError, match=r'observation.hosts\[0\].executors: no component "X"'):
        decided(0, [host("h0", 600, {"X": 1})], ())


def test_what_has_just_been_started_makes_no_room() -> None:
    """A grows onto the last room; F, which comes after it, gets a host of its own."""
    hosts = [host("h0", 600, {"A": 1, "F": 3})]
    readings = (reading("A", (1400.0, 1490.0, 1495.0), 51), reading("F", 700, 51), reading("R", 100, 5))
    decision, _ = decided(300, hosts, readings, LeasingState({"R": 10}))
    assert decision.starts == (Change("A", "h0"), Change("F", "lease-1"))
    assert not decision.stops


def test_a_host_that_has_just_been_given_an_executor_is_kept() -> None:
    hosts = [host("h0", 900, {"A": 1}, images=""), host("h1", 600, {"R": 1}), host("h2", 900, {}, images="")]
    readings = (reading("A", 100, 5), reading("R", 1400, 51))
    decision, _ = decided(580, hosts, readings)
    assert decision.starts == (Change("R", "h1"),)
    assert decision.prolongations == ("h1",)
    assert decided(580, hosts, (readings[0], reading("R", 1400, 5)))[0].releases == (Release("h1", 600),)


def test_stops_that_do_not_help_are_not_made() -> None:
    """Q suits best, but its host has no room without it either; P on the other host makes room alone."""
    large, p, q = Component("L", 100, 1, 1000), Component("P", 100, 1, 400), Component("Q", 100, 1, 300)
    hosts = [host("h0", 900, {"P": 2, "X": 1}), host("h1", 900, {"Q": 2, "Y": 1})]
    filling = (Component("X", 100, 1, 1160), Component("Y", 100, 1, 1860))
    readings = (reading("L", 200, 51), reading("P", 50, 5), reading("Q", 50, 0))
    decision, _ = decided(300, hosts, readings, components=(large, p, q, *filling))
    assert decision.stops == (Change("P", "h0"),)
    assert decision.starts == (Change("L", "h0"),)


def test_a_host_that_is_not_up_takes_nothing_that_has_to_move() -> None:
    """It may be given new executors, which wait for it."""
    full = host("h0", 1200, {"A": 2, "F": 2, "R": 1})
    going = host("h1", 900, {"A": 1})
    state = LeasingState(grown_s=dict.fromkeys("AFR", 869.0))
    hosts = [full, going, host("h2", 1400, {}, status="booting")]
    assert not decided(870, hosts, QUIET, state, cooldown_s=10)[0].releases
    hosts = [full, going, host("h2", 1400, {})]
    assert decided(870, hosts, QUIET, state, cooldown_s=10)[0].releases
    late = (reading("A", RISING, 120), reading("F", 500, 5), reading("R", 900, 5))
    decision, _ = decided(300, [full, host("h2", 1400, {}, status="booting")], late)
    assert decision.starts == (Change("A", "h2"),)


def test_a_host_that_is_not_up_at_the_end_of_its_paid_time_is_prolonged() -> None:
    up = [host("h0", 1200, {}), host("h2", 1200, {})]
    decision, _ = decided(870, [*up, host("h1", 900, {}, status="booting")], QUIET)
    assert replace(decision, reasons=()) == LeasingDecision(prolongations=("h1",))


def test_a_host_that_is_leaving_is_left_alone() -> None:
    """It is neither judged again nor given executors."""
    leaving = host("h2", 900, {}, status="leaving")
    decision, _ = decided(870, [host("h0", 1200, {}), host("h1", 1200, {}), leaving], QUIET)
    assert replace(decision, reasons=()) == LeasingDecision()
    late = (reading("A", RISING, 120), reading("F", 500, 5), reading("R", 900, 5))
    decision, _ = decided(300, [host("h0", 1200, {"A": 3}), leaving], late)
    assert decision.starts == (Change("A", "lease-1"),)


def test_a_lease_of_the_same_round_counts_for_the_cool_down() -> None:
    late = (reading("A", RISING, 120), reading("F", 2000, 5), reading("R", 900, 5))
    hosts = [host("h0", 1200, {"A": 3}), host("h1", 900, {"A": 3}), host("h2", 900, {"R": 1, "F": 4})]
    for cooldown_s in (0, 180):
        decision, _ = decided(870, hosts, late, cooldown_s=cooldown_s)
        assert decision.leases == ("lease-1",)
        assert any(each.why == "a host has just been leased" for each in decision.reasons) == (cooldown_s > 0)


def test_leases_of_a_round_are_numbered_apart() -> None:
    large = (replace(A, cpu=2000), replace(F, cpu=2000))
    decision, _ = decided(300, [], (reading("A", RISING, 51), reading("F", 700, 51)), components=large)
    assert decision.leases == ("lease-1", "lease-2")


def test_moves_are_changes_too() -> None:
    """Readings from before them do not count; hosts that are gone are forgotten."""
    hosts = [host("h0", 1200, {"R": 1}), host("h1", 900, {"A": 1, "F": 1})]
    decision, state = decided(870, hosts, QUIET, LeasingState(settled={"gone": 600.0}))
    assert len(decision.moves) == 2
    assert state.changed_s == {"A": 870, "F": 870}
    assert state.settled == {"h1": 900}
