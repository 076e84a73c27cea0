"""Plans of large rounds that break anything are found out."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from bridge.network.cluster import gather_hosts
from bridge.packing.check import PlanCheck
from bridge.packing.grounds import survey
from bridge.packing.jobs import order_of
from bridge.problem.permits import permits_of
from bridge.readings.believed import read_nodes
from bridge.settings import Settings
from bridge.wire.messages import UNASSIGNED
from bridge.wishes.wishes import wishes_of

SETTINGS = Settings()
GOOD = ((0, 6700), (0, 6701), (0, 6701), (1, 6700))


class _Case:
    """A topology of four executors, the first of which runs, on two hosts of 40 % CPU each."""

    def __init__(self, make, *, lenient=False, job=None, memory_mb=0.0, **changes) -> None:
        topology = make.chain("t", (2, 2), [0])
        topology = replace(
            topology,
            executor_cpu_percent=(20.0,) * 4,
            executor_memory_mb=(128.0,) * 4,
            component_heap_mb=(300.0, 300.0),
            executor_supervisor=(0, *(UNASSIGNED,) * 3),
            executor_port=(6700, *(UNASSIGNED,) * 3),
            num_workers=1,
            **changes,
        )
        hosts = [
            make.supervisor(f"h{number}", cpu_percent=60.0, memory_mb=memory_mb, ports=(6700, 6701, 6702))
            for number in range(2)
        ]
        request = replace(make.cluster(topology), supervisors=tuple(hosts), readings=())
        known = gather_hosts(request, SETTINGS, read_nodes(request, frozenset(), SETTINGS.readings))
        grounds = survey(request, known, SETTINGS.capacity)
        wishes = wishes_of(topology, SETTINGS.plan)
        permits = permits_of(topology, wishes.own, known.hosts)
        self.order = order_of(request, 0, grounds, known, wishes, permits=permits)
        if job:
            self.order = replace(self.order, job=replace(self.order.job, **job))
        self.check = PlanCheck(request, grounds)
        self.check.be_lenient(np.full(2, lenient))

    def faults(self, *slots, moving=False) -> str:
        return "; ".join(self.check.take(self.order, slots, moving=moving))


def test_a_sound_plan_passes_once(make) -> None:
    """Then its ports are taken."""
    case = _Case(make)
    assert case.faults(*GOOD) == ""
    assert "port 6701 of supervisor id-h0 is not free" in case.faults(*GOOD)


@pytest.mark.parametrize(
    ("slots", "fault"),
    [
        (GOOD[:3], "3 slots for 4 executors"),
        ((*GOOD[:3], (2, 6700)), "a slot is on no supervisor"),
        ((*GOOD[:3], (-1, 6700)), "a slot is on no supervisor"),
        (((1, 6700), *GOOD[1:]), "a running executor would move"),
        ((*GOOD[:3], (1, 6709)), "port 6709 of supervisor id-h1 is not free"),
        ((*GOOD[:3], (0, 6700)), "port 6700 of supervisor id-h0 is not free"),
        ((*GOOD[:3], (0, 6702)), "supervisor id-h0 would be overfull by CPU"),
        ((GOOD[0], *[(1, 6700)] * 3), "more heap than it may have"),
    ],
)
def test_whatever_is_wrong_is_named(make, slots, fault) -> None:
    assert fault in _Case(make).faults(*slots)


def test_what_a_faulty_plan_uses_is_not_taken(make) -> None:
    case = _Case(make)
    assert case.faults(*GOOD[:3], (0, 6702))
    assert case.faults(*GOOD) == ""


def test_running_executors_move_only_where_they_may(make) -> None:
    """Their own ports are no others', and what they leave they do not need any more."""
    moved = ((1, 6700), (0, 6700), (0, 6701), (0, 6701))
    assert _Case(make).faults(*moved)
    assert _Case(make).faults(*moved, moving=True) == ""
    crowded = ((0, 6701), (0, 6700), (0, 6701), (0, 6702))
    assert _Case(make).faults(*crowded, moving=True) == "supervisor id-h0 would be overfull by CPU"


def test_what_runs_in_a_worker_counts_for_those_that_come_to_it(make) -> None:
    joined = ((0, 6700), (0, 6700), (0, 6700), (1, 6700))
    assert _Case(make).faults(*joined, moving=True) == "a worker would need more heap than it may have"
    assert _Case(make).faults(*joined[:2], (1, 6700), (1, 6700), moving=True) == ""


def test_a_plan_may_say_that_it_exceeds_what_is_declared(make) -> None:
    assert _Case(make, lenient=True).faults(*GOOD[:3], (0, 6702)) == ""


def test_a_pin_is_kept(make) -> None:
    pin = json.dumps({"topology.stormplace.pin": {"c1": "host:h0"}})
    assert "a host that it may not come to" in _Case(make, settings_json=pin).faults(*GOOD)


def test_components_that_must_be_apart_are_not_together(make) -> None:
    storm = json.dumps({"topology.ras.one.component.per.worker": True})
    mixed = (GOOD[0], (1, 6700), (1, 6700), (0, 6701))
    assert "components that must be apart" in _Case(make, storm_json=storm).faults(*mixed)


def test_a_worker_per_executor_is_no_wish(make) -> None:
    """As many workers as were asked for are one."""
    storm = json.dumps({"topology.ras.one.executor.per.worker": True})
    assert "more executors than it may" in _Case(make, storm_json=storm).faults(*GOOD)
    apart = (GOOD[0], (0, 6701), (1, 6700), (1, 6701))
    assert _Case(make, storm_json=storm).faults(*apart) == ""


def test_no_more_of_a_component_are_together_than_may_be(make) -> None:
    """The one that runs counts."""
    limits = {"per_node": np.array([1, 2])}
    assert "more executors of a component" in _Case(make, job=limits).faults(*GOOD)
    apart = (GOOD[0], (1, 6701), (0, 6701), (1, 6700))
    assert _Case(make, job=limits).faults(*apart) == ""


def test_memory_that_components_share_counts(make) -> None:
    """Two executors and what each of their two workers shares are on a host of 384 MB."""
    shared = {"shared_component": (1,), "shared_piece": (0,)}
    fits = _Case(make, memory_mb=384.0, shared_mb=(0.0, 64.0, 0.0), **shared)
    assert fits.faults(*GOOD[:2], (1, 6700), (1, 6701)) == ""
    over = _Case(make, memory_mb=384.0, shared_mb=(0.0, 65.0, 0.0), **shared)
    assert "supervisor id-h1 would be overfull by memory" in over.faults(*GOOD[:2], (1, 6700), (1, 6701))


def test_heap_that_components_share_counts(make) -> None:
    shared = {"shared_component": (1,), "shared_piece": (0,), "shared_mb": (169.0, 0.0, 0.0)}
    together = (GOOD[0], (0, 6701), (1, 6700), (1, 6700))
    assert "more heap than it may have" in _Case(make, **shared).faults(*together)
    assert _Case(make).faults(*together) == ""
