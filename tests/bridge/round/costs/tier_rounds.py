"""A cluster of two edge sites, one in the fog and one in the cloud, and rounds of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bridge.network_settings import NetworkSettings
from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, PlanSettings, Settings
from bridge.wire.messages import Grouping

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan

SITES = {"e1": ("edge", 0.0, 2), "e2": ("edge", 4.0, 1), "f1": ("fog", 8.0, 3), "c1": ("cloud", 60.0, 6)}
"""Tier, place on a line in ms, and number of hosts of each site."""
UNIT_COSTS = {"edge": "1.0", "fog": "2.0", "cloud": "0.5"}


def tiers(
    make: Any, *topologies: Topology, unit_costs: Mapping[str, str] = UNIT_COSTS, times: int = 1
) -> PlanRequest:
    """Hosts with room for two executors each; `times` as many as `SITES` has."""
    supervisors, readings = [], []
    for site, (tier, x, count) in SITES.items():
        for number in range(count * times):
            host = f"{site}-{number:04d}"
            meta = {"stormplace.site": site, "stormplace.executors": "2", "stormplace.tier": tier}
            if tier in unit_costs:
                meta["stormplace.unit.cost"] = unit_costs[tier]
            supervisors.append(make.supervisor(host, meta=meta))
            readings.append(make.reading(host, site, x))
    return replace(make.cluster(*topologies), supervisors=tuple(supervisors), readings=tuple(readings))


def chain(make: Any, name: str, parallelism: Sequence[int], settings: Mapping[str, object]) -> Topology:
    """A chain c0 -> c1 and so on, of executors that need 10 % of a core each."""
    keys = {f"topology.stormplace.{key}": value for key, value in settings.items()}
    plain = make.chain(name, parallelism, [Grouping.SHUFFLE] * (len(parallelism) - 1))
    cpu = (10.0,) * sum(parallelism)
    return replace(plain, settings_json=json.dumps(keys), executor_cpu_percent=cpu)


def settings_of(network: Mapping[str, object], resources: str = "soft", **plan: object) -> Settings:
    """Settings under which moves wait for nothing."""
    return Settings(
        move=MoveSettings(cool_down_s=0, stabilisation_s=0),
        network=NetworkSettings.model_validate(network),
        capacity=CapacitySettings.model_validate({"resources": resources}),
        plan=PlanSettings.model_validate(plan),
    )


def planned(request: PlanRequest, settings: Settings) -> tuple[TopologyPlan, ...]:
    """The plans of a round in which nothing failed, without a clock."""
    done = plan_round(request, settings, lambda: 0.0)
    assert done.traces == ()
    return done.response.plans


def hosts_of(plan: TopologyPlan, request: PlanRequest) -> list[str]:
    """Name of the host of each executor."""
    return [request.supervisors[each].host for each in plan.executor_supervisor]


def sites_of(plan: TopologyPlan, request: PlanRequest) -> list[str]:
    """Site of each executor."""
    return [host.partition("-")[0] for host in hosts_of(plan, request)]
