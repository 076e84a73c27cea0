"""Executors get slots: each exactly one, free or their topology's own, and those that stay keep theirs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.network.cluster import gather_hosts
from bridge.problem.occupancy import RoundState
from bridge.problem.workers import workers_of
from bridge.readings.believed import read_nodes
from bridge.round.checks import check_slots
from bridge.round.small import slots as slots_module
from bridge.round.small.slots import NoSlotError
from bridge.settings import ReadingsSettings, Settings
from bridge.wishes.storm_settings import parse_storm_settings


def state_of(request):
    readings = read_nodes(request, {each.host for each in request.supervisors}, ReadingsSettings())
    return RoundState(request, gather_hosts(request, Settings(), readings), "soft")


def assign_slots(state, topology, placement, storm=None, **how):
    needs = workers_of(state.request.topologies[topology], parse_storm_settings(json.dumps(storm or {})))
    return slots_module.assign_slots(state, topology, placement, needs, **how)


def host(state, name):
    return next(index for index, each in enumerate(state.hosts.hosts) if each.name == name)


def test_a_new_topology_gets_one_worker_per_host_at_the_lowest_free_port(make):
    """Six executors on the first host and two on the second: two slots."""
    state = state_of(make.cluster(make.taxi()))
    first, second = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    assert assign_slots(state, 0, [first] * 6 + [second] * 2) == ((0, 6700),) * 6 + ((1, 6700),) * 2


def test_ports_of_other_topologies_are_not_free(make):
    """The lowest port is taken: the next one is used; when all are taken there is no slot."""
    other = make.assigned(make.taxi("a"), [0] * 8, [6700] * 8)
    state = state_of(make.cluster(other, make.taxi("b")))
    assert set(assign_slots(state, 1, [host(state, "uniroma2-1")] * 8)) == {(0, 6701)}
    both = make.assigned(make.taxi("a"), [0] * 8, [6700, 6701] * 4)
    state = state_of(make.cluster(both, make.taxi("b")))
    with pytest.raises(NoSlotError, match="host uniroma2-1 has no free worker slot"):
        assign_slots(state, 1, [host(state, "uniroma2-1")] * 8)


def test_executors_that_stay_keep_their_slots_and_others_join_the_lowest(make):
    """Two workers of one topology on a host stay two; the newcomer joins the lower one."""
    running = make.assigned(make.taxi(), [0, 0, 1, 1, 1, 1, 1, 1], [6701, 6700, *[6700] * 6])
    state = state_of(make.cluster(running))
    here, there = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    slots = assign_slots(state, 0, [here, here, here, *[there] * 5])
    assert slots == ((0, 6701), (0, 6700), (0, 6700), *((1, 6700),) * 5)


def test_lost_executors_take_a_free_slot_and_leave_healthy_workers_alone(make):
    """Two executors were lost with their host; the worker on the other one goes on as it is."""
    running = make.assigned(make.taxi(), [-1, -1, *[1] * 6], [-1, -1, *[6700] * 6])
    state = state_of(make.cluster(running))
    slots = assign_slots(state, 0, [host(state, "uniroma2-2")] * 8)
    assert slots == (*((1, 6701),) * 2, *((1, 6700),) * 6)


def test_lost_executors_join_a_worker_where_no_slot_is_free(make):
    running = make.assigned(make.taxi("a"), [-1, -1, *[1] * 6], [-1, -1, *[6700] * 6])
    other = make.assigned(make.taxi("b"), [1] * 8, [6701] * 8)
    state = state_of(make.cluster(running, other))
    assert assign_slots(state, 0, [host(state, "uniroma2-2")] * 8) == ((1, 6700),) * 8


def test_lost_executors_join_a_worker_that_restarts_in_any_case(make):
    """One executor leaves the worker: what comes may as well join it."""
    running = make.assigned(make.taxi(), [-1, 0, *[1] * 6], [-1, 6701, *[6700] * 6])
    state = state_of(make.cluster(running))
    here, there = host(state, "uniroma2-2"), host(state, "uniroma2-1")
    slots = assign_slots(state, 0, [here, there, there, *[here] * 5])
    assert slots[0] == (1, 6700)


def test_a_newcomer_joins_its_topologys_worker_and_takes_no_lower_free_slot(make):
    """A second worker on the host would cost memory and a way through the network between the two."""
    running = make.assigned(make.taxi(), [0, 0, *[1] * 6], [6701, 6701, *[6700] * 6])
    state = state_of(make.cluster(running))
    here, there = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    assert state.open_slots(0, here) == ((0, 6700), (0, 6701))
    slots = assign_slots(state, 0, [here, here, here, *[there] * 5])
    assert slots == (*((0, 6701),) * 3, *((1, 6700),) * 5)


def test_an_executor_that_returns_gets_its_slot_back(make):
    """Away and back within one round is no move."""
    running = make.assigned(make.taxi(), [0] * 8, [6701] * 8)
    state = state_of(make.cluster(running))
    here, there = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    state.assign(0, assign_slots(state, 0, [there] * 8))
    assert state.moves(0) == 8
    state.assign(0, assign_slots(state, 0, [here] * 8))
    assert (state.moves(0), state.restarted_workers(0)) == (0, [])


def test_a_slot_freed_in_this_round_is_not_given_to_another_topology(make):
    """The shim frees nothing for another topology: what was taken when the round began stays reserved."""
    supervisors_full = make.assigned(make.taxi("a"), [0] * 8, [6700, 6701] * 4)
    state = state_of(make.cluster(supervisors_full, make.taxi("b")))
    state.assign(0, assign_slots(state, 0, [host(state, "uniroma2-2")] * 8))
    assert state.open_slots(1, host(state, "uniroma2-1")) == ()


def test_a_worker_of_a_dead_supervisor_is_kept_whole_or_given_up_whole(make):
    """One of its executors leaves: the others join a worker of the living supervisor on the same host."""
    request = make.cluster(make.assigned(make.taxi(), [0] * 8))
    dead = replace(request.supervisors[0], alive=False)
    living = make.supervisor("uniroma2-1", "uniroma2", id="second")
    state = state_of(replace(request, supervisors=(dead, *request.supervisors[1:], living)))
    here, there = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    assert assign_slots(state, 0, [here] * 8) == ((0, 6700),) * 8
    assert assign_slots(state, 0, [here] * 7 + [there]) == ((7, 6700),) * 7 + ((1, 6700),)


def _asking(make, assignment, workers=1, heap_mb=None, others=0):
    """The taxi query with as many workers asked for, on hosts of which another topology holds slots."""
    topology = make.assigned(
        make.taxi("b"), [slot[0] for slot in assignment], [slot[1] for slot in assignment]
    )
    heap = None if heap_mb is None else (heap_mb,) * 8
    topology = replace(topology, num_workers=workers, component_heap_mb=heap)
    held = [(1, 6701), *[(6, 6700)] * 7] if others else [(6, 6700)] * 8
    other = make.assigned(make.taxi("a"), [slot[0] for slot in held], [slot[1] for slot in held])
    return state_of(make.cluster(other, topology))


def test_a_newcomer_gets_a_worker_of_its_own_while_there_are_fewer_than_asked_for(make):
    """Three workers are left of four: what moves to a host with a worker takes the free slot there."""
    state = _asking(make, [(0, 6700)] * 3 + [(1, 6700)] * 4 + [(2, 6700)], workers=3)
    here, there = host(state, "uniroma2-1"), host(state, "uniroma2-2")
    slots = assign_slots(state, 1, [here] * 3 + [there] * 5)
    assert slots == ((0, 6700),) * 3 + ((1, 6700),) * 4 + ((1, 6701),)


def test_what_has_a_worker_of_its_own_joins_none(make):
    """Seven executors share one by an earlier setting: the lost one has no slot."""
    state = _asking(make, [(1, 6700)] * 7 + [(-1, -1)], others=1)
    there = host(state, "uniroma2-2")
    with pytest.raises(NoSlotError, match="too few worker slots for what a worker may hold"):
        assign_slots(state, 1, [there] * 8, {"topology.ras.one.executor.per.worker": True})


def test_heap_gives_way_where_it_is_not_strict(make):
    """Seven executors of 128 MB run in one worker; no slot is free for the lost one."""
    state = _asking(make, [(1, 6700)] * 7 + [(-1, -1)], heap_mb=128.0, others=1)
    there = host(state, "uniroma2-2")
    assert assign_slots(state, 1, [there] * 8) == ((1, 6700),) * 8
    with pytest.raises(NoSlotError, match="too few worker slots for what a worker may hold"):
        assign_slots(state, 1, [there] * 8, strict=True)


@pytest.mark.parametrize(
    ("assignment", "fault"),
    [
        (((0, 6700),) * 7, "7 slots for 8 executors"),
        (((9, 6700),) * 8, "supervisor index 9 is unknown"),
        (((0, 6799),) * 8, "supervisor id-uniroma2-1 has no port 6799"),
        (((1, 6700),) * 8, "port 6700 of supervisor id-uniroma2-2 belongs to another topology"),
        (((2, 6700),) * 8, "supervisor id-uniroma2-3 is dead or blacklisted: its workers cannot change"),
    ],
)
def test_the_check_names_what_storm_or_the_shim_would_refuse(make, assignment, fault):
    """One phrase per fault."""
    request = make.cluster(make.taxi("a"), make.assigned(make.taxi("b"), [1] * 8))
    blacklisted = replace(request.supervisors[2], blacklisted=True)
    request = replace(request, supervisors=(*request.supervisors[:2], blacklisted, *request.supervisors[3:]))
    assert check_slots(state_of(request), 0, assignment) == (fault,)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    other=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([6700, 6701])), min_size=8, max_size=8),
    own=st.lists(st.tuples(st.integers(0, 6), st.sampled_from([6700, 6701])), min_size=8, max_size=8),
    running=st.booleans(),
    data=st.data(),
)
def test_every_executor_gets_one_slot_that_passes_the_check(make, other, own, running, data):
    """On any placement on open hosts: right host, known port, no one else's, and stayers stay.

    Newcomers to a host share one worker, that of stayers if there are any and nothing was lost.
    """
    own = [slot for slot in own if slot not in other]
    own = (own * 8)[:8] if own else []
    first = make.assigned(make.taxi("a"), [s for s, _ in other], [p for _, p in other])
    second = make.taxi("b")
    if running and own:
        second = make.assigned(second, [s for s, _ in own], [p for _, p in own])
    state = state_of(make.cluster(first, second))
    open_hosts = [index for index in range(7) if state.open_slots(1, index)]
    if not open_hosts:
        return
    placement = data.draw(st.lists(st.sampled_from(open_hosts), min_size=8, max_size=8))
    slots = assign_slots(state, 1, placement)
    assert check_slots(state, 1, slots) == ()
    assert [state.host_of(slot) for slot in slots] == placement
    for slot, before, wanted in zip(slots, state.assignment(1), placement, strict=True):
        if before is not None and state.host_of(before) == wanted:
            assert slot == before
    newcomers = {
        (state.host_of(slot), slot)
        for slot, before in zip(slots, state.assignment(1), strict=True)
        if before is None or state.host_of(before) != state.host_of(slot)
    }
    assert len(newcomers) == len({at for at, _ in newcomers})
    stayers = {
        slot
        for slot, before in zip(slots, state.assignment(1), strict=True)
        if before is not None and state.host_of(before) == state.host_of(slot)
    }
    manned = {state.host_of(slot) for slot in stayers}
    lost = None in state.initial(1)
    assert lost or all(slot in stayers for at, slot in newcomers if at in manned)


def test_restarts_count_every_executor_of_a_worker_that_changes(make):
    """One joins, one leaves: both workers restart, the third does not; lost executors are none that run."""
    running = make.assigned(make.taxi(), [0, 0, 0, 1, 1, 2, 2, -1], [*[6700] * 7, -1])
    state = state_of(make.cluster(running))
    now = state.initial(0)
    changed = ((1, 6700), *now[1:7], (3, 6700))
    assert state.restarts_by(0, changed) == 5
    state.assign(0, changed)
    assert (state.restarts(0), state.total_restarts(), state.moves(0)) == (5, 5, 1)


def test_the_state_of_the_next_round_begins_where_this_one_ends(make):
    """Nothing has restarted in it, and slots that were left are free; this round stays as it was."""
    state = state_of(make.cluster(make.assigned(make.taxi("a"), [0] * 8), make.taxi("b")))
    later = state.carried_out(0, ((1, 6700),) * 8)
    assert later.initial(0) == later.assignment(0) == ((1, 6700),) * 8
    assert (later.total_restarts(), later.total_moves()) == (0, 0)
    assert not later.held_by_others(1, (0, 6700))
    assert later.held_by_others(1, (1, 6700))
    assert state.assignment(0) == ((0, 6700),) * 8
    assert not state.held_by_others(1, (1, 6700))
    assert (state.total_restarts(), state.capacity_left(1).sum()) == (0, later.capacity_left(1).sum())


def test_executors_that_move_take_a_slot_of_their_own_if_they_are_to_spare_the_worker(make):
    """Only where a slot is free."""
    running = make.assigned(make.taxi(), [0, *[1] * 7], 6700)
    state = state_of(make.cluster(running))
    there = host(state, "uniroma2-2")
    assert assign_slots(state, 0, [there] * 8) == ((1, 6700),) * 8
    assert assign_slots(state, 0, [there] * 8, apart=True) == ((1, 6701), *[(1, 6700)] * 7)
