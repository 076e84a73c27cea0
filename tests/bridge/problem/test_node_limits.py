"""RAS constraints by position of components."""

from __future__ import annotations

import json

from bridge.problem.node_limits import apart_of, node_limits
from bridge.wishes.storm_settings import parse_storm_settings
from scheduler.packing.job import NO_LIMIT


def _storm(**keys):
    named = {f"topology.{key.replace('_', '.')}": value for key, value in keys.items()}
    return parse_storm_settings(json.dumps(named), ("c0", "c1", "c2"))


def test_without_any_key_nothing_is_limited(make):
    topology = make.chain("t", [2, 4, 2], [0, 0])
    assert apart_of(topology, _storm()) == frozenset()
    assert node_limits(topology, _storm()) is None


def test_components_that_are_apart_are_so_either_way_round(make):
    storm = _storm(ras_constraints={"c2": {"incompatibleComponents": ["c0", "c1"]}})
    assert apart_of(make.chain("t", [2, 4, 2], [0, 0]), storm) == {(0, 2), (2, 0), (1, 2), (2, 1)}


def test_limits_of_a_node_are_by_component(make):
    storm = _storm(ras_constraints={"c1": {"maxNodeCoLocationCnt": 2}}, spread_components=["c2"])
    assert node_limits(make.chain("t", [2, 4, 2], [0, 0]), storm).tolist() == [NO_LIMIT, 2, 1]
