"""The check of an assignment: each rule broken once, and what keeps all rules."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import pytest

from benchmarks.large_clusters.check import check
from benchmarks.large_clusters.cluster import Cluster, Placed, read_assignment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

DEMANDS = [
    {"executors": 2, "cpu": 30.0, "on_heap": 400.0, "off_heap": 100.0, "generic": {"gpu": 1.0}},
    {"executors": 1, "cpu": 40.0, "on_heap": 200.0},
]
GOOD = (
    Placed("t", 1, "c0", "a1", 1),
    Placed("t", 2, "c0", "a1", 1),
    Placed("t", 3, "c1", "a1", 2),
)


def rules(cluster: Cluster, placed: Sequence[Placed]) -> list[str]:
    return [each.rule for each in check(cluster, placed).faults]


def changed(position: int, **changes: object) -> list[Placed]:
    placed = list(GOOD)
    placed[position] = dataclasses.replace(placed[position], **changes)
    return placed


def test_limits_may_be_reached_exactly(make: Callable[..., Cluster]) -> None:
    exact = make(DEMANDS, [(0, 1)], cpu=100.0, memory=1200.0, max_heap=800.0, generic={"gpu": 2.0})
    assert rules(exact, GOOD) == []


@pytest.mark.parametrize(
    ("limits", "rule"),
    [
        ({"cpu": 99.0}, "cpu"),
        ({"memory": 1199.0}, "memory"),
        ({"generic": {"gpu": 1.5}}, "generic"),
        ({"generic": {}}, "generic"),
        ({"max_heap": 799.0}, "heap"),
    ],
)
def test_each_limit_of_a_host_or_worker_is_seen(
    limits: dict[str, object], rule: str, make: Callable[..., Cluster]
) -> None:
    room = {"cpu": 100.0, "memory": 1200.0, "generic": {"gpu": 2.0}, "max_heap": 800.0} | limits
    assert rules(make(DEMANDS, [(0, 1)], **room), GOOD) == [rule]


@pytest.mark.parametrize(
    ("placed", "found"),
    [
        (GOOD[:2], ["missing"]),
        ([*GOOD, dataclasses.replace(GOOD[2], host="b1")], ["twice"]),
        (changed(2, task=4), ["unknown", "missing"]),
        (changed(2, component="c0"), ["unknown"]),
        (changed(2, topology="other"), ["unknown", "missing"]),
        (changed(2, port=3), ["slot"]),
        (changed(2, host="c1"), ["slot"]),
    ],
)
def test_every_executor_is_once_on_a_slot_that_exists(
    placed: Sequence[Placed], found: list[str], make: Callable[..., Cluster]
) -> None:
    assert rules(make(DEMANDS, [(0, 1)], generic={"gpu": 2.0}), placed) == found


def test_what_is_not_sound_is_named_and_left_out(make: Callable[..., Cluster]) -> None:
    checked = check(make(DEMANDS, [(0, 1)], generic={"gpu": 2.0}), changed(2, port=3))
    assert list(checked.sound) == list(GOOD[:2])
    assert checked.faults[0].text == "executor 3 of t is on a1:3, which is no slot"


def test_a_slot_belongs_to_one_topology(make: Callable[..., Cluster]) -> None:
    one = make(DEMANDS, [], generic={"gpu": 4.0}, cpu=300.0, memory=4000.0)
    two = Cluster(one.hosts, {"t": one.topologies["t"], "u": one.topologies["t"]})
    others = [dataclasses.replace(each, topology="u", port=1) for each in GOOD]
    assert rules(two, [*GOOD, *others]) == ["shared slot"]
    assert rules(two, [*GOOD, *(dataclasses.replace(each, host="b1") for each in others)]) == []


SHARED = {"components": [0], "on_heap": 150.0, "off_heap_worker": 30.0, "off_heap_host": 7.0}


@pytest.mark.parametrize(
    ("placed", "memory", "heap"),
    [
        # one worker with the component, one without
        (GOOD, 1200.0 + 180.0 + 7.0, 950.0),
        # two workers with it on one host
        (changed(1, port=2), 1200.0 + 2 * 180.0 + 7.0, 750.0),
    ],
)
def test_shared_memory_counts_once_per_worker_and_once_per_host(
    placed: Sequence[Placed], memory: float, heap: float, make: Callable[..., Cluster]
) -> None:
    def found(memory: float, heap: float) -> list[str]:
        cluster = make(DEMANDS, [], memory=memory, max_heap=heap, shared=(SHARED,), generic={"gpu": 2.0})
        return rules(cluster, placed)

    assert found(memory, heap) == []
    assert found(memory - 1, heap) == ["memory"]
    assert found(memory, heap - 1) == ["heap"]


def test_a_worker_counts_for_its_least_share_of_a_core(make: Callable[..., Cluster]) -> None:
    # two workers of 60 and 40 %
    assert rules(make(DEMANDS, [], cpu=110.0, min_worker_cpu=50.0, generic={"gpu": 2.0}), GOOD) == []
    assert rules(make(DEMANDS, [], cpu=109.0, min_worker_cpu=50.0, generic={"gpu": 2.0}), GOOD) == ["cpu"]


SOLVER = {"topology.scheduler.strategy": "org.apache.storm.scheduler.ConstraintSolverStrategy"}
TOGETHER = [dataclasses.replace(each, port=1) for each in GOOD]


@pytest.mark.parametrize(
    ("conf", "placed", "found"),
    [
        ({"topology.ras.one.executor.per.worker": True}, GOOD, ["worker rule"]),
        ({"topology.ras.one.executor.per.worker": True}, GOOD[1:], ["missing"]),
        ({"topology.ras.one.component.per.worker": True}, TOGETHER, ["worker rule"]),
        ({"topology.ras.one.component.per.worker": True}, GOOD, []),
        ({"topology.ras.constraints": [["c0", "c1"]]}, TOGETHER, []),
        (SOLVER | {"topology.ras.constraints": [["c0", "c1"], ["c0", "gone"]]}, TOGETHER, ["worker rule"]),
        (SOLVER | {"topology.ras.constraints": [["c0", "c1"]]}, GOOD, []),
        (SOLVER | {"topology.ras.constraints": [["c0", "c0"]]}, GOOD, ["worker rule"]),
        (SOLVER | {"topology.ras.constraints": [["c1", "c1"]]}, TOGETHER, []),
        (
            SOLVER | {"topology.ras.constraints": {"c1": {"incompatibleComponents": "c0"}}},
            TOGETHER,
            ["worker rule"],
        ),
        (
            SOLVER | {"topology.ras.constraints": {"c1": {"incompatibleComponents": ["c0"]}}},
            TOGETHER,
            ["worker rule"],
        ),
        (SOLVER | {"topology.ras.constraints": {"c0": {"maxNodeCoLocationCnt": 1}}}, GOOD, ["host rule"]),
        (SOLVER | {"topology.ras.constraints": {"c0": {"maxNodeCoLocationCnt": 2}}}, GOOD, []),
        (SOLVER | {"topology.spread.components": ["c0", "gone"]}, GOOD, ["host rule"]),
        ({"topology.spread.components": ["c0"]}, GOOD, []),
    ],
)
def test_rules_of_a_topology(
    conf: dict[str, object],
    placed: Sequence[Placed],
    found: list[str],
    make: Callable[..., Cluster],
) -> None:
    assert rules(make(DEMANDS, [(0, 1)], conf=conf, generic={"gpu": 2.0}), placed) == found


def test_an_assignment_is_read_by_positions(tmp_path: Path) -> None:
    file = tmp_path / "assignment.json"
    topology = {"id": "t", "components": ["c0", "c1"], "executors": [[1, 0, 1, 6700], [3, 1, 0, 6701]]}
    file.write_text(json.dumps({"hosts": ["a1", "b1"], "topologies": [topology]}), encoding="utf-8")
    assert read_assignment(file) == [
        Placed("t", 1, "c0", "b1", 6700),
        Placed("t", 3, "c1", "a1", 6701),
    ]
