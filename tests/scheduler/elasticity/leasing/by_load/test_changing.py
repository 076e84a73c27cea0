"""Changes that have a price: when one is made, for how long it is to do, and what it empties."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.elasticity.leasing.by_load import sized
from scheduler.elasticity.leasing.by_load.changing import changing
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.by_load.sizing import Foreseen, SizedState
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.host import Host, Offer
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from tests.scheduler.elasticity.leasing.carried_out import carried_out

if TYPE_CHECKING:
    from collections.abc import Sequence


UNIT_S, PAUSE_S, BOOT_S = 600.0, 10.0, 60.0
OFFER = Offer(4.0, 4.0, UNIT_S, 1.0)
BOLT = Component("t/bolt", 1000.0, 1.0, 1.0, group="t", pause_s=PAUSE_S)
OTHER = Component("u/bolt", 1000.0, 1.0, 1.0, group="u", pause_s=PAUSE_S)


def parameters(*components: Component, **changed: Any) -> SizedParameters:
    """Return parameters by which a change at 10 items/s costs half a host's unit."""
    given = {"penalty": 0.001, "keep_peak_s": 0.0, "decide_interval_s": 0.0, **changed}
    return SizedParameters(components=components or (BOLT,), offer=OFFER, **given)


def reading(demand: float, waiting: float = 0.0, name: str = BOLT.name) -> ComponentReading:
    """Return a reading of a component of which an item takes 500 ms."""
    return ComponentReading(name, (), waiting, demand_per_s=demand, service_ms=500.0)


def hosts(*executors: int, ends: Sequence[float] = ()) -> tuple[Host, ...]:
    """Return hosts with so many executors of the bolt each."""
    return tuple(
        Host(f"h{k}", 4.0, 4.0, ends[k] if ends else 5000.0, {BOLT.name: count} if count else {})
        for k, count in enumerate(executors)
    )


def rounds(
    there: tuple[Host, ...], demand: float, times_s: Sequence[float], own: SizedParameters
) -> list[LeasingDecision]:
    """Decide rounds, each on the outcome of the one before; hosts boot for a minute."""
    state, decisions = SizedState(), []
    asked_s: dict[str, float] = {}
    for now_s in times_s:
        there = tuple(
            replace(each, status="ready")
            if each.status == "booting" and now_s - asked_s[each.name] >= BOOT_S
            else each
            for each in there
        )
        decision, state = sized.decide(Observation(now_s, there, (reading(demand),)), state, own, 0)
        asked_s |= dict.fromkeys(decision.leases, now_s)
        there = carried_out(there, decision, OFFER, now_s)
        decisions.append(decision)
    return decisions


def test_a_change_costs_what_its_pause_and_what_piled_up_make_late() -> None:
    change, _ = changing(
        0.0, {BOLT.name: reading(10.0)}, {BOLT.name: 7}, state_of(parameters(), 10.0), parameters()
    )
    # ten items a second in ten seconds, and as long as a fifth of the time takes to work them off
    assert change.prices == {"t": pytest.approx(0.001 * 10.0 * PAUSE_S * 5.0)}


def state_of(own: SizedParameters, *demand: float, every_s: float = 15.0) -> SizedState:
    """Return a state that has seen demand, the last one now."""
    state = SizedState()
    for k, each in enumerate(demand):
        at_s = every_s * (k + 1 - len(demand))
        state = state.with_readings(at_s, {BOLT.name: reading(each)}, own)
    return state


def test_what_is_only_late_waits_until_that_has_cost_as_much() -> None:
    """Six executors are busy for 83 % of their time: a sixth of the items counts as late, 1 in a unit."""
    decisions = rounds(hosts(4, 2), 10.0, [15.0 * k for k in range(25)], parameters())
    late_per_s = 0.001 * 10.0 * (10.0 * 0.5 / 6.0 - 0.8) / 0.2
    first = round(0.5 / (late_per_s * 15.0))
    assert [k for k, each in enumerate(decisions) if each.starts] == [first]
    assert len(decisions[first].starts) == 1


def test_without_a_pause_it_does_not_wait() -> None:
    free = replace(BOLT, pause_s=0.0)
    decisions = rounds(hosts(4, 2), 10.0, [0.0, 15.0], parameters(free))
    assert len(decisions[0].starts) == 1


def rising_state(own: SizedParameters) -> SizedState:
    """Return a state that has seen demand go up to 13.5 items/s, and owes more than a change costs."""
    return replace(state_of(own, *(8.0 + 0.5 * k for k in range(12))), owed={"t": 9.0}, owed_at_s=0.0)


