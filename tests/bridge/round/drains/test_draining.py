"""Hosts that are to be emptied: nothing comes to them, what runs there leaves within a round's budget."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bridge.round.drains.draining import with_drains
from bridge.round.planner import plan_round
from bridge.round.round_report import HOLD_MS, Course
from bridge.settings import MoveSettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision, Drain, Grouping
from scheduler.contract.children import INLINE
from tests.bridge.round.planner_rounds import GOOD, SCATTERED, hosts_of, only, plan, stopped

FOREVER = b'{"version": 1, "lifetime_s": null}'
STILL = MoveSettings(min_gain=1.0)
SMALL_OR_LARGE = pytest.mark.parametrize("sections", [{}, {"plan": PlanSettings(max_pairs=1)}])


def drained(request, *places):
    return replace(request, drains=tuple(Drain(place, FOREVER, 0) for place in places))


def workers(make, name, sizes, supervisors, ports=6700):
    """A topology of one component with workers of these sizes on these supervisors."""
    topology = make.chain(name, [sum(sizes)], [])
    where = [each for size, each in zip(sizes, supervisors, strict=True) for _ in range(size)]
    return make.assigned(topology, where, ports)


def four(make, *topologies):
    """Four hosts of two slots and four cores, of which nothing is measured."""
    hosts = ("a", "b", "c", "d")
    supervisors = tuple(make.supervisor(host, cpu_percent=400.0) for host in hosts)
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=())


@SMALL_OR_LARGE
def test_what_runs_on_a_drained_host_leaves_it_and_restarts_nothing_else(make, sections):
    """Its worker restarts, the healthy ones do not."""
    request = drained(four(make, workers(make, "t", [3, 3], [0, 1])), "host:a")
    answer = only(request, move=STILL, **sections)
    assert answer.decision is Decision.ASSIGN
    assert "a" not in hosts_of(request, answer)
    assert hosts_of(request, answer)[3:] == ["b"] * 3
    assert answer.executor_port[3:] == (6700,) * 3
    price = answer.price
    assert (price.executors_moved, price.workers_moved, price.executors_restarted) == (3, 1, 3)
    assert "; 3 executors leave drained hosts; placed by" in answer.status


def test_a_site_is_emptied_with_all_its_hosts(make):
    """The site stands in metadata or in readings."""
    request = make.cluster(make.assigned(make.taxi(), GOOD))
    answer = only(drained(request, "site:europe-west1"), move=STILL)
    assert answer.decision is Decision.ASSIGN
    assert not {host for host in hosts_of(request, answer) if host.startswith("europe")}


@SMALL_OR_LARGE
def test_nothing_comes_to_a_drained_host(make, sections):
    """Neither a new topology nor one that ran there before a rebalance and has room elsewhere."""
    new = make.chain("t", [6], [])
    back = replace(new, id="u", last_supervisor=(0,) * 6, last_port=(6700,) * 6)
    request = drained(four(make, new, back), "host:a")
    for answer in plan(request, **sections).response.plans:
        assert answer.decision is Decision.ASSIGN
        assert "a" not in hosts_of(request, answer)


def taken(make, name, hosts=(1, 2, 3), ports=(6700, 6701)):
    """A topology of one executor in each of these slots."""
    slots = [(host, port) for host in hosts for port in ports]
    where, port = zip(*slots, strict=True)
    return make.assigned(make.chain(name, [len(slots)], []), where, port)


@SMALL_OR_LARGE
def test_who_fits_nowhere_else_goes_back_to_a_drained_host(make, sections):
    """After a rebalance: a topology that stands still is worse than a drain that waits."""
    back = replace(make.chain("t", [2], []), last_supervisor=(0, 0), last_port=(6700, 6700))
    request = drained(four(make, back, taken(make, "u")), "host:a")
    done = plan(request, **sections)
    answer = done.response.plans[0]
    assert (answer.decision, hosts_of(request, answer)) == (Decision.ASSIGN, ["a", "a"])


@SMALL_OR_LARGE
def test_what_leaves_takes_no_room_from_what_is_missing(make, sections):
    """One slot is free, and what leaves has the better priority."""
    leaving = replace(workers(make, "t", [2], [0]), storm_json='{"topology.priority": 0}')
    missing = replace(make.chain("v", [2], []), storm_json='{"topology.priority": 29}')
    others = make.assigned(make.chain("u", [5], []), [1, 1, 2, 2, 3], [6700, 6701, 6700, 6701, 6700])
    request = drained(four(make, leaving, missing, others), "host:a")
    done = plan(request, **sections)
    plans = {each.topology_id: each for each in done.response.plans}
    assert plans["v"].decision is Decision.ASSIGN
    assert plans["t"].decision is Decision.KEEP
    assert plans["t"].status.startswith("2 executors stay on drained hosts, as other changes come first; ")
    assert done.response.hold_ms is None


@pytest.mark.parametrize("evict", [False, True])
@SMALL_OR_LARGE
def test_a_topology_that_finds_no_room_keeps_no_other_from_leaving(make, sections, evict):
    """It is pinned to a host that there is not."""
    hopeless = replace(
        make.chain("v", [2], []), settings_json='{"topology.stormplace.pin": {"c0": "host:none"}}'
    )
    request = replace(
        drained(four(make, workers(make, "t", [2], [0]), hopeless), "host:a"), cluster_json="{}"
    )
    settings = sections.get("plan", PlanSettings()).model_copy(update={"evict": evict})
    done = plan(request, plan=settings)
    assert done.on_drained_hosts == 0
    assert {each.topology_id: each.decision for each in done.response.plans} == {
        "t": Decision.ASSIGN,
        "v": Decision.UNPLACEABLE,
    }


@SMALL_OR_LARGE
def test_one_worker_leaves_where_there_is_no_room_for_all(make, sections):
    """A larger budget is no worse than a small one: the small worker has room."""
    topology = workers(make, "t", [2, 3], [0, 0], [6700] * 2 + [6701] * 3)
    others = make.assigned(make.chain("u", [5], []), [1, 1, 2, 2, 3], [6700, 6701, 6700, 6701, 6700])
    supervisors = tuple(
        make.supervisor(host, meta={"stormplace.executors": "5" if host == "a" else "3"}) for host in "abcd"
    )
    request = replace(drained(four(make, topology, others), "host:a"), supervisors=supervisors)
    done = plan(request, **sections)
    assert done.on_drained_hosts == 3
    assert done.response.plans[0].price.executors_restarted == 2


@SMALL_OR_LARGE
def test_no_healthy_worker_restarts_for_a_drain(make, sections):
    """Only the topology's own workers have room."""
    topology = make.assigned(make.chain("t", [5], []), [0, 1, 1, 1, 1], 6700)
    request = drained(
        four(make, topology, taken(make, "u", (1,), (6701,)), taken(make, "v", (2, 3))), "host:a"
    )
    done = plan(request, **sections)
    assert (done.restarts, done.on_drained_hosts) == (0, 1)
    status = {each.topology_id: each.status for each in done.response.plans}
    assert status["t"].startswith("1 executor stays on drained hosts, as ")


