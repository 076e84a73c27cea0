"""Resources that are negative or no numbers: named for who has them, and the others are served."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from tests.bridge.round.whole_rounds import SIZES, answers, chain, hosts_and, planned, settings_of

BAD = [-5.0, math.nan, math.inf, -math.inf]
GENERIC = ("gpu",)


def with_generic(request, *amounts):
    """Each host offers so much of a resource of its own."""
    supervisors = zip(request.supervisors, amounts, strict=True)
    return replace(
        request,
        resource_names=GENERIC,
        supervisors=tuple(replace(each, resources=(amount,)) for each, amount in supervisors),
    )


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("value", [*BAD, 1e300])
@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("executor_cpu_percent", 7),
        ("executor_memory_mb", 7),
        ("component_heap_mb", 2),
        ("component_resources", 2),
    ],
)
def test_a_demand_that_is_no_amount_costs_its_topology_alone(make, size, value, field, place):
    bad, good = (chain(make, name, component_resources=(1.0,) * 3) for name in ("bad", "good"))
    values = getattr(bad, field)
    bad = replace(bad, **{field: (*values[:place], value)})
    plans = answers(with_generic(hosts_and(make, bad, good), 8.0, 8.0, 8.0, 8.0), settings_of(size))
    assert plans["bad"].decision is Decision.KEEP
    reason = f"topologies[0].{field}[{place}]: {value:g} is outside 0..1e+09"
    assert plans["bad"].status == f"not planned, as the request describes it wrongly: {reason}"
    assert plans["good"].decision is Decision.ASSIGN


@pytest.mark.parametrize("size", SIZES)
def test_what_a_running_topology_asks_for_wrongly_costs_no_host_its_capacity(make, size):
    """It runs on all hosts; what is in order of its demand counts there, and the rest of the host is used."""
    cpu = (math.nan, *(100.0,) * 7)
    bad = replace(chain(make, "bad"), executor_cpu_percent=cpu)
    bad = make.assigned(bad, [0, 0, 1, 1, 2, 2, 3, 3], 6700)
    request = hosts_and(make, bad, chain(make, "good", (1, 2, 2), cpu=250.0))
    plans = answers(request, settings_of(size, "strict"))
    assert plans["bad"].decision is Decision.KEEP
    # 300 % of h0 are left, 200 % of the others
    assert plans["good"].decision is Decision.UNPLACEABLE
    fits = replace(request, topologies=(bad, chain(make, "good", (1,), cpu=250.0)))
    assert set(answers(fits, settings_of(size, "strict"))["good"].executor_supervisor) == {0}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("field", ["cpu_percent", "memory_mb"])
def test_a_host_whose_capacity_is_no_amount_is_as_good_as_one_that_states_none(make, size, value, field):
    request = hosts_and(make, chain(make, "a"), chain(make, "b"), hosts=2)

    def of_first(amount):
        first, second = request.supervisors
        return replace(request, supervisors=(replace(first, **{field: amount}), second))

    done, usual = (planned(of_first(amount), settings_of(size)) for amount in (value, 0.0))
    assert [plan.decision for plan in done.response.plans] == [Decision.ASSIGN] * 2
    for plan, other in zip(done.response.plans, usual.response.plans, strict=True):
        assert plan.executor_supervisor == other.executor_supervisor
    name = {"cpu_percent": "CPU", "memory_mb": "memory"}[field]
    assert done.known.faults == (f"{name} of supervisor id-h0 is no amount ({value:g})",)
    assert usual.known.faults == ()


@pytest.mark.parametrize("value", [*BAD, 0.0])
def test_a_host_whose_generic_resource_is_no_amount_offers_none(make, value):
    request = hosts_and(make, chain(make, "a", component_resources=(1.0,) * 3), hosts=2)
    plans = answers(with_generic(request, value, 8.0), settings_of("by counts"))
    assert set(plans["a"].executor_supervisor) == {1}


@pytest.mark.parametrize("size", SIZES)
def test_executors_that_ask_for_nothing_are_placed(make, size):
    plans = answers(hosts_and(make, chain(make, "a", cpu=0.0, memory=0.0)), settings_of(size, "strict"))
    assert plans["a"].decision is Decision.ASSIGN


def test_capacities_that_are_no_amounts_are_named_once_and_counted_each_time(make, daemon):
    request = with_generic(hosts_and(make, chain(make, "a"), hosts=2), -1.0, 8.0)
    first, second = request.supervisors
    bad = replace(request, supervisors=(replace(first, cpu_percent=math.nan), second))
    for _ in range(2):
        daemon.handler.call().plan(to_thrift(bad))
    (event,) = [
        each
        for each in daemon.events("faults in readings, metadata or settings")
        if any("no amount" in fault for fault in each["faults"])
    ]
    named = {"CPU of supervisor id-h0 is no amount (nan)", "resource 0 of supervisor id-h0 is no amount (-1)"}
    assert named <= set(event["faults"])
    assert [each["faults"]["supervisor_metadata"] for each in daemon.events("round")] == [2, 2]