@pytest.mark.parametrize("there", [hosts(4, 2), hosts(4, 4)], ids=["some room", "waits for hosts"])
def test_what_a_change_is_made_for_is_remembered(there: tuple[Host, ...]) -> None:
    """Until executors on hosts that are asked for now have done as long as they are to do."""
    own = replace(parameters(trend_s=300.0), offer=replace(OFFER, boot_s=BOOT_S))
    decision, after = sized.decide(Observation(15.0, there, (reading(14.0),)), rising_state(own), own, 0)
    assert decision.starts or decision.leases
    assert after.foreseen == {BOLT.name: Foreseen(pytest.approx(24.0), 15.0, 15.0 + 300.0 + 60.0)}


def test_noise_does_not_undo_a_change_while_it_is_to_do() -> None:
    own = parameters()
    level = replace(state_of(own, *[14.0] * 12), foreseen={BOLT.name: Foreseen(18.0, 0.0, 60.0)})
    for now_s, expected in ((59.0, 18.0), (60.0, 14.0), (-1.0, 14.0)):
        change, _ = changing(now_s, {BOLT.name: reading(14.0)}, {BOLT.name: 9}, level, own)
        need = change.needs[BOLT.name]
        assert need.demand_per_s == expected
        assert need.why.startswith(f"{expected:g} items/s {'were foreseen' if expected > 14.0 else 'come'}")
        assert not change.due
        assert change.planned[BOLT.name].demand_per_s == 14.0, "what was foreseen does not renew itself"


def test_less_does_not_replace_what_was_foreseen() -> None:
    own = parameters(BOLT, OTHER)
    state = replace(SizedState(), foreseen={BOLT.name: Foreseen(18.0, 0.0, 60.0)})
    for demand_per_s, expected in ((10.0, 18.0), (20.0, 20.0)):
        planned = {BOLT.name: Foreseen(demand_per_s, 15.0, 135.0), OTHER.name: Foreseen(5.0, 15.0, 135.0)}
        after = state.after(LeasingDecision(), own, 15.0, waiting=frozenset({"t"}), planned=planned)
        assert [each.demand_per_s for each in after.foreseen.values()] == [expected]


def test_what_does_not_keep_up_does_not_wait() -> None:
    (decision,) = rounds(hosts(4, 1), 10.0, [0.0], parameters())
    assert len(decision.starts) == 2


@pytest.mark.parametrize(("waiting", "starts"), [(55.0, 0), (300.0, 8)])
def test_a_backlog_hurries_if_items_wait_for_less_time_with_a_change(waiting: float, starts: int) -> None:
    """Six executors have 2 items/s to spare: 55 items would wait for 756 s in all, 300 for 22,500.

    With a change 55 wait for 1,600 s and 300 for 7,900: ten seconds of pause, and what piles up.
    """
    own = parameters(drain_s=20.0, penalty=0.00001)
    there = (*hosts(4, 2), *(replace(each, name=f"more-{k}") for k, each in enumerate(hosts(0, 0, 0, 0))))
    observation = Observation(0.0, there, (reading(10.0, waiting),))
    decision, _ = sized.decide(observation, SizedState(), own, 0)
    assert len(decision.starts) == starts


def test_starts_wait_for_the_host_that_they_need_and_come_all_at_once() -> None:
    """One executor has room now and the others have not: two changes would be two pauses."""
    times_s = [15.0 * k for k in range(12)]
    own = parameters(penalty=0.01, target_load=0.5)
    decisions = rounds(hosts(4, 3), 12.0, times_s, own)
    leasing = next(k for k, each in enumerate(decisions) if each.leases)
    starting = [k for k, each in enumerate(decisions) if each.starts]
    assert len(starting) == 1
    assert times_s[starting[0]] - times_s[leasing] == BOOT_S
    assert len(decisions[starting[0]].starts) == 5
    assert sum(len(each.leases) for each in decisions) == 1, "no more while it boots"


def test_what_hurries_does_not_wait_for_hosts() -> None:
    decision, _ = sized.decide(
        Observation(0.0, hosts(4, 1), (reading(30.0),)), SizedState(), parameters(penalty=0.01), 0
    )
    assert decision.leases
    assert len([each for each in decision.starts if each.host == "h1"]) == 3


def test_one_topology_waits_and_another_one_does_not() -> None:
    own = parameters(BOLT, OTHER, penalty=0.00001)
    there = tuple(replace(each, executors={BOLT.name: 2, OTHER.name: 1}) for each in hosts(1))
    readings = (reading(3.5), reading(3.5, name=OTHER.name))
    decision, _ = sized.decide(Observation(0.0, there, readings), SizedState(), own, 0)
    assert {each.component for each in decision.starts} == {OTHER.name}


