"""New workers get the lowest free ports and exactly their executors; what runs keeps its slot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bridge.network.cluster import gather_hosts
from bridge.packing.dealing import deal
from bridge.packing.grounds import survey
from bridge.packing.jobs import order_of
from bridge.readings.believed import read_nodes
from bridge.settings import Settings
from bridge.wire.messages import UNASSIGNED
from bridge.wishes.wishes import wishes_of
from scheduler.packing.job import Worker

SETTINGS = Settings()
PORTS = (6700, 6701, 6702)


def _order(make, topology):
    """The order for a topology on three hosts."""
    hosts = tuple(make.supervisor(f"h{number}", ports=PORTS) for number in range(3))
    request = replace(make.cluster(topology), supervisors=hosts, readings=())
    known = gather_hosts(request, SETTINGS, read_nodes(request, frozenset(), SETTINGS.readings))
    grounds = survey(request, known, SETTINGS.capacity)
    return order_of(request, 0, grounds, known, wishes_of(topology, SETTINGS.plan)), grounds


def _partly_running(make, rng):
    """A topology of up to two components, some of whose executors run in a few slots."""
    topology = make.chain("t", rng.integers(1, 7, 2).tolist(), [0])
    slots = [
        (int(rng.integers(0, 3)), int(rng.choice(PORTS[:2]))) if rng.random() < 0.4 else (UNASSIGNED,) * 2
        for _ in range(topology.n_executors)
    ]
    slots[-1] = (UNASSIGNED,) * 2
    return replace(
        topology,
        executor_supervisor=tuple(slot[0] for slot in slots),
        executor_port=tuple(slot[1] for slot in slots),
    ), slots


@pytest.mark.parametrize("seed", range(20))
def test_each_worker_gets_its_executors(make, seed):
    rng = np.random.default_rng(seed)
    topology, before = _partly_running(make, rng)
    order, grounds = _order(make, topology)
    share = rng.integers(0, 2, (3, len(order.job.count)))
    counts = [
        *(share[:2] * order.job.count // 2),
        order.job.count - (share[:2] * order.job.count // 2).sum(axis=0),
    ]
    workers = [Worker(node, count) for node, count in zip(rng.permutation(3).tolist(), counts, strict=True)]
    slots = deal(topology, order, workers, [list(each) for each in grounds.ports])
    component = np.array(topology.executor_component)
    left = set(order.missing.tolist())
    for worker in workers:
        own = (worker.node, grounds.ports[worker.node][0])
        held = [executor for executor in sorted(left) if slots[executor] == own]
        assert np.bincount(component[held], minlength=2).tolist() == worker.count.tolist()
        # of alike executors the first ones go to the first worker
        for each in range(2):
            of_kind = [executor for executor in sorted(left) if component[executor] == each]
            assert [executor for executor in held if component[executor] == each] == of_kind[
                : worker.count[each]
            ]
        left -= set(held)
    assert not left
    assert all(slots[executor] == slot for executor, slot in enumerate(before) if slot[0] != UNASSIGNED)


@pytest.mark.parametrize("seed", range(20))
def test_running_workers_are_those_of_the_slots(make, seed):
    rng = np.random.default_rng(seed)
    topology, before = _partly_running(make, rng)
    executors: dict[tuple[int, int], list[int]] = {}
    for executor, slot in enumerate(before):
        if slot[0] != UNASSIGNED:
            executors.setdefault(slot, []).append(topology.executor_component[executor])
    order, _ = _order(make, topology)
    assert [(worker.node, worker.count.tolist()) for worker in order.job.running] == [
        (slot[0], np.bincount(held, minlength=2).tolist()) for slot, held in executors.items()
    ]
