"""Jobs on fleets: within all limits, all of them if there is room, else by rank."""

from __future__ import annotations

from collections import Counter
from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.packing.closeness import cost
from scheduler.packing.fleet import Fleet, Level
from scheduler.packing.job import Worker, WorkerRules
from scheduler.packing.pack import OVERLOADS, Packer, Packing
from tests.scheduler.packing.made_fleets import faults, fleet, job, random_jobs

HARD = np.zeros((1, 2), dtype=np.bool_)
SOFT = np.ones((1, 2), dtype=np.bool_)


def _pack(nodes, jobs, soft=HARD, slots=4, expired=lambda: False) -> Packing:
    return Packer(nodes, jobs, soft, expired).pack(nodes.capacity, np.full(nodes.n_nodes, slots))


@given(st.integers(0, 10_000))
def test_no_limit_is_ever_broken(seed: int) -> None:
    nodes, jobs = fleet(), random_jobs(seed)
    packing = _pack(nodes, jobs)
    slots = np.full(nodes.n_nodes, 4)
    assert faults(nodes.capacity, slots, jobs, packing.workers) == []
    assert {index for index, workers in enumerate(packing.workers) if workers is None} == packing.refused
    used = sum(
        (worker.count @ one.demand * (np.arange(nodes.n_nodes) == worker.node)[:, None])
        for one, workers in zip(jobs, packing.workers, strict=True)
        for worker in workers or ()
    )
    assert packing.ledger.free == pytest.approx(nodes.capacity - used)


@given(st.integers(0, 10_000))
def test_the_same_jobs_are_packed_the_same_way(seed: int) -> None:
    first, second = (_pack(fleet(), random_jobs(seed)) for _ in range(2))
    assert _listed(first) == _listed(second)


def _listed(packing: Packing) -> list[object]:
    return [
        None if workers is None else [(worker.node, worker.count.tolist()) for worker in workers]
        for workers in packing.workers
    ]


def test_a_job_that_fits_goes_into_one_worker() -> None:
    (workers,) = _pack(fleet(), [job([1, 2, 1], [(0, 1), (1, 2)])]).workers
    assert len(workers) == 1


def test_a_job_of_several_hosts_stays_in_one_rack() -> None:
    nodes = fleet(racks=3, per_rack=4)
    (workers,) = _pack(nodes, [job([40, 40], [(0, 1)], WorkerRules(heap_mb=4096.0))]).workers
    rack = nodes.levels[1].group
    assert len({worker.node for worker in workers}) == 3
    assert len({rack[worker.node] for worker in workers}) == 1


def test_missing_executors_come_near_those_that_run() -> None:
    """Node 5 has room beside its own executors, and the rest of its rack is next."""
    running = (Worker(5, np.array([3, 3])),)
    (workers,) = _pack(fleet(), [job([1, 1], [(0, 1)], running=running)]).workers
    assert {worker.node for worker in workers} == {5}


def test_small_jobs_leave_no_resource_stranded() -> None:
    """One job is all CPU, one all memory: side by side on each host both fit, one after the other neither."""
    heavy = job([12], demand=np.array([[100.0, 10.0]]))
    wide = job([12], demand=np.array([[10.0, 1000.0]]))
    jobs = [heavy, wide, *(job([2], demand=np.array([[40.0, 40.0]])) for _ in range(6))]
    assert not _pack(fleet(), jobs, slots=8).refused


def test_rank_decides_when_there_is_not_room_for_all() -> None:
    """Each job needs all of the fleet's CPU."""
    jobs = [job([24], demand=np.array([[100.0, 1.0]])) for _ in range(3)]
    packing = _pack(fleet(), jobs, slots=30)
    assert packing.refused == {1, 2}


def test_a_job_is_placed_whole_or_not_at_all() -> None:
    """Eight executors need more CPU than there is; what was tried is given back."""
    packing = _pack(fleet(), [job([8], demand=np.array([[400.0, 1.0]]))])
    assert packing.workers == (None,)
    assert packing.refused == {0}
    assert packing.ledger.free == pytest.approx(fleet().capacity)
    assert packing.ledger.slots.tolist() == [4] * 6


