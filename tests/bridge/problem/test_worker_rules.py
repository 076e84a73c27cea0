"""What a worker may hold and a node may run, by position of components."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.problem.storm_settings import parse_storm_settings
from bridge.problem.worker_rules import node_limits, worker_rules
from scheduler.packing.job import NO_LIMIT, WorkerRules


def _storm(**keys):
    named = {f"topology.{key.replace('_', '.')}": value for key, value in keys.items()}
    return parse_storm_settings(json.dumps(named), ("c0", "c1", "c2"))


def test_without_any_key_one_worker_holds_everything(make):
    topology = replace(make.chain("t", [2, 4, 2], [0, 0]), num_workers=1)
    assert worker_rules(topology, _storm()) == WorkerRules()
    assert node_limits(topology, _storm()) is None


@pytest.mark.parametrize(
    ("workers", "keys", "executors"),
    [(3, {}, 3), (1, {}, NO_LIMIT), (99, {}, 1), (3, {"ras_one_executor_per_worker": True}, 1)],
)
def test_the_number_of_workers_limits_the_executors_of_one(make, workers, keys, executors):
    topology = replace(make.chain("t", [2, 4, 2], [0, 0]), num_workers=workers)
    assert worker_rules(topology, _storm(**keys)).executors == executors


def test_the_heap_counts_where_the_heap_of_executors_is_known(make):
    topology = replace(make.chain("t", [2, 4, 2], [0, 0]), component_heap_mb=(128.0,) * 3)
    assert worker_rules(topology, _storm(worker_max_heap_size_mb=512)).heap_mb == 512


def test_components_that_are_apart_are_so_either_way_round(make):
    storm = _storm(ras_constraints={"c2": {"incompatibleComponents": ["c0", "c1"]}})
    rules = worker_rules(make.chain("t", [2, 4, 2], [0, 0]), storm)
    assert rules.apart == {(0, 2), (2, 0), (1, 2), (2, 1)}
    assert not rules.allow(0, [1, 2])
    assert rules.allow(0, [1])


def test_limits_of_a_node_are_by_component(make):
    storm = _storm(ras_constraints={"c1": {"maxNodeCoLocationCnt": 2}}, spread_components=["c2"])
    assert node_limits(make.chain("t", [2, 4, 2], [0, 0]), storm).tolist() == [NO_LIMIT, 2, 1]