def test_each_topology_on_a_drained_host_gets_its_turn(make):
    """What is stuck must not always be asked first; the empty topologies are no turns of theirs."""
    stuck = replace(
        workers(make, "s", [2], [0]), settings_json='{"topology.stormplace.pin": {"c0": "host:b"}}'
    )
    crowd = [replace(make.chain(f"x{number:02}", [0], []), id=f"x{number:02}") for number in range(40)]
    request = four(make, stuck, workers(make, "t", [2], [0], 6701), taken(make, "u", (1,)), *crowd)
    request = drained(request, "host:a")
    tight = MoveSettings(max_restarts_per_round=2)
    left = [plan(replace(request, round_id=f"r{number}"), move=tight).on_drained_hosts for number in range(8)]
    assert min(left) == 2


def test_nothing_moves_to_a_host_that_may_be_of_a_drained_site(make):
    """Its reading, which names the site, is lost."""
    request = make.cluster(make.assigned(make.taxi(), GOOD))
    lost = tuple(each for each in request.readings if each.name != "europe-west1-2")
    bare = tuple(
        replace(each, meta={"stormplace.executors": "2"}, ports=(6700, 6701, 6702))
        for each in request.supervisors
    )
    request = drained(replace(request, readings=lost, supervisors=bare), "site:europe-west1")
    answer = only(request, move=STILL)
    assert answer.decision is Decision.ASSIGN
    assert not {host for host in hosts_of(request, answer) if host.startswith("europe")}