def test_a_soft_resource_is_exceeded_by_little() -> None:
    """The host's 400 % carry what needs 440 %, and no step below would do."""
    nodes = fleet(racks=1, per_rack=1)
    packing = _pack(nodes, [job([11], demand=np.array([[40.0, 1.0]]))], SOFT)
    assert packing.overloading == {0}
    assert packing.ledger.free[0, 0] == pytest.approx(-40.0)
    assert OVERLOADS[0] == 0.1


def test_a_hard_resource_is_not_exceeded_for_a_soft_one() -> None:
    nodes = fleet(racks=1, per_rack=1)
    only_cpu = np.array([True, False])
    packing = _pack(nodes, [job([2], demand=np.array([[500.0, 3000.0]]))], only_cpu)
    assert packing.refused == {0}
    assert not packing.overloading


def test_pins_are_kept() -> None:
    permitted = np.zeros((2, 6), dtype=np.bool_)
    permitted[0, 4] = permitted[1, 1] = True
    (workers,) = _pack(fleet(), [job([2, 3], [(0, 1)], permitted=permitted)]).workers
    assert [(worker.node, worker.count.tolist()) for worker in workers] in (
        [(4, [2, 0]), (1, [0, 3])],
        [(1, [0, 3]), (4, [2, 0])],
    )


@pytest.mark.parametrize(
    ("rules", "workers"),
    [
        (WorkerRules(heap_mb=512.0), 3),
        (WorkerRules(heap_mb=4096.0), 1),
        (WorkerRules(heap_mb=4096.0, executors=4), 3),
        (WorkerRules(heap_mb=4096.0, executors=1), 12),
        (WorkerRules(heap_mb=4096.0, one_component=True), 2),
        (WorkerRules(heap_mb=4096.0, apart=frozenset({(0, 1), (1, 0)})), 2),
    ],
)
def test_a_worker_holds_what_the_rules_allow(rules: WorkerRules, workers: int) -> None:
    one = job([6, 6], [(0, 1)], rules)
    packing = _pack(fleet(), [one], slots=12)
    assert faults(fleet().capacity, np.full(6, 12), [one], packing.workers) == []
    assert len(packing.workers[0]) == workers


def test_limits_per_node_spread_a_component() -> None:
    (workers,) = _pack(fleet(), [job([4, 2], per_node=np.array([1, 2]))]).workers
    by_node = np.zeros((6, 2), dtype=np.int64)
    for worker in workers:
        by_node[worker.node] += worker.count
    assert by_node[:, 0].max() == 1


def test_nodes_of_a_lower_rank_come_first() -> None:
    rank = np.array([0, 0, 0, 0, -1, 1])
    packing = _pack(fleet(), [job([2], rank=rank)])
    assert packing.workers[0][0].node == 4


def test_what_is_not_looked_at_in_time_is_not_refused() -> None:
    asked = count()
    packing = _pack(fleet(), [job([1]), job([2]), job([3])], expired=lambda: next(asked) >= 1)
    assert not packing.complete
    assert not packing.refused
    assert sum(workers is None for workers in packing.workers) == 2


def test_refining_never_makes_distances_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = fleet()
    jobs = [job([5, 7, 6, 4], [(0, 1), (1, 2), (2, 3), (0, 3)]) for _ in range(3)]
    refined = _pack(nodes, jobs)
    monkeypatch.setattr("scheduler.packing.pack.refine", lambda *given, **_: given[3])
    plain = _pack(nodes, jobs)
    costs = [
        sum(cost(nodes, one, workers) for one, workers in zip(jobs, each.workers, strict=True))
        for each in (refined, plain)
    ]
    assert costs[0] <= costs[1]


def test_an_empty_fleet_refuses_everything() -> None:
    nodes = fleet(racks=0, per_rack=0)
    packing = Packer(nodes, [job([1])], HARD, lambda: False).pack(nodes.capacity, np.zeros(0, dtype=np.int64))
    assert packing.refused == {0}


