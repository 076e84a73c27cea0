"""What tests of order, isolation and eviction share: clusters with little room, small and large rounds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, MoveSettings, PlanSettings, Settings

BOTH = pytest.mark.parametrize("max_pairs", [10**9, 1], ids=["small", "large"])
CPU_PERCENT = 400.0


def topology(make, name, executors=4, *, cpu=100.0, priority=None, **changes):
    """A chain whose executors need so much CPU each, of one component of two."""
    plain = make.chain(name, (executors // 2, executors - executors // 2), [0])
    storm = {} if priority is None else {"topology.priority": priority}
    fields = {"num_workers": 1, "storm_json": json.dumps(storm), "component_heap_mb": (1.0, 1.0), **changes}
    return replace(
        plain,
        executor_cpu_percent=(cpu,) * executors,
        executor_memory_mb=(1.0,) * executors,
        **fields,
    )


def cluster(make, *topologies, hosts=2, ports=(6700, 6701), **keys):
    """Hosts of four cores, and keys of Nimbus with underscores in the place of dots."""
    supervisors = tuple(
        make.supervisor(f"h{each}", cpu_percent=CPU_PERCENT, memory_mb=1000.0, ports=ports)
        for each in range(hosts)
    )
    cluster_json = json.dumps({key.replace("_", "."): value for key, value in keys.items()})
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=(), cluster_json=cluster_json)


def strict_settings(max_pairs, *, max_moves=16, **plan):
    """Settings of strict capacities."""
    return Settings(
        plan=PlanSettings(max_pairs=max_pairs, **plan),
        capacity=CapacitySettings(resources="strict"),
        move=MoveSettings(cool_down_s=0, stabilisation_s=0, max_moves_per_round=max_moves),
    )


def strict(max_pairs, *, clock=lambda: 0.0, **changes):
    """Plans a round with strict capacities, and lets nothing fail unseen."""
    settings = strict_settings(max_pairs, **changes)

    def planned(request):
        done = plan_round(request, settings, clock)
        assert done.traces == ()
        return {plan.topology_id: plan for plan in done.response.plans}, done

    return planned


def hosts_of(request, plan):
    """The hosts on which a plan puts executors."""
    return {request.supervisors[index].host for index in plan.executor_supervisor}