@SMALL_OR_LARGE
def test_the_next_round_moves_nothing(make, sections):
    """An emptied host stays empty, and all others stay as they are."""
    request = drained(four(make, workers(make, "t", [3, 3], [0, 1])), "host:a")
    following = make.carried_out(request, plan(request, move=STILL, **sections).response)
    done = plan(following, move=STILL, **sections)
    assert [each.decision for each in done.response.plans] == [Decision.KEEP]
    assert (done.on_drained_hosts, "drain" in done.response.plans[0].status) == (0, False)


@SMALL_OR_LARGE
def test_as_many_leave_as_may_restart_in_a_round(make, sections):
    """Small workers first; what waits is named, and leaves in the rounds that follow."""
    request = drained(four(make, workers(make, "t", [2, 3], [0, 0], [6700] * 2 + [6701] * 3)), "host:a")
    done = plan(request, move=MoveSettings(max_restarts_per_round=4), **sections)
    answer = done.response.plans[0]
    assert Counter(hosts_of(request, answer))["a"] == 3
    assert answer.status.startswith("moved 2 executors (1 worker restarts): ")
    assert (
        "; 2 executors leave drained hosts; 3 executors stay on drained hosts, as at most 4 may restart now; "
    ) in answer.status
    assert (done.on_drained_hosts, done.restarts) == (3, 2)
    assert done.response.hold_ms is None
    last = plan(
        make.carried_out(request, done.response), move=MoveSettings(max_restarts_per_round=4), **sections
    )
    assert last.on_drained_hosts == 0


def test_a_worker_above_the_budget_leaves_alone(make):
    """It would wait for ever."""
    topologies = (workers(make, name, [4], [0], port) for name, port in (("t", 6700), ("u", 6701)))
    request = drained(four(make, *topologies), "host:a")
    done = plan(request, move=MoveSettings(max_restarts_per_round=1))
    assert sorted(each.decision for each in done.response.plans) == [Decision.KEEP, Decision.ASSIGN]
    assert done.on_drained_hosts == 4
    assert plan(request, move=MoveSettings(max_restarts_per_round=0)).on_drained_hosts == 8


@SMALL_OR_LARGE
def test_what_finds_no_room_runs_on(make, sections):
    """Every other slot belongs to another topology."""
    topologies = (
        workers(make, "t", [2], [0]),
        workers(make, "u", [1] * 6, [1, 1, 2, 2, 3, 3], [6700, 6701] * 3),
    )
    request = drained(four(make, *topologies), "host:a")
    done = plan(request, move=STILL, **sections)
    assert [each.decision for each in done.response.plans] == [Decision.KEEP] * 2
    status = {each.topology_id: each.status for each in done.response.plans}
    assert status["t"].startswith("2 executors stay on drained hosts, as they find no room elsewhere (")
    assert (done.on_drained_hosts, done.left_out, done.response.hold_ms) == (2, (), HOLD_MS)


def test_where_everything_is_drained_nothing_moves(make):
    """And nothing that is missing is placed."""
    request = four(make, workers(make, "t", [2], [0]), make.chain("u", [2], []))
    request = drained(request, *(f"host:{each.host}" for each in request.supervisors))
    kept, missing = plan(request).response.plans
    assert (kept.decision, missing.decision) == (Decision.KEEP, Decision.UNPLACEABLE)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"settings_json": '{"topology.stormplace.frozen": true}'}, "as the topology is frozen"),
        ({"status": "KILLED"}, "as the topology is being killed"),
        (
            {"settings_json": '{"topology.stormplace.pin": {"c0": "host:a"}}'},
            "as c0 is pinned to host:a, where no usable host is permitted",
        ),
    ],
)
def test_what_may_not_leave_stays_and_the_status_says_why(make, change, why):
    """A user's word counts, and Storm ends by itself what is killed."""
    topology = replace(workers(make, "t", [2], [0]), **change)
    answer = only(drained(four(make, topology), "host:a"))
    assert answer.decision is Decision.KEEP
    assert answer.status.startswith(f"2 executors stay on drained hosts, {why}; ")


