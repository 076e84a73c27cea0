"""In large rounds small topologies go where their response time is least, and broken pins are mended."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from bridge.network_settings import NetworkSettings
from bridge.round import scale
from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision

WIDE = Settings(network=NetworkSettings(max_hosts=5))
SITES = {f"h{number}": f"s{number // 3}" for number in range(9)}
AT = {"s0": 0.0, "s1": 100.0, "s2": 30.0}


def _request(make, *topologies, ports=(1, 2, 3), read=True, **changes):
    return replace(
        make.cluster(*topologies),
        supervisors=tuple(make.supervisor(host, ports=ports, **changes) for host in SITES),
        readings=tuple(make.reading(host, site, AT[site]) for host, site in SITES.items()) if read else (),
    )


def _chain(make, name="t", pin=None, cpu=10.0, parallelism=(1, 2, 1), **settings):
    pinned = {"topology.stormplace.pin": pin} if pin else {}
    topology = make.chain(name, parallelism, [0] * (len(parallelism) - 1))
    return replace(
        topology,
        settings_json=json.dumps({**pinned, **settings}),
        executor_cpu_percent=(cpu,) * topology.n_executors,
        num_workers=1,
    )


def _plan(request, settings=WIDE):
    return plan_round(request, settings, lambda: 0.0)


def _sites(request, plan):
    return [SITES[request.supervisors[index].host] for index in plan.executor_supervisor]


def test_a_small_topology_is_placed_by_its_response_time(make):
    """Between pins at two sites the bolts belong to one of them, not to the third."""
    request = _request(make, _chain(make, pin={"c0": "site:s0", "c2": "site:s2"}), cpu_percent=400.0)
    (plan,) = _plan(request).response.plans
    assert plan.decision is Decision.ASSIGN
    assert plan.status.startswith("placed by ils (auto): ")
    assert "ms response time over" in plan.status
    sites = _sites(request, plan)
    assert (sites[0], sites[3]) == ("s0", "s2")
    assert set(sites[1:3]) <= {"s0", "s2"}
    assert plan.response_time_ms < 60.0


def test_what_others_use_is_not_offered(make):
    """Each host takes one of these; all nine have a host of their own in the end."""
    many = [_chain(make, f"t{number}", cpu=90.0, parallelism=(1, 2)) for number in range(3)]
    request = _request(make, *many, cpu_percent=100.0)
    plans = _plan(request).response.plans
    assert [plan.decision for plan in plans] == [Decision.ASSIGN] * 3
    used = Counter(index for plan in plans for index in plan.executor_supervisor)
    assert used == dict.fromkeys(range(9), 1)


def test_what_runs_stays(make):
    topology = _chain(make, parallelism=(2, 2))
    running = replace(
        topology, executor_supervisor=(3, UNASSIGNED, 4, 5), executor_port=(1, UNASSIGNED, 1, 1)
    )
    request = _request(make, running, cpu_percent=400.0)
    (plan,) = _plan(request).response.plans
    assert [plan.executor_supervisor[each] for each in (0, 2, 3)] == [3, 4, 5]
    assert plan.executor_port[1] != 1 or plan.executor_supervisor[1] not in {3, 4, 5}
    assert _sites(request, plan) == ["s1"] * 4


@pytest.mark.parametrize(
    ("settings", "read"),
    [(WIDE, False), (WIDE.model_copy(update={"plan": PlanSettings(max_pairs=799)}), True)],
)
def test_without_delays_or_with_many_executors_counts_are_planned(make, settings, read):
    (plan,) = _plan(_request(make, _chain(make), read=read, cpu_percent=400.0), settings).response.plans
    assert plan.status.startswith("placed by packing (auto): ")


def test_where_the_chosen_hosts_have_no_room_counts_are_planned(make):
    """A single host is looked at, and two are needed."""
    one = Settings(network=NetworkSettings(max_hosts=5), plan=PlanSettings(max_hosts=1))
    request = _request(make, _chain(make, cpu=60.0), cpu_percent=100.0, ports=(1,))
    (plan,) = _plan(request, one).response.plans
    assert plan.decision is Decision.ASSIGN
    assert plan.status.startswith("placed by packing (auto): 4 executors on ")


def test_an_overload_is_left_to_the_whole_cluster(make):
    request = _request(make, _chain(make, cpu=60.0, parallelism=(1, 2)), cpu_percent=40.0)
    (plan,) = _plan(request).response.plans
    assert "above what is declared" in plan.status
    strict = WIDE.model_copy(update={"capacity": CapacitySettings(resources="strict")})
    (plan,) = _plan(request, strict).response.plans
    assert plan.decision is Decision.UNPLACEABLE


def test_a_broken_pin_is_mended_in_a_cluster_whose_rounds_are_never_small(make):
    """The executors that may stay do."""
    topology = _chain(make, pin={"c0": "site:s2"}, parallelism=(2, 1))
    running = replace(topology, executor_supervisor=(0, 1, 6), executor_port=(1, 1, 1))
    request = _request(make, running, cpu_percent=400.0)
    done = _plan(request)
    (plan,) = done.response.plans
    assert "2 moved because a pin or avoidance was broken" in plan.status
    assert _sites(request, plan) == ["s2"] * 3
    assert (plan.executor_supervisor[2], plan.executor_port[2]) == (6, 1)
    assert done.moves == plan.price.executors_moved == 2
    following = _plan(make.carried_out(request, done.response)).response
    assert following.plans[0].decision is Decision.KEEP
    assert following.hold_ms is not None


def test_a_broken_pin_is_mended_where_topologies_are_too_many_for_a_small_round(make, monkeypatch):
    """Hosts are few: it is the topologies whose number keeps every round large."""
    monkeypatch.setattr(scale, "MOST_TOPOLOGIES", 1)
    topology = _chain(make, pin={"c0": "site:s2"}, parallelism=(2, 1))
    running = replace(topology, executor_supervisor=(0, 1, 6), executor_port=(1, 1, 1))
    other = replace(_chain(make, "u", parallelism=(1,)), executor_supervisor=(0,), executor_port=(2,))
    request = _request(make, running, other, cpu_percent=400.0)
    mended, kept = _plan(request, Settings()).response.plans
    assert _sites(request, mended) == ["s2"] * 3
    assert kept.status == "kept: runs completely"


def test_a_pin_that_cannot_be_met_does_not_keep_others_from_theirs(make):
    """The first one waits for a host that is not there, the second one runs at none of its places."""
    lost = replace(
        _chain(make, "a", pin={"c0": "host:nowhere"}, parallelism=(1, 1)),
        executor_supervisor=(0, 1),
        executor_port=(2, 2),
    )
    topology = _chain(make, "b", pin={"c0": "site:s2", "c1": "site:s2"}, parallelism=(2, 1))
    running = replace(topology, executor_supervisor=(0, 1, 3), executor_port=(1, 1, 1))
    request = _request(make, lost, running, cpu_percent=400.0)
    response = _plan(request).response
    first, second = response.plans
    assert first.decision is Decision.KEEP
    assert _sites(request, second) == ["s2"] * 3
    following = _plan(make.carried_out(request, response)).response
    assert {plan.decision for plan in following.plans} == {Decision.KEEP}
    assert following.hold_ms is not None


def _two_with_broken_pins(make):
    """Both are to go to the same site and run elsewhere."""
    topologies = [
        replace(
            _chain(make, name, pin={"c0": "site:s2"}, parallelism=(1, 1)),
            executor_supervisor=(0, 1),
            executor_port=(port, port),
        )
        for name, port in (("a", 1), ("b", 2))
    ]
    return _request(make, *topologies, cpu_percent=400.0)


def test_broken_pins_are_mended_one_topology_a_round_and_the_others_say_that_they_wait(make):
    request = _two_with_broken_pins(make)
    response = _plan(request).response
    first = [plan.decision for plan in response.plans]
    assert sorted(first) == sorted((Decision.ASSIGN, Decision.KEEP))
    waiting = response.plans[first.index(Decision.KEEP)]
    assert waiting.status == "kept (pin not met): waits, as one topology is moved in a round"
    following = make.carried_out(request, response)
    again = _plan(following).response
    assert [plan.decision for plan in again.plans] == first[::-1]
    assert _plan(make.carried_out(following, again)).response.hold_ms is not None


def test_a_broken_pin_is_mended_beside_a_topology_that_is_placed(make):
    """Otherwise a cluster in which something comes every round would never get to it."""
    request = _two_with_broken_pins(make)
    new = _chain(make, "new", parallelism=(1, 1))
    response = _plan(replace(request, topologies=(request.topologies[0], new))).response
    assert [plan.decision for plan in response.plans] == [Decision.ASSIGN] * 2


def test_a_round_without_time_for_broken_pins_is_not_held(make):
    request = _two_with_broken_pins(make)
    response = plan_round(replace(request, deadline_ms=0), WIDE, lambda: 0.0).response
    waits = "kept (pin not met): waits for a round with time for it"
    assert [plan.status for plan in response.plans] == [waits] * 2
    assert response.hold_ms is None


def test_those_that_cannot_be_mended_do_not_always_come_first(make):
    """In the time for one, each comes first in some round."""
    request = _two_with_broken_pins(make)
    first = set()
    for number in range(20):
        response = _plan(replace(request, round_id=f"round-{number}")).response
        first |= {plan.topology_id for plan in response.plans if plan.decision is Decision.ASSIGN}
    assert first == {"a", "b"}


def test_a_frozen_topology_stays_with_its_broken_pin(make):
    frozen = _chain(make, pin={"c0": "site:s2"}, parallelism=(1, 1), **{"topology.stormplace.frozen": True})
    running = replace(frozen, executor_supervisor=(0, 1), executor_port=(1, 1))
    (plan,) = _plan(_request(make, running)).response.plans
    assert plan.status == "kept: runs completely"


def test_bad_settings_do_not_keep_a_topology_from_being_looked_at_closely(make):
    topology = replace(_chain(make, parallelism=(2, 2)), settings_json="[")
    running = replace(
        topology, executor_supervisor=(3, UNASSIGNED, 4, 5), executor_port=(1, UNASSIGNED, 1, 1)
    )
    done = _plan(_request(make, running, cpu_percent=400.0))
    assert done.traces == ()
    assert done.response.plans[0].decision is Decision.ASSIGN


def test_a_close_up_that_fails_is_logged_and_counts_are_planned(make, monkeypatch):
    def failing(*_):
        raise ZeroDivisionError("no hope")

    monkeypatch.setattr("bridge.round.small.small_round.place_missing", failing)
    done = _plan(_request(make, _chain(make), cpu_percent=400.0))
    assert done.response.plans[0].status.startswith("placed by packing (auto): ")
    assert [(name, "no hope" in trace) for name, trace in done.traces] == [("t", True)]


def test_hosts_of_isolated_topologies_are_left_alone(make):
    """Though the first executor runs there, near which the others would be best."""
    isolated = make.assigned(_chain(make, "isolated"), (0,) * 4, 1)
    running = make.assigned(_chain(make), (0, *(UNASSIGNED,) * 3), (2, *(UNASSIGNED,) * 3))
    request = replace(
        _request(make, isolated, running, cpu_percent=400.0),
        cluster_json='{"isolation.scheduler.machines": {"isolated": 1}}',
    )
    done = _plan(request)
    assert done.traces == ()
    plan = done.response.plans[1]
    assert plan.status.startswith("placed by ils (auto)")
    assert plan.executor_supervisor[0] == 0
    assert 0 not in plan.executor_supervisor[1:]
