"""Small rounds give a topology the workers that Storm's keys ask for."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from bridge.settings import CapacitySettings, MoveSettings
from bridge.wire.messages import UNASSIGNED, Decision, Grouping
from tests.bridge.round.planner_rounds import GOOD, hosts_of, only, plan

HEAP = "topology.worker.max.heap.size.mb"
ONE_EXECUTOR = "topology.ras.one.executor.per.worker"
ONE_COMPONENT = "topology.ras.one.component.per.worker"
FAVORED = "topology.scheduler.favored.nodes"
UNFAVORED = "topology.scheduler.unfavored.nodes"
STRICT = CapacitySettings(resources="strict")


def _cluster(make, *topologies, hosts=4, ports=4, **changes):
    """Hosts of which nothing is measured."""
    slots = tuple(range(6700, 6700 + ports))
    supervisors = tuple(make.supervisor(f"h{number}", ports=slots, **changes) for number in range(hosts))
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=())


def _chain(make, parallelism, workers=1, heap_mb=None, **storm):
    topology = make.chain("t", parallelism, [Grouping.SHUFFLE] * (len(parallelism) - 1))
    return replace(
        topology,
        num_workers=workers,
        component_heap_mb=None if heap_mb is None else (heap_mb,) * len(parallelism),
        storm_json=json.dumps(storm),
    )


def _slots(answer):
    return Counter(zip(answer.executor_supervisor, answer.executor_port, strict=True))


def _components(topology, answer):
    """Components of each worker."""
    held = {}
    slots = zip(answer.executor_supervisor, answer.executor_port, strict=True)
    for component, slot in zip(topology.executor_component, slots, strict=True):
        held.setdefault(slot, []).append(component)
    return sorted(held.values())


def test_workers_are_as_many_as_heap_makes_them(make):
    """Eight executors of 200 MB in workers of 700 MB: three each at most."""
    answer = only(_cluster(make, _chain(make, [4, 4], heap_mb=200.0, **{HEAP: 700}), hosts=1))
    assert sorted(_slots(answer).values()) == [2, 3, 3]
    assert {port for _, port in _slots(answer)} == {6700, 6701, 6702}


def test_without_any_key_a_host_has_one_worker(make):
    answer = only(_cluster(make, _chain(make, [4, 4]), hosts=1))
    assert list(_slots(answer).values()) == [8]


def test_a_host_gets_no_more_executors_than_its_slots_have_heap_for(make):
    """Two slots of three executors on each host: no strategy puts all eight on one."""
    topology = _chain(make, [4, 4], heap_mb=200.0, **{HEAP: 700})
    request = _cluster(make, topology, hosts=2, ports=2, meta={"stormplace.executors": "8"})
    answer = only(request, capacity=STRICT)
    assert max(Counter(hosts_of(request, answer)).values()) <= 6
    assert max(_slots(answer).values()) <= 3


def test_strict_heap_that_no_slots_suffice_for_is_refused(make):
    topology = _chain(make, [4, 4], heap_mb=200.0, **{HEAP: 700})
    answer = only(_cluster(make, topology, hosts=1, ports=2), capacity=STRICT)
    assert answer.decision is Decision.UNPLACEABLE
    assert "workers" in answer.status


@pytest.mark.parametrize("meta", [{}, {"stormplace.executors": "8"}])
def test_soft_heap_gives_way_and_is_named(make, meta):
    """Six executors fit by heap, eight come: evenly, and the status line says how full the workers are."""
    topology = _chain(make, [4, 4], heap_mb=200.0, **{HEAP: 700})
    answer = only(_cluster(make, topology, hosts=1, ports=2, meta=meta))
    assert sorted(_slots(answer).values()) == [4, 4]
    assert "h0 at 133% of its workers' heap" in answer.status


def test_heap_limits_nothing_where_resources_are_off(make):
    topology = _chain(make, [4, 4], heap_mb=200.0, **{HEAP: 700})
    answer = only(_cluster(make, topology, hosts=1, ports=1), capacity=CapacitySettings(resources="off"))
    assert list(_slots(answer).values()) == [8]
    assert "above what is declared" not in answer.status


def test_executors_of_different_heap_share_workers_only_as_far_as_these_hold_them(make):
    """Of 500 and 300 MB in 768: by the count alone all of them would fit into two workers."""
    topology = replace(_chain(make, [1, 3]), component_heap_mb=(500.0, 300.0))
    answer = only(_cluster(make, topology, hosts=2, ports=2), capacity=STRICT)
    heap = {0: 500.0, 1: 300.0}
    assert all(sum(map(heap.get, held)) <= 768.0 for held in _components(topology, answer))


def test_each_executor_has_its_own_worker_if_asked(make):
    answer = only(_cluster(make, _chain(make, [3, 4], **{ONE_EXECUTOR: True})))
    assert set(_slots(answer).values()) == {1}


def test_a_rule_never_gives_way(make):
    answer = only(_cluster(make, _chain(make, [3, 4], **{ONE_EXECUTOR: True}), hosts=3, ports=2))
    assert answer.decision is Decision.UNPLACEABLE
    assert "workers" in answer.status


def test_a_worker_holds_one_component_if_asked(make):
    """Six components of two executors on hosts of four slots: not all on one host."""
    topology = _chain(make, [2] * 6, **{ONE_COMPONENT: True})
    request = _cluster(make, topology, hosts=2, meta={"stormplace.executors": "12"})
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert all(len(set(held)) == 1 for held in _components(topology, answer))


def test_executors_that_come_one_by_one_do_not_mix_components(make):
    """Three executors of one component are lost; two workers of the other run, one slot is free."""
    topology = _chain(make, [3, 3], **{ONE_COMPONENT: True})
    running = make.assigned(topology, [-1, -1, -1, 0, 0, 0], [-1, -1, -1, 6700, 6700, 6701])
    answer = only(_cluster(make, running, hosts=1, ports=3))
    assert _components(topology, answer) == [[0, 0, 0], [1], [1, 1]]
    full = only(_cluster(make, running, hosts=1, ports=2))
    assert full.decision is Decision.UNPLACEABLE


@pytest.mark.parametrize(("executors", "asked"), [([4, 4], 4), ([4, 5], 4), ([2, 1], 8), ([3, 4], 2)])
def test_there_are_as_many_workers_as_asked_for_at_most_one_per_executor(make, executors, asked):
    answer = only(_cluster(make, _chain(make, executors, workers=asked), hosts=1, ports=8))
    assert len(_slots(answer)) == min(asked, sum(executors))
    assert max(_slots(answer).values()) - min(_slots(answer).values()) <= 1 + (sum(executors) % asked > 0)
    assert "were asked for" not in answer.status


def test_workers_are_as_many_as_slots_allow(make):
    answer = only(_cluster(make, _chain(make, [4, 4], workers=4), hosts=1, ports=3))
    assert len(_slots(answer)) == 3
    assert ", on 3 workers where 4 were asked for" in answer.status


def test_heap_may_need_more_workers_than_asked_for(make):
    topology = _chain(make, [4, 4], workers=2, heap_mb=200.0, **{HEAP: 400})
    answer = only(_cluster(make, topology, hosts=2))
    assert sorted(_slots(answer).values()) == [2, 2, 2, 2]
    assert ", on 4 workers where 2 were asked for" in answer.status


def test_hosts_are_no_more_than_workers_asked_for(make):
    """The fair share of hosts of one core spreads eight executors over eight of them."""
    spread = only(_cluster(make, _chain(make, [4, 4]), hosts=8, cpu_percent=100.0))
    assert len(_slots(spread)) == 8
    asked = only(_cluster(make, _chain(make, [4, 4], workers=3), hosts=8, cpu_percent=100.0))
    assert sorted(_slots(asked).values()) == [2, 3, 3]
    assert "asked for" not in asked.status


def test_hosts_that_run_executors_already_are_among_those_asked_for(make):
    """One executor runs on the fourth host; a fair share would spread the other seven."""
    topology = make.assigned(_chain(make, [4, 4], workers=2), [3] + [-1] * 7, [6700] + [-1] * 7)
    request = _cluster(make, topology, hosts=8, cpu_percent=100.0)
    assert Counter(hosts_of(request, only(request))) == {"h3": 4, "h0": 4}


def test_of_the_hosts_those_are_left_that_hold_most(make):
    """One core and twice three: seven executors fill them all, and two workers are asked for."""
    request = _cluster(make, _chain(make, [3, 4], workers=2), hosts=3, cpu_percent=300.0)
    small = replace(request.supervisors[0], cpu_percent=100.0)
    request = replace(request, supervisors=(small, *request.supervisors[1:]))
    assert set(hosts_of(request, only(request))) == {"h1", "h2"}


def test_hosts_are_chosen_that_have_slots_for_as_many_workers_as_asked_for(make):
    """All four executors would fit into the two slots of one host."""
    request = make.cluster(_chain(make, [2, 2], workers=4))
    roomy = {"stormplace.executors": "8"}
    supervisors = tuple(replace(each, meta=each.meta | roomy) for each in request.supervisors)
    answer = only(replace(request, supervisors=supervisors))
    assert sorted(_slots(answer).values()) == [1, 1, 1, 1]


def test_slots_are_looked_for_elsewhere_where_even_workers_would_be_too_few(make):
    """Nine executors in workers of three would fill the three slots of one host, but four are asked for."""
    request = make.cluster(_chain(make, [4, 5], workers=4))
    ports = (6700, 6701, 6702)
    supervisors = tuple(
        replace(each, ports=ports, meta=each.meta | {"stormplace.executors": "9"})
        for each in request.supervisors
    )
    assert len(_slots(only(replace(request, supervisors=supervisors)))) == 4


@pytest.mark.parametrize(
    ("executors", "asked", "hosts", "workers"),
    [
        ([3, 3], 4, (1,) * 6, 4),
        ([4, 5], 4, (1,) * 4, 4),
        ([4, 5], 4, (1,) * 6, 4),
        ([3, 4], 5, (3, 3), 5),
        ([6, 5], 10, (3, 2, 4), 9),
        ([50, 50], 40, (2,) * 20, 40),
        ([50, 50], 40, (2,) * 30, 40),
        ([50, 50], 40, (2,) * 15, 30),
    ],
)
def test_executors_that_do_not_divide_evenly_make_as_many_workers_as_slots_allow(
    make, executors, asked, hosts, workers
):
    """Even workers, filled to the brim, would leave slots of other hosts unused."""
    supervisors = tuple(
        make.supervisor(f"h{host}", ports=tuple(range(ports))) for host, ports in enumerate(hosts)
    )
    request = _cluster(make, _chain(make, executors, workers=asked))
    answer = only(replace(request, supervisors=supervisors))
    assert len(_slots(answer)) == workers
    assert ("were asked for" in answer.status) is (workers != asked)


def test_as_many_workers_as_asked_for_are_there_whatever_room_hosts_have(make):
    """Even workers do not fit: the second and third host take one executor each, the first one the rest."""
    request = _cluster(make, _chain(make, [2, 3], workers=3), hosts=4, ports=1)
    room = ("3", "1", "1", "0")
    supervisors = tuple(
        replace(each, meta={"stormplace.executors": count})
        for each, count in zip(request.supervisors, room, strict=True)
    )
    request = replace(request, supervisors=supervisors)
    assert Counter(hosts_of(request, only(request))) == {"h0": 3, "h1": 1, "h2": 1}


def test_of_the_hosts_those_are_taken_that_have_room_for_all_in_as_many_workers_as_asked_for(make):
    """Those that hold most have room for eight, and two workers are asked for nine executors."""
    request = make.cluster(_chain(make, [5, 4], workers=2))
    room, sites = ("2", "7", "6"), ("a", "b", "a")
    supervisors = tuple(
        make.supervisor(
            f"h{host}",
            site=sites[host],
            meta={"stormplace.site": sites[host]} | {"stormplace.executors": room[host]},
        )
        for host in range(3)
    )
    request = replace(request, supervisors=supervisors, readings=())
    answer = only(request)
    assert set(hosts_of(request, answer)) == {"h1", "h2"}
    assert len(_slots(answer)) == 2


def test_lost_executors_make_no_more_workers_than_asked_for(make):
    """One of two workers runs on a host of which most is used; the lost ones would take two new workers."""
    topology = _chain(make, [3, 3], workers=2)
    running = make.assigned(topology, [0] * 3 + [-1] * 3, [6700] * 3 + [-1] * 3)
    request = _cluster(make, running, hosts=3, ports=3, meta={"stormplace.executors": "4"})
    answer = only(request)
    assert len(_slots(answer)) == 2
    assert answer.price.executors_restarted == 0


def test_of_executors_at_one_site_only_as_many_workers_come_as_it_has_slots_for(make):
    """Hosts to which no executor may come are not counted on."""
    topology = _chain(make, [3, 3], workers=4)
    pins = {"topology.stormplace.pin": {"c0": "host:h1", "c1": "host:h1"}}
    answer = only(_cluster(make, replace(topology, settings_json=json.dumps(pins)), hosts=4, ports=2))
    assert {host for host, _ in _slots(answer)} == {1}
    assert ", on 2 workers where 4 were asked for" in answer.status


def test_a_wider_plan_stands_where_the_hosts_asked_for_do_not_suffice(make):
    request = _cluster(
        make, _chain(make, [4, 4], workers=2), hosts=4, ports=2, meta={"stormplace.executors": "2"}
    )
    answer = only(request)
    assert len(set(hosts_of(request, answer))) == 4
    assert ", on 4 workers where 2 were asked for" in answer.status


def test_lost_executors_make_up_for_workers_that_are_missing(make):
    """Three of four workers run; the two executors of the lost one get a worker of their own."""
    topology = _chain(make, [4, 4], workers=4)
    running = make.assigned(
        topology, [0, 0, 0, 0, 0, 0, -1, -1], [6700] * 2 + [6701] * 2 + [6702] * 2 + [-1] * 2
    )
    answer = only(_cluster(make, running, hosts=1))
    assert _slots(answer) == {(0, port): 2 for port in (6700, 6701, 6702, 6703)}
    assert answer.price.executors_restarted == 0


def test_a_running_worker_is_left_as_it_is_whatever_its_heap(make):
    """It holds five times what it may; what was lost does not join it, and it is not split."""
    topology = _chain(make, [5, 5], heap_mb=200.0, **{HEAP: 400})
    running = make.assigned(topology, [0] * 8 + [-1] * 2, [6700] * 8 + [-1] * 2)
    answer = only(_cluster(make, running, hosts=1))
    assert _slots(answer) == {(0, 6700): 8, (0, 6701): 2}
    assert only(_cluster(make, make.assigned(topology, [0] * 10), hosts=1)).decision is Decision.KEEP
    assert _slots(only(_cluster(make, running, hosts=1, ports=2), capacity=STRICT)) == _slots(answer)


def test_a_gain_takes_no_more_workers_than_asked_for(make):
    """Two workers far from each other would be better as three hosts, but two are asked for."""
    scattered = [0, 5, 0, 5, 0, 5, 0, 5]
    roomy = make.cluster()
    supervisors = tuple(
        replace(each, meta=each.meta | {"stormplace.executors": "4" if index in (0, 5) else "3"})
        for index, each in enumerate(roomy.supervisors)
    )

    def answer(workers):
        topology = replace(make.assigned(make.taxi(), scattered), num_workers=workers)
        return only(replace(make.cluster(topology), supervisors=supervisors))

    free, asked = answer(1), answer(2)
    assert (free.decision, len(_slots(free))) == (Decision.ASSIGN, 3)
    assert asked.decision is Decision.KEEP or len(_slots(asked)) == 2


def test_a_gain_that_takes_more_workers_is_refused_without_their_number(make):
    """How many the best candidate takes is a matter of noise, and Nimbus logs each change of a status."""
    request = make.cluster(replace(make.assigned(make.taxi(), [5, 5, 0, 5, 5, 5, 5, 0]), num_workers=2))
    room = ("4", "4", "4", "3", "4", "4", "4")
    supervisors = tuple(
        replace(each, meta=each.meta | {"stormplace.executors": count})
        for each, count in zip(request.supervisors, room, strict=True)
    )
    answer = only(replace(request, supervisors=supervisors))
    assert answer.status.startswith(
        "kept: best candidate takes more workers than the 2 that were asked for ("
    )


def test_a_gain_takes_no_fewer_workers_than_asked_for(make):
    """Without the host of the other site all is nearer, but the two that are left have four slots."""
    sites = ("a", "b", "a")
    running = make.assigned(_chain(make, [3, 3]), [0, 0, 1, 1, 2, 2], [6700, 6701, 6700, 6700, 6700, 6701])

    def answer(workers):
        request = make.cluster(replace(running, num_workers=workers))
        supervisors = tuple(
            make.supervisor(
                f"h{host}", site=site, meta={"stormplace.site": site, "stormplace.executors": "6"}
            )
            for host, site in enumerate(sites)
        )
        return only(replace(request, supervisors=supervisors, readings=()))

    free, asked = answer(4), answer(5)
    assert (free.decision, len(_slots(free))) == (Decision.ASSIGN, 4)
    assert asked.decision is Decision.KEEP
    assert asked.status.startswith(
        "kept: best candidate takes fewer workers than the 5 that were asked for ("
    )


def test_another_number_of_workers_means_a_new_placement(make):
    """A rebalance to four workers hides what ran, and the shim sends no last slots then."""
    request = make.cluster(replace(make.taxi(), num_workers=4))
    assert len(_slots(only(request, move=MoveSettings()))) == 4


def test_the_same_number_of_workers_brings_back_what_ran(make):
    topology = replace(make.taxi(), num_workers=2, last_supervisor=tuple(GOOD), last_port=(6700,) * 8)
    answer = only(make.cluster(topology), move=MoveSettings())
    assert list(answer.executor_supervisor) == GOOD


def test_unfavored_hosts_are_used_only_if_the_others_do_not_suffice(make):
    def answer(number):
        request = make.cluster(
            replace(
                make.chain("t", [number], []),
                storm_json=json.dumps({UNFAVORED: ["uniroma2-1", "uniroma2-2", "uniroma2-3"]}),
            )
        )
        found = only(request)
        return found, {host for host in hosts_of(request, found) if host.startswith("uniroma2")}

    enough, none = answer(8)
    assert not none
    assert "unfavored" not in enough.status
    short, some = answer(10)
    assert some
    assert ", some on unfavored hosts as no others have room" in short.status


def test_nothing_moves_to_an_unfavored_host_for_a_gain(make):
    """Hosts take one executor each; of those that are better none is to be used."""
    running = make.assigned(make.chain("t", [1, 1], [Grouping.SHUFFLE]), [0, 5])

    def decision(*unfavored):
        request = make.cluster(replace(running, storm_json=json.dumps({UNFAVORED: unfavored})))
        one = {"stormplace.executors": "1"}
        supervisors = tuple(replace(each, meta=each.meta | one) for each in request.supervisors)
        return only(replace(request, supervisors=supervisors)).decision

    others = ["uniroma2-2", "uniroma2-3", "europe-west1-1", "europe-west1-2", "us-east1-2"]
    assert decision() is Decision.ASSIGN
    assert decision(*others[:-1]) is Decision.ASSIGN
    assert decision(*others) is Decision.KEEP


def test_favored_hosts_come_first_where_they_are_as_good(make):
    """All hosts are alike: without the key the first one is taken."""
    one = make.chain("t", [1, 1], [Grouping.SHUFFLE])
    request = _cluster(make, one)
    assert set(hosts_of(request, only(request))) == {"h0"}
    request = _cluster(make, replace(one, storm_json=json.dumps({FAVORED: ["h2"]})))
    assert set(hosts_of(request, only(request))) == {"h2"}


def test_a_favored_host_that_is_worse_is_not_taken(make):
    """One slow hop to the only other favored host."""
    storm = json.dumps({FAVORED: ["uniroma2-1", "us-east1-1"]})
    pinned = {"pin": {"c0": "host:uniroma2-1", "c1": "host:uniroma2-1"}}
    first = make.chain("t", [2, 1], [Grouping.SHUFFLE])
    settings = json.dumps({"topology.stormplace.pin": {"c0": pinned["pin"]["c0"]}})
    request = make.cluster(replace(first, storm_json=storm, settings_json=settings))
    assert hosts_of(request, only(request))[2] in ("uniroma2-2", "uniroma2-3")


def _two(make, **first):
    """Two topologies, each of which fills most of the cluster."""
    return make.cluster(replace(make.taxi("a"), **first), make.taxi("b"))


@pytest.mark.parametrize(
    ("first", "served"),
    [
        ({}, "a"),
        ({"storm_json": json.dumps({"topology.priority": 30})}, "b"),
        ({"storm_json": json.dumps({"topology.priority": 28})}, "a"),
        ({"launched_s": 7}, "b"),
        ({"launched_s": 7, "storm_json": json.dumps({"topology.priority": 28})}, "a"),
    ],
)
def test_priority_then_submission_then_id_decide_who_is_served_first(make, first, served):
    answers = {each.topology_id: each.decision for each in plan(_two(make, **first)).response.plans}
    other = {"a": "b", "b": "a"}[served]
    assert answers == {served: Decision.ASSIGN, other: Decision.UNPLACEABLE}


@pytest.mark.parametrize(
    ("status", "phrase"),
    [
        ("INACTIVE", "kept: deactivated"),
        ("KILLED", "kept: being killed"),
        ("REBALANCING", "kept: being rebalanced"),
    ],
)
def test_a_topology_that_does_no_work_is_not_moved_for_a_gain(make, status, phrase):
    running = make.assigned(make.chain("t", [1, 1], [Grouping.SHUFFLE]), [0, 5])
    assert only(make.cluster(replace(running, status="ACTIVE"))).decision is Decision.ASSIGN
    answer = only(make.cluster(replace(running, status=status)))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith(phrase)


def test_missing_executors_of_a_deactivated_topology_are_placed(make):
    running = make.assigned(make.chain("t", [1, 1], [Grouping.SHUFFLE]), [0, UNASSIGNED], [6700, UNASSIGNED])
    assert only(make.cluster(replace(running, status="INACTIVE"))).decision is Decision.ASSIGN