def test_a_pinned_worker_stays_and_the_others_leave(make):
    """Its executors keep no others on the host."""
    topology = make.chain("t", [1, 2], [Grouping.SHUFFLE])
    topology = replace(topology, settings_json='{"topology.stormplace.pin": {"c0": "host:a"}}')
    request = drained(four(make, make.assigned(topology, [0] * 3, [6700, 6701, 6701])), "host:a")
    answer = only(request)
    assert hosts_of(request, answer)[0] == "a"
    assert "a" not in hosts_of(request, answer)[1:]


def test_missing_executors_come_first(make):
    """A topology that lacks some is made whole, then leaves."""
    topology = make.assigned(make.chain("t", [3], []), [0, 0, UNASSIGNED], [6700, 6700, UNASSIGNED])
    request = drained(four(make, topology), "host:a")
    done = plan(request, move=STILL)
    assert hosts_of(request, done.response.plans[0])[:2] == ["a", "a"]
    last = plan(make.carried_out(request, done.response), move=STILL)
    assert last.on_drained_hosts == 0


def test_nothing_is_evicted_for_what_leaves(make):
    """It could run on where it is."""
    topologies = (
        replace(workers(make, "t", [2], [0]), storm_json='{"topology.priority": 0}'),
        replace(
            workers(make, "u", [1] * 6, [1, 1, 2, 2, 3, 3], [6700, 6701] * 3),
            storm_json='{"topology.priority": 29}',
        ),
    )
    request = replace(drained(four(make, *topologies), "host:a"), cluster_json="{}")
    done = plan(request, plan=PlanSettings(evict=True))
    assert [each.decision for each in done.response.plans] == [Decision.KEEP] * 2


def test_a_gain_comes_before_a_drain_and_delays_it_by_a_round(make):
    """Both in one round would be planned on what the other changes."""
    request = drained(make.cluster(make.assigned(make.taxi(), SCATTERED, 6701)), "host:uniroma2-2")
    done = plan(request)
    (answer,) = done.response.plans
    assert (answer.decision, done.response.hold_ms) == (Decision.ASSIGN, None)
    assert "uniroma2-2" not in hosts_of(request, answer)
    assert done.on_drained_hosts == 0


def test_without_time_nothing_leaves_and_the_count_is_right(make):
    """The clock has run out when the round begins."""
    request = drained(four(make, workers(make, "t", [2], [0])), "host:a")
    done = plan_round(request, Settings(move=STILL), lambda: 0.0, began_s=-120.0)
    assert (done.on_drained_hosts, done.restarts, done.response.hold_ms) == (2, 0, None)


def test_nothing_leaves_beside_what_was_missing_and_not_planned_in_time(make):
    """It would take the room that the next round gives to the other."""
    request = drained(four(make, workers(make, "t", [2], [0]), make.chain("v", [2], [])), "host:a")
    asked = []

    def late(request, settings, course):
        asked.append(course)
        done = plan_round(replace(request, drains=()), settings, stopped)
        in_time = tuple(each for each in done.response.plans if each.topology_id != "v")
        return replace(done, response=replace(done.response, plans=in_time))

    done = with_drains(request, Settings(), late, Course(stopped, 60.0, 0.0, INLINE))
    (answer,) = done.response.plans
    assert answer.status.startswith(
        "2 executors stay on drained hosts, as missing executors were not planned in time; "
    )
    assert (len(asked), done.on_drained_hosts, done.response.hold_ms) == (1, 2, None)


def test_a_bad_drain_is_named_and_empties_nothing(make):
    """In the log's faults, and in the count of its kind."""
    request = replace(four(make, workers(make, "t", [2], [0])), drains=(Drain("host:a", b"[]", 0),))
    done = plan(request)
    assert done.response.plans[0].decision is Decision.KEEP
    assert done.known.fault_counts["drains"] == 1
    assert any(each.startswith("drain host:a is malformed") for each in done.known.named_faults)