def test_a_change_is_to_do_for_as_long_as_is_cheapest() -> None:
    """Demand rises by 0.02 items/s in each second."""
    own = parameters(trend_s=300.0, ahead_s=30.0, penalty=0.0003)
    seen = [10.0 + 0.3 * k for k in range(-20, 1)]
    state = state_of(own, *seen)
    change, _ = changing(0.0, {BOLT.name: reading(10.0)}, {BOLT.name: 7}, state, own)
    price = 0.0003 * (10.0 + 0.02 * 30.0) * PAUSE_S * 5.0
    executors_per_s = 0.02 * 0.5 / 0.8
    ahead_s = math.sqrt(2.0 * price / (executors_per_s * 0.25 * 1.0 / UNIT_S))
    assert ahead_s < 300.0
    assert change.needs[BOLT.name].demand_per_s == pytest.approx(10.0 + 0.02 * ahead_s)
    dear = replace(own, penalty=1.0)
    change, _ = changing(0.0, {BOLT.name: reading(10.0)}, {BOLT.name: 7}, state, dear)
    assert change.needs[BOLT.name].demand_per_s == pytest.approx(16.0), "no further than the trend was seen"


def test_a_host_is_not_emptied_before_it_would_have_saved_what_that_costs() -> None:
    """A change costs one and a half units, and a host has saved one at its first end."""
    own = parameters(penalty=0.003, target_load=0.8)
    (decision,) = rounds(hosts(4, 4, 4, ends=(5000.0, 5000.0, 600.0)), 10.0, [595.0], own)
    assert decision.prolongations == ("h2",)
    assert "would have saved 1 so far" in decision.reasons[-1].why


def test_the_second_end_pays_for_the_change_and_all_that_are_not_needed_go_with_it() -> None:
    own = parameters(penalty=0.003, hosts_min=1)
    there = hosts(4, 4, 4, 4, ends=(9000.0, 9000.0, 600.0, 900.0))
    state, released = SizedState(), []
    for now_s in (595.0, 895.0):
        decision, state = sized.decide(Observation(now_s, there, (reading(10.0),)), state, own, 0)
        released.append([each.host for each in decision.releases])
        there = tuple(
            replace(each, paid_until_s=each.paid_until_s + UNIT_S)
            if each.name in decision.prolongations
            else each
            for each in there
        )
    assert released[0] == []
    assert sorted(released[1]) == ["h2", "h3"]
    assert state.spare == 0.0


def test_a_host_on_which_nothing_runs_goes_for_nothing() -> None:
    own = parameters(penalty=1.0)
    decisions = rounds(hosts(4, 4, 0, ends=(9000.0, 9000.0, 600.0)), 10.0, [595.0], own)
    assert [each.host for each in decisions[0].releases] == ["h2"]
    assert not decisions[0].moves
    assert not decisions[0].stops


def test_a_clock_that_is_set_back_counts_nothing() -> None:
    own = parameters()
    state = replace(SizedState(), owed={"t": 0.1}, owed_at_s=500.0)
    state = state.with_readings(100.0, {BOLT.name: reading(10.0)}, own)
    _, after = changing(100.0, {BOLT.name: reading(10.0)}, {BOLT.name: 6}, state, own)
    assert after.owed == {"t": 0.1}


def test_what_waits_is_worked_off_before_a_host_is_emptied() -> None:
    """Sixty items, whatever emptying would save."""
    own = parameters(penalty=0.00001)
    there = hosts(4, 4, 4, ends=(9000.0, 9000.0, 600.0))
    decided = [
        sized.decide(Observation(595.0, there, (reading(10.0, waiting),)), SizedState(), own, 0)[0]
        for waiting in (60.0, 40.0)
    ]
    assert [[each.host for each in decision.releases] for decision in decided] == [[], ["h2"]]
    assert decided[0].reasons[-1].why == "what waits is worked off first"


