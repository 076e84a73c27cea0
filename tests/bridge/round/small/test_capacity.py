"""How much hosts carry: soft limits give way before a topology stays unplaced, hard ones do not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from bridge.settings import CapacitySettings
from bridge.wire.messages import Decision
from tests.bridge.round.planner_rounds import hosts_of, only


def _cluster(make, topology, hosts=4, **changes):
    supervisors = tuple(make.supervisor(f"h{number}", **changes) for number in range(hosts))
    return replace(make.cluster(topology), supervisors=supervisors, readings=())


def test_forty_executors_on_four_hosts_are_placed_and_evenly_loaded(make):
    """No setting at all: ten on each host, though hosts have four cores."""
    request = _cluster(make, make.chain("t", [10, 20, 10], [0, 0]))
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert Counter(hosts_of(request, answer)) == {f"h{number}": 10 for number in range(4)}


def test_executors_of_a_lost_host_go_to_the_others(make):
    """Three hosts are left for forty executors; the thirty that run stay."""
    topology = make.chain("t", [10, 20, 10], [0, 0])
    slots = [index % 4 for index in range(40)]
    running = make.assigned(topology, [-1 if slot == 3 else slot for slot in slots], 6700)
    ports = tuple(-1 if slot == 3 else 6700 for slot in slots)
    request = _cluster(make, replace(running, executor_port=ports), hosts=3)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    stayed = [index for index, slot in enumerate(slots) if slot != 3]
    assert [answer.executor_supervisor[index] for index in stayed] == [slots[index] for index in stayed]
    assert (answer.price.executors_moved, answer.price.executors_restarted) == (0, 0)


def test_a_fair_share_gives_way_to_a_pin(make):
    """All twelve executors have to be at one host of four cores."""
    topology = replace(
        make.chain("t", [4, 8], [0]),
        settings_json='{"topology.stormplace.pin": {"c0": "host:h1", "c1": "host:h1"}}',
    )
    request = _cluster(make, topology)
    answer = only(request)
    assert set(hosts_of(request, answer)) == {"h1"}
    assert "above what is declared" not in answer.status


def test_declared_resources_are_exceeded_where_a_topology_fits_no_other_way(make):
    """Eight executors of 10 % on three hosts of 20 %: the least step that holds them, named."""
    request = _cluster(make, make.taxi(), hosts=3, cpu_percent=20.0)
    answer = only(request)
    assert answer.decision is Decision.ASSIGN
    assert max(Counter(hosts_of(request, answer)).values()) == 3
    assert "above what is declared as it fits no other way (h0 at 150% of its CPU" in answer.status


def test_strict_resources_refuse_what_does_not_fit(make):
    request = _cluster(make, make.taxi(), hosts=3, cpu_percent=20.0)
    answer = only(request, capacity=CapacitySettings(resources="strict"))
    assert answer.decision is Decision.UNPLACEABLE


def test_resources_that_are_off_are_ignored(make):
    request = _cluster(make, make.taxi(), hosts=3, cpu_percent=20.0, memory_mb=10.0)
    answer = only(request, capacity=CapacitySettings(resources="off"))
    assert answer.decision is Decision.ASSIGN
    assert "above what is declared" not in answer.status


@pytest.mark.parametrize("resources", ["soft", "strict"])
def test_a_stated_number_of_executors_is_never_exceeded(make, resources):
    request = _cluster(make, make.taxi(), hosts=2)
    answer = only(request, capacity=CapacitySettings(executors_per_host=3, resources=resources))
    assert answer.decision is Decision.UNPLACEABLE


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), -1.0])
def test_a_capacity_that_is_no_amount_is_unknown(make, amount):
    request = _cluster(make, make.taxi(), cpu_percent=amount, memory_mb=amount)
    answer = only(request, capacity=CapacitySettings(resources="strict"))
    assert answer.decision is Decision.ASSIGN
