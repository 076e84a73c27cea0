"""Supervisors as nodes: capacities, what runs, free ports, racks and sites."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bridge.network.cluster import UNLIMITED, gather_hosts
from bridge.packing.grounds import Grounds, survey
from bridge.readings.believed import read_nodes
from bridge.settings import CapacitySettings, ReadingsSettings, Settings

if TYPE_CHECKING:
    from bridge.wire.messages import PlanRequest

SETTINGS = CapacitySettings()


def _survey(request: PlanRequest, settings: CapacitySettings = SETTINGS) -> Grounds:
    readings = read_nodes(request, frozenset(), ReadingsSettings())
    return survey(request, gather_hosts(request, Settings(capacity=settings), readings), settings)


def _request(make, *supervisors, **changes) -> PlanRequest:
    return replace(make.cluster(), supervisors=supervisors, readings=(), **changes)


def test_what_is_not_stated_does_not_limit_but_for_a_fair_share_of_executors(make) -> None:
    """Else all executors of a cluster would go to one host."""
    nothing = [make.supervisor(f"h{number}") for number in range(3)]
    grounds = _survey(_request(make, *nothing, topologies=(make.chain("t", [30], []),)))
    assert grounds.free.tolist() == [[UNLIMITED, UNLIMITED, 10.0]] * 3
    assert grounds.soft.tolist() == [[False, False, True]] * 3


@pytest.mark.parametrize("amount", [-1.0, math.nan, math.inf])
def test_what_is_no_amount_is_taken_as_unknown(make, amount) -> None:
    odd = make.supervisor("h1", cpu_percent=amount, memory_mb=amount, resources=(amount,))
    grounds = _survey(_request(make, odd, resource_names=("gpu",)))
    assert grounds.fleet.capacity.tolist() == [[UNLIMITED, UNLIMITED, 4.0, 0.0]]


def test_stated_resources_are_those_of_the_supervisor(make) -> None:
    one = make.supervisor("h1", cpu_percent=400.0, memory_mb=4096.0, resources=(8.0,))
    grounds = _survey(_request(make, one, resource_names=("gpu",)))
    assert grounds.resources == ("CPU", "memory", "executors", "gpu")
    assert grounds.fleet.capacity.tolist() == [[400.0, 4096.0, UNLIMITED, 8.0]]
    assert grounds.soft.tolist() == [[True, True, False, False]]


@pytest.mark.parametrize(("resources", "soft"), [("strict", False), ("off", False)])
def test_settings_say_what_may_be_exceeded(make, resources, soft) -> None:
    settings = CapacitySettings(resources=resources)
    grounds = _survey(_request(make, make.supervisor("h1", cpu_percent=400.0)), settings)
    assert grounds.soft[:, :2].any() == soft
    assert grounds.free[0, 0] == (UNLIMITED if resources == "off" else 400.0)


def test_executors_of_a_host_are_shared_by_its_supervisors(make) -> None:
    meta = {"stormplace.executors": "5"}
    two = [make.supervisor("h1", id=f"s{number}", meta=meta) for number in range(2)]
    other = make.supervisor("h2")
    grounds = _survey(_request(make, *two, other), CapacitySettings(executors_per_host=9))
    assert grounds.free[:, 2].tolist() == [2.0, 2.0, 9.0]


def test_what_runs_takes_its_share_and_its_port(make) -> None:
    running = make.assigned(make.chain("t", [2], []), [0, 1], [6700, 6701])
    running = replace(running, executor_cpu_percent=(30.0, 40.0))
    supervisors = [make.supervisor(host, cpu_percent=100.0) for host in ("h1", "h2")]
    grounds = _survey(_request(make, *supervisors, topologies=(running,)))
    assert grounds.free[:, 0].tolist() == [70.0, 60.0]
    assert grounds.ports == ((6701,), (6700,))
    assert grounds.slots.tolist() == [1, 1]


@pytest.mark.parametrize("changes", [{"alive": False}, {"blacklisted": True}])
def test_a_supervisor_that_takes_nothing_new_has_no_slot(make, changes) -> None:
    grounds = _survey(_request(make, make.supervisor("h1", **changes)))
    assert grounds.slots.tolist() == [0]


def test_racks_and_sites_are_levels_where_there_are_several(make) -> None:
    plain = [make.supervisor(host) for host in ("h1", "h2", "h3")]
    assert [level.name for level in _survey(_request(make, *plain)).fleet.levels] == ["host"]
    racks = [replace(each, rack=rack) for each, rack in zip(plain, ("r1", "r1", "r2"), strict=True)]
    (_, rack) = _survey(_request(make, *racks)).fleet.levels
    assert (rack.name, rack.group.tolist()) == ("rack", [0, 0, 1])
    sites = [
        replace(each, meta={"stormplace.site": site})
        for each, site in zip(racks, ("a", "b", "b"), strict=True)
    ]
    (_, rack, site) = _survey(_request(make, *sites)).fleet.levels
    assert rack.group.tolist() == [0, 1, 2]
    assert site.group.tolist() == [0, 1, 1]
