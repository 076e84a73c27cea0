"""Hosts become nodes with what others leave; executors may run where pins, health and slots permit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bridge.network.cluster import Host, gather_hosts
from bridge.network.delays import estimate_delays
from bridge.network.links import gather_links
from bridge.network.site_links import gather_site_links
from bridge.problem.frame import NoHostError, make_frame
from bridge.problem.network_part import Surroundings
from bridge.problem.occupancy import RoundState
from bridge.problem.problem_builder import build_problem
from bridge.problem.shortlist import shortlist
from bridge.problem.task import make_task
from bridge.readings.believed import read_nodes
from bridge.round.checks import check_assignment
from bridge.settings import Settings
from bridge.wishes.wishes import wishes_of

SETTINGS = Settings()


def prepare(request, index=0, resources="soft"):
    """The state and the task of one topology."""
    readings = read_nodes(request, {each.host for each in request.supervisors}, SETTINGS.readings)
    capacity = SETTINGS.capacity.model_copy(update={"resources": resources})
    hosts = gather_hosts(request, Settings(capacity=capacity), readings)
    state = RoundState(request, hosts, resources)
    topology = request.topologies[index]
    view = Surroundings(
        estimate_delays(hosts.hosts, readings, SETTINGS.network, gather_links(hosts.hosts, readings, 60.0)),
        np.full(len(hosts.hosts), 0.9),
        gather_site_links(hosts.hosts, SETTINGS.network, {}),
        SETTINGS.network,
    )
    return state, make_task(state, index, wishes_of(topology, SETTINGS.plan), SETTINGS.plan), view


def allowed_names(state, frame, executor):
    return [state.hosts.hosts[frame.hosts[node]].name for node in np.flatnonzero(frame.allowed[executor])]


def test_a_fresh_topology_may_use_every_host(make):
    """Seven nodes with room for two executors each, delays with the overhead of a hop."""
    state, task, view = prepare(make.cluster(make.taxi()))
    frame = make_frame(state, task, [None] * 8)
    problem = build_problem(state, task, frame, view)
    assert frame.allowed.all()
    assert [node.name for node in problem.network.nodes] == sorted(
        each.host for each in state.request.supervisors
    )
    assert {node.capacity["executors"] for node in problem.network.nodes} == {2.0}
    assert {node.availability for node in problem.network.nodes} == {0.9}
    names = problem.network.index
    assert problem.network.delay_ms[names["uniroma2-1"], names["europe-west1-1"]] == pytest.approx(30.2)
    assert problem.application.operators[0].execution_time_ms == SETTINGS.plan.execution_time_ms


@pytest.mark.parametrize(
    ("weights", "weighed"), [({"response_time": 1.0}, False), ({"availability": 1.0}, True)]
)
def test_links_have_an_availability_only_where_it_is_weighed(make, weights, weighed):
    """It is not worked out for the others."""
    request = make.cluster(make.taxi(settings={"weights": weights}))
    link = {"delay_ms": 5.0, "age_s": 0.0, "availability": 0.5}
    reading = make.reading("uniroma2-1", "uniroma2", 0.0, links={"us-east1-1": link})
    request = replace(request, readings=(reading, *request.readings[1:]))
    state, task, view = prepare(request)
    network = build_problem(state, task, make_frame(state, task, [None] * 8), view).network
    assert (network.link_availability is not None) is weighed
    if network.link_availability is not None:
        pair = network.index["uniroma2-1"], network.index["us-east1-1"]
        assert network.link_availability[pair] == network.link_availability[pair[::-1]] == 0.5


def test_workers_are_no_resource_where_they_cannot_run_out(make):
    """Six executors fill one worker of 768 MB at most, and each host has two slots; twenty may fill more."""

    def resources(number):
        topology = replace(make.chain("t", [number], []), component_heap_mb=(128.0,))
        request = make.cluster(topology)
        roomy = {"stormplace.executors": "20"}
        supervisors = tuple(replace(each, meta=each.meta | roomy) for each in request.supervisors)
        state, task, _ = prepare(replace(request, supervisors=supervisors))
        return make_frame(state, task, [None] * number).resources

    assert resources(12) == ("executors",)
    assert resources(20) == ("executors", "workers")


@pytest.mark.parametrize(
    ("key", "heap_mb", "resources", "broken"),
    [
        ("topology.ras.one.executor.per.worker", 1.0, "soft", True),
        ("topology.ras.one.component.per.worker", 1.0, "soft", True),
        ("topology.priority", 1.0, "strict", False),
        ("topology.priority", 400.0, "strict", True),
        ("topology.priority", 400.0, "soft", False),
    ],
)
def test_the_check_names_workers_that_hold_what_they_may_not(make, key, heap_mb, resources, broken):
    """Two components in one worker; what runs there already may go on."""
    topology = replace(
        make.chain("t", [1, 1], [0]), component_heap_mb=(heap_mb,) * 2, storm_json=json.dumps({key: 1})
    )
    state, task, _ = prepare(make.cluster(topology), resources=resources)
    fault = ("worker 6700 on uniroma2-1 may not hold so much",) if broken else ()
    assert check_assignment(state, task, ((0, 6700),) * 2) == fault
    state, task, _ = prepare(make.cluster(make.assigned(topology, [0, 0])), resources=resources)
    assert check_assignment(state, task, ((0, 6700),) * 2) == ()


def test_operators_have_the_execution_times_of_the_graph(make):
    """Measured ones reach the model; here the graph is given them."""
    state, task, view = prepare(make.cluster(make.taxi()))
    times = np.arange(8.0)
    object.__setattr__(task, "graph", replace(task.graph, execution_time_ms=times))
    problem = build_problem(state, task, make_frame(state, task, [None] * 8), view)
    assert problem.application.execution_time_ms.tolist() == times.tolist()


def test_other_topologies_executors_and_slots_are_taken_off(make):
    """One executor of another topology leaves one; a host whose slots are all taken is not open."""
    other = make.assigned(make.chain("a", [1, 2], [0]), [0, 1, 1], [6700, 6700, 6701])
    state, task, view = prepare(make.cluster(other, make.taxi("b")), index=1)
    frame = make_frame(state, task, [None] * 8)
    problem = build_problem(state, task, frame, view)
    nodes = {node.name: node.capacity["executors"] for node in problem.network.nodes}
    assert nodes["uniroma2-1"] == 1.0
    assert "uniroma2-2" not in nodes


def test_pins_and_avoidances_limit_the_nodes(make):
    """A site pin, a host pin, a place that everyone avoids and one that a component avoids."""
    topology = make.taxi(
        settings={
            "pin": {"dataSource": "site:uniroma2", "globalRank": "host:us-east1-1"},
            "avoid": {"*": "host:uniroma2-3", "parser": ["site:us-east1", "site:europe-west1"]},
        }
    )
    state, task, _ = prepare(make.cluster(topology))
    frame = make_frame(state, task, [None] * 8)
    assert allowed_names(state, frame, 0) == ["uniroma2-1", "uniroma2-2"]
    assert allowed_names(state, frame, 1) == ["uniroma2-1", "uniroma2-2"]
    assert allowed_names(state, frame, 7) == ["us-east1-1"]
    assert len(allowed_names(state, frame, 3)) == 6


@pytest.mark.parametrize(
    ("pin", "reason"),
    [
        ("site:atlantis", "parser is pinned to site:atlantis, which is not in the cluster"),
        ("host:uniroma2-1", "parser is pinned to host:uniroma2-1, where no usable host is permitted"),
    ],
)
def test_a_pin_that_no_host_meets_has_a_reason(make, pin, reason):
    """Unknown place, or a known host that is blacklisted."""
    request = make.cluster(make.taxi(settings={"pin": {"parser": pin}}))
    blacklisted = replace(request.supervisors[0], blacklisted=True)
    _, task, _ = prepare(replace(request, supervisors=(blacklisted, *request.supervisors[1:])))
    assert list(task.permits.reasons.values()) == [reason]


def test_executors_that_are_kept_fit_by_definition(make):
    """Three run where two fit: they stay allowed there and nothing else fits, whatever others need."""
    running = make.assigned(make.taxi(), [0, 0, 0, 1, 1, 2, 2, 3])
    state, task, view = prepare(make.cluster(running))
    kept = [state.host_of(slot) for slot in state.assignment(0)]
    frame = make_frame(state, task, [*kept[:7], None])
    problem = build_problem(state, task, frame, view)
    crowded = frame.hosts.tolist().index(kept[0])
    assert frame.capacity[crowded, 0] == 3.0
    assert frame.allowed[0].sum() == 1
    assert problem.current.tolist() == frame.nodes_of(kept).tolist()


def test_a_dead_host_is_a_node_only_for_what_runs_there(make):
    """Its executors are evaluated there, but no free executor may come."""
    request = make.cluster(make.assigned(make.taxi(), [0, 0, 1, 1, 2, 2, 3, 3]))
    dead = replace(request.supervisors[0], alive=False)
    state, task, _ = prepare(replace(request, supervisors=(dead, *request.supervisors[1:])))
    frame = make_frame(state, task, [None] * 8)
    assert "uniroma2-1" in [state.hosts.hosts[host].name for host in frame.hosts]
    assert "uniroma2-1" not in allowed_names(state, frame, 0)


@pytest.mark.parametrize(
    ("resources", "cpu", "memory", "demand"),
    [
        ("soft", 15.0, 200.0, {"executors": 1.0, "cpu_percent": 10.0, "memory_mb": 128.0}),
        ("strict", 15.0, 256.0, {"executors": 1.0, "cpu_percent": 10.0}),
        ("soft", 20.0, 256.0, {"executors": 1.0}),
        ("off", 15.0, 200.0, {"executors": 1.0}),
    ],
)
def test_cpu_and_memory_are_resources_where_they_can_run_out(make, resources, cpu, memory, demand):
    """A host takes two executors of 10 % and 128 MB: what is enough for both is no resource."""
    request = make.cluster(make.taxi())
    supervisors = tuple(replace(each, cpu_percent=cpu, memory_mb=memory) for each in request.supervisors)
    state, task, view = prepare(replace(request, supervisors=supervisors), resources=resources)
    problem = build_problem(state, task, make_frame(state, task, [None] * 8), view)
    capacity = {"executors": 2.0, "cpu_percent": cpu, "memory_mb": memory}
    assert problem.application.operators[0].demand == demand
    assert problem.network.nodes[0].capacity == {name: capacity[name] for name in demand}


def test_only_soft_capacities_stretch(make):
    """The first host's executors are a fair share, the second's are stated; CPU is soft if it is so set."""
    request = make.cluster(make.taxi())
    fair = make.supervisor("a", cpu_percent=100.0)
    stated = make.supervisor("b", cpu_percent=100.0, meta={"stormplace.executors": "2"})
    request = replace(request, supervisors=(fair, stated))
    for resources, cpu in (("soft", 150.0), ("strict", 100.0)):
        state, _, _ = prepare(request, resources=resources)
        assert state.stretches
        assert state.capacity_left(0, 0.5)[:, :2].tolist() == [[6.0, cpu], [2.0, cpu]]


def test_no_open_host_at_all_is_stated(make):
    """A cluster without a usable host."""
    request = make.cluster(make.taxi())
    state, task, _ = prepare(replace(request, supervisors=()))
    with pytest.raises(NoHostError, match="no host has a free worker slot"):
        make_frame(state, task, [None] * 8)


def test_frames_differ_in_their_keys_when_anything_differs(make):
    """Equal frames have equal keys; another fixed executor makes another key."""
    state, task, _ = prepare(make.cluster(make.taxi()))
    key = make_frame(state, task, [None] * 8).key
    assert make_frame(state, task, [None] * 8).key == key
    assert make_frame(state, task, [0, *[None] * 7]).key != key


def test_the_shortlist_takes_the_roomiest_of_each_site_and_of_each_group():
    """Six hosts of two sites; one executor is confined to a small host, which must not be lost."""
    hosts = [Host(f"h{index}", "ab"[index % 2], (index,), True, {}) for index in range(6)]
    room = np.array([9.0, 1.0, 5.0, 8.0, 1.0, 2.0])
    permitted = np.array([[True] * 6, [False, False, False, False, True, False]])
    assert shortlist(range(6), hosts, room, permitted, 3) == [0, 3, 4]
    assert shortlist(range(6), hosts, room, permitted, 6) == [0, 1, 2, 3, 4, 5]


def test_the_shortlist_grows_until_the_executors_have_room():
    """Twice the room of ten executors needs all four hosts of five."""
    hosts = [Host(f"h{index}", None, (index,), True, {}) for index in range(6)]
    assert len(shortlist(range(6), hosts, np.full(6, 5.0), np.ones((10, 6), dtype=bool), 1)) == 4


@pytest.mark.parametrize(
    ("assignment", "fault"),
    [
        ([0, 0, 0, 1, 1, 2, 2, 3], "uniroma2-1 would be overfull"),
        ([5, 0, 0, 1, 1, 2, 2, 3], "executor dataSource[1] may not come to us-east1-1"),
    ],
)
def test_the_daemon_checks_capacity_and_pins_of_its_own_plans(make, assignment, fault):
    """Independently of the strategy that made the plan."""
    state, task, _ = prepare(make.cluster(make.taxi(settings={"pin": {"dataSource": "site:uniroma2"}})))
    assert check_assignment(state, task, [(index, 6700) for index in assignment]) == (fault,)


def test_a_feasible_plan_passes_the_daemons_check(make):
    """Two executors on each of four hosts."""
    state, task, _ = prepare(make.cluster(make.taxi()))
    assert check_assignment(state, task, [(index, 6700) for index in (0, 0, 1, 1, 2, 2, 3, 3)]) == ()