def test_components_that_are_apart_share_no_worker() -> None:
    rules = WorkerRules(heap_mb=512.0, apart=frozenset({(0, 1), (1, 0)}))
    (workers,) = _pack(fleet(), [job([3, 3, 2], [(0, 1), (1, 2)], rules)]).workers
    assert faults(fleet().capacity, np.full(6, 4), [job([3, 3, 2], rules=rules)], [workers]) == []
    assert sum(int(worker.count.sum()) for worker in workers) == 8


def test_a_component_apart_from_itself_has_one_executor_in_a_worker() -> None:
    (workers,) = _pack(fleet(), [job([3], rules=WorkerRules(apart=frozenset({(0, 0)})))]).workers
    assert [worker.count.tolist() for worker in workers] == [[1]] * 3


def test_a_limit_per_node_counts_what_runs_there() -> None:
    """Node 0 runs as many as it may, node 1 one less: three places are left for three executors."""
    running = (Worker(0, np.array([2, 0])), Worker(1, np.array([1, 4])))
    each = job([3, 6], [(0, 1)], running=running, per_node=np.array([2, 2**31]))
    (workers,) = _pack(fleet(racks=1), [each]).workers
    on_node = Counter[int]()
    for worker in (*running, *workers):
        on_node[worker.node] += int(worker.count[0])
    assert on_node == {0: 2, 1: 2, 2: 2}


def _sites(*capacities: float) -> Fleet:
    """A host per site with so much CPU; the last one is far from the others."""
    count = len(capacities)
    far = np.where(np.eye(count, dtype=np.bool_), 0.0, 10.0)
    far[-1, :-1] = far[:-1, -1] = 90.0
    nodes = np.arange(count)
    capacity = np.array([[cpu, 4096.0] for cpu in capacities])
    return Fleet(capacity, 1.0, (Level("host", nodes), Level("site", nodes, far=far)))


def test_what_does_not_fit_at_one_site_goes_to_the_nearest() -> None:
    """The last site is roomier than the second one."""
    nodes = _sites(200.0, 100.0, 150.0)
    (workers,) = _pack(nodes, [job([12, 13], [(0, 1)], WorkerRules())], slots=9).workers
    assert {worker.node for worker in workers} == {0, 1}


@pytest.mark.parametrize("home", [0, 1, 2])
def test_what_is_free_comes_near_what_is_bound(home) -> None:
    nodes = _sites(100.0, 100.0, 100.0)
    permitted = np.ones((2, 3), dtype=np.bool_)
    permitted[0] = np.arange(3) == home
    (workers,) = _pack(nodes, [job([4, 8], [(0, 1)], WorkerRules(), permitted=permitted)], slots=9).workers
    where = np.zeros((2, 3), dtype=np.int64)
    for worker in workers:
        where[:, worker.node] += worker.count
    assert where[0, home] == 4
    assert where[1, home] == 6
    assert where[1, 2] == (6 if home == 2 else 0)


def test_what_was_placed_is_kept_when_time_runs_out_over_a_job_that_never_fits() -> None:
    """Ten small jobs and one that is larger than the fleet: each attempt asks the time eleven times."""
    jobs = [*(job([2]) for _ in range(10)), job([1], demand=np.array([[9000.0, 1.0]]))]
    for looks in (11, 12, 15, 22):
        left = count()
        packing = _pack(fleet(), jobs, expired=lambda left=left, looks=looks: next(left) >= looks)
        assert [workers is not None for workers in packing.workers[:10]] == [True] * 10
        assert packing.workers[10] is None
        assert not packing.complete


def test_exchanges_end_with_the_time() -> None:
    """Some of these jobs take several steps: time that ends before the last one leaves them as they are."""
    cut = 0
    for seed in range(30):
        nodes, jobs, looks = fleet(), random_jobs(seed), count()
        packing = _pack(nodes, jobs, expired=lambda looks=looks: next(looks) < 0)
        needed = next(looks)
        if packing.refused or needed < 2 * len(jobs) + 4:
            continue
        looks = count()
        packing = _pack(nodes, jobs, expired=lambda looks=looks, needed=needed: next(looks) >= needed - 3)
        assert (packing.complete, packing.polished) == (True, False)
        assert next(looks) <= needed
        cut += 1
    assert cut
