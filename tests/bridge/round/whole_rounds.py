"""Rounds of both sizes as they come in from the wire, and what holds for each of their plans."""

from __future__ import annotations

from dataclasses import replace

from bridge.round.malformed import name_malformed
from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import CapacitySettings, PlanSettings, Settings
from bridge.wire.messages import UNASSIGNED, Decision
from bridge.wire.request_decoding import request_from_thrift
from bridge.wire.structs import to_thrift

SIZES = ("executor by executor", "by counts")


def settings_of(size, resources="soft"):
    """Settings by which every round is planned in one of the two ways; time never runs out."""
    pairs = {"executor by executor": 10**12, "by counts": 1}[size]
    return Settings(
        plan=PlanSettings(max_pairs=pairs, time_limit_ms=600_000),
        capacity=CapacitySettings(resources=resources),
    )


def hosts_and(make, *topologies, hosts=4, **changes):
    """A round of hosts h0, h1, ... of four cores and four slots, of which nothing is measured."""
    fields = {"cpu_percent": 400.0, "memory_mb": 4096.0, "ports": (6700, 6701, 6702, 6703), **changes}
    supervisors = tuple(
        replace(make.supervisor(f"h{number}", **fields), rack=f"r{number % 2}") for number in range(hosts)
    )
    return replace(make.cluster(*topologies), supervisors=supervisors, readings=())


def chain(make, name, parallelism=(2, 4, 2), cpu=10.0, memory=128.0, **changes):
    """A chain of components whose executors are all alike."""
    topology = make.chain(name, parallelism, [0] * (len(parallelism) - 1))
    return replace(
        topology,
        executor_cpu_percent=(cpu,) * topology.n_executors,
        executor_memory_mb=(memory,) * topology.n_executors,
        component_heap_mb=(memory,) * len(parallelism),
        **{"num_workers": 1, **changes},
    )


def planned(request, settings, memory=NOTHING, now_s=0.0):
    """Plan a request as the daemon does, and check the plan.

    Returns:
        The round, with the reasons of malformed topologies in its response.
    """
    received = request_from_thrift(to_thrift(request))
    done = plan_round(received.request, settings, lambda: 0.0, memory=memory, now_s=now_s)
    assert done.traces == ()
    done = replace(done, response=name_malformed(done.response, received.malformed))
    _check(received.request, done.response)
    return done


def answers(request, settings):
    """The plans of a request by topology."""
    return {plan.topology_id: plan for plan in planned(request, settings).response.plans}


def _check(request, response):
    """No slot is shared, none is made up, and what is new is where it may be."""
    plans = {plan.topology_id: plan for plan in response.plans}
    assert plans.keys() == {topology.id for topology in request.topologies}
    holders = {}
    for topology in request.topologies:
        plan = plans[topology.id]
        before = list(zip(topology.executor_supervisor, topology.executor_port, strict=True))
        after = before
        if plan.decision is Decision.ASSIGN:
            after = list(zip(plan.executor_supervisor, plan.executor_port, strict=True))
            assert len(after) == topology.n_executors
        for old, (supervisor, port) in zip(before, after, strict=True):
            if supervisor == UNASSIGNED:
                continue
            assert holders.setdefault((supervisor, port), topology.id) == topology.id
            if old != (supervisor, port):
                assert request.supervisors[supervisor].usable
                assert port in request.supervisors[supervisor].ports