def test_a_host_stays_while_nothing_is_known_of_what_it_was_leased_for() -> None:
    """Both for what waited for it and for what could not start all at once."""
    own = parameters(BOLT, OTHER, penalty=0.01)
    there = tuple(replace(each, executors={BOLT.name: 3, OTHER.name: 1}) for each in hosts(3))
    both = (reading(30.0), reading(1.0, name=OTHER.name))
    leasing, state = sized.decide(Observation(0.0, there, both), SizedState(), own, 0)
    assert leasing.leases
    up = (*there, replace(hosts(0)[0], name="new", paid_until_s=40.0))
    other = (reading(1.0, name=OTHER.name),)
    silent, _ = sized.decide(Observation(30.0, up, other), state, own, 0)
    assert silent.releases == ()
    assert silent.reasons[-1].why == "nothing is known just now of what it was leased for"
    late, _ = sized.decide(
        Observation(330.0, (up[0], replace(up[1], paid_until_s=340.0)), other), state, own, 0
    )
    assert [each.host for each in late.releases] == ["new"], "not for ever"
    gone, _ = sized.decide(
        Observation(30.0, (replace(up[0], executors={OTHER.name: 1}), up[1]), other),
        state,
        parameters(OTHER, penalty=0.01),
        0,
    )
    assert [each.host for each in gone.releases] == ["new"], "nor for what is gone"
    sure, _ = sized.decide(Observation(30.0, up, (reading(1.0), *other)), state, own, 0)
    assert [each.host for each in sure.releases] == ["new"], "nor for what does not need it any more"


@pytest.mark.parametrize(("boot_s", "waits"), [(15.0, True), (25.0, False), (None, False)])
def test_what_hurries_waits_for_hosts_that_boot_sooner_than_it_loses_by_that(
    boot_s: float | None, waits: bool
) -> None:
    """Half of what comes is not served: as much in 15 s as in a pause of 7.5 s."""
    offer = replace(OFFER, boot_s=boot_s)
    own = SizedParameters(components=(BOLT,), offer=offer, penalty=0.01, keep_peak_s=0.0)
    there = tuple(replace(each, cpu=5.0, memory_mb=5.0) for each in hosts(4))
    decision, _ = sized.decide(Observation(0.0, there, (reading(16.0),)), SizedState(), own, 0)
    assert decision.leases
    assert bool(decision.starts) != waits


def test_what_waits_for_a_host_is_looked_at_as_soon_as_that_is_up() -> None:
    """Not only once the interval between two looks has passed."""
    own = SizedParameters(
        components=(BOLT,), offer=replace(OFFER, boot_s=15.0), penalty=0.01, decide_interval_s=600.0
    )
    there = hosts(4)
    decision, state = sized.decide(Observation(0.0, there, (reading(16.0),)), SizedState(), own, 0)
    assert decision.leases
    assert not decision.starts
    up = tuple(replace(each, status="ready") for each in carried_out(there, decision, OFFER, 0.0))
    decision, _ = sized.decide(Observation(15.0, up, (reading(16.0),)), state, own, 0)
    assert len(decision.starts) == 6


def test_a_host_of_which_not_all_is_known_does_not_go_with_others() -> None:
    """One goes at its end, and all that are not needed would with it; what is unknown may not be moved."""
    own = parameters(BOLT, OTHER, penalty=0.00001)
    first, ending, *_ = hosts(4, 4, ends=(9000.0, 600.0))
    other = replace(first, name="h2", paid_until_s=900.0, executors={OTHER.name: 4})
    room = replace(first, name="h3", executors={})
    there = (first, ending, other, room)
    known = (reading(5.0), reading(5.0, name=OTHER.name))
    for readings, released in ((known, {"h1", "h2"}), (known[:1], {"h1"})):
        decision, _ = sized.decide(Observation(595.0, there, readings), SizedState(), own, 0)
        assert {each.host for each in decision.releases} == released
        assert all(each.component == BOLT.name for each in decision.moves) or len(readings) == 2


def test_what_hosts_have_cost_in_vain_is_remembered_over_an_end_at_which_all_are_needed() -> None:
    own, there = parameters(penalty=0.003), hosts(4, 4, 4, ends=(9000.0, 9000.0, 600.0))
    state, released = SizedState(), []
    for end_s, demand in ((600.0, 10.0), (1200.0, 19.0), (1800.0, 10.0)):
        there = (*there[:2], replace(there[2], paid_until_s=end_s))
        decision, state = sized.decide(Observation(end_s - 5.0, there, (reading(demand),)), state, own, 0)
        released.append(len(decision.releases))
    assert released == [0, 0, 1]


def test_what_goes_for_nothing_does_not_pay_for_what_has_its_price() -> None:
    """What hosts have cost in vain is remembered when an idle one goes."""
    own = parameters(penalty=0.003)
    there = hosts(4, 4, 0, ends=(9000.0, 9000.0, 600.0))
    state = replace(SizedState(), spare=0.7)
    decision, state = sized.decide(Observation(595.0, there, (reading(10.0),)), state, own, 0)
    assert [each.host for each in decision.releases] == ["h2"]
    assert state.spare == 0.7
