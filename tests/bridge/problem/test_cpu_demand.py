"""CPU of executors: measured where there are statistics, declared where there are none."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bridge.problem.cpu_demand import cpu_demands, with_cpu
from bridge.readings.believed import read_nodes
from bridge.readings.rates import read_rates
from bridge.settings import CapacitySettings, ReadingsSettings
from bridge.wire.messages import UNASSIGNED, ComponentKind, Reading, ReadingKind

RATES = {
    "version": 1,
    "time": 1.0,
    "lifetime_s": 180.0,
    "topology": "t",
    "window_s": 60.0,
    "sample_rate": 0.05,
    "streams": [],
    "emitted": [],
    "executors": None,
    "complete": True,
    "missing": [],
}
HOSTS = ("uniroma2-1", "uniroma2-2", "uniroma2-3")


def rates(age_ms=1000, **busy):
    listed = [{"component": name, "percent": percent} for name, percent in busy.items()]
    return Reading(ReadingKind.RATES, "t", json.dumps({**RATES, "busy": listed}).encode(), age_ms)


def topology(make, cpu=10.0, slots=None, parallelism=(1, 2, 2)):
    """A spout and two bolts, by default without slots."""
    made = make.chain("t", parallelism, [0] * (len(parallelism) - 1))
    made = replace(made, executor_cpu_percent=(cpu,) * made.n_executors)
    return made if slots is None else make.assigned(made, [*slots])


def demand(make, made, *readings, **settings):
    request = replace(make.cluster(made), readings=readings)
    nodes = read_nodes(request, {each.host for each in request.supervisors}, ReadingsSettings())
    demands = cpu_demands(request, read_rates(request), nodes, CapacitySettings(**settings))
    return demands, with_cpu(request, demands).topologies[0].executor_cpu_percent


def host(make, number, *workers, **changes):
    """The reading of a host with (topology, port, percent) of workers."""
    listed = [{"topology": name, "port": port, "percent": percent} for name, port, percent in workers]
    return make.reading(HOSTS[number], None, 0.0, workers=listed, **changes)


def test_time_in_executions_takes_the_place_of_what_is_declared(make):
    """It is dealt out over the executors that there are; a spout is not timed."""
    demands, percent = demand(make, topology(make), rates(c1=160.0, c2=50.0))
    assert percent == (10.0, 80.0, 80.0, 25.0, 25.0)
    assert demands["t"].summary == "CPU as measured for 2 of 3 components"


@pytest.mark.parametrize("readings", [(), (rates(),), (rates(age_ms=180_001, c1=160.0),), (rates(c9=160.0),)])
def test_without_fresh_statistics_what_is_declared_stays(make, readings):
    demands, percent = demand(make, topology(make), *readings)
    assert percent == (10.0,) * 5
    assert demands["t"].summary == "CPU as declared"


@pytest.mark.parametrize("text", ["NaN", "-1.0", "1e300", "Infinity", '"much"', "null"])
def test_absurd_statistics_are_not_believed(make, text):
    reading = rates(c1=160.0)
    reading = replace(reading, payload=reading.payload.replace(b"160.0", text.encode()))
    _, percent = demand(make, topology(make), reading)
    assert percent == (10.0,) * 5


@pytest.mark.parametrize(
    ("busy", "percent"), [(0.0, 1.0), (1.0, 1.0), (2.2, 1.1), (199.0, 99.5), (1e9, 100.0)]
)
def test_an_executor_needs_a_tenth_of_what_is_declared_and_one_core_at_most(make, busy, percent):
    """An executor that is idle now may not stay so, and one thread cannot keep two cores busy."""
    _, found = demand(make, topology(make), rates(c1=busy))
    assert found[1:3] == (pytest.approx(percent),) * 2


def test_an_executor_that_declares_more_than_one_core_needs_it(make):
    """It has threads of its own, whose time Storm does not take."""
    demands, percent = demand(make, topology(make, cpu=250.0), rates(c1=20.0))
    assert percent == (250.0,) * 5
    assert demands["t"].summary == "CPU as declared"


@pytest.mark.parametrize("amount", [float("nan"), -50.0])
def test_an_impossible_declaration_is_none(make, amount):
    _, percent = demand(make, topology(make, cpu=amount), rates(c1=20.0, c2=2.0))
    assert percent == (0.0, 10.0, 10.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("settings", "summary"),
    [
        ({"demand": "declared"}, "CPU as declared"),
        ({"resources": "strict"}, "CPU as declared"),
        ({"resources": "off"}, None),
    ],
)
def test_settings_say_whether_measurements_count(make, settings, summary):
    """Strict resources are a reservation, as with Storm's resource-aware scheduler."""
    demands, percent = demand(make, topology(make), rates(c1=160.0), **settings)
    assert percent == (10.0,) * 5
    assert (demands["t"].summary if demands else None) == summary


def test_a_system_component_is_not_counted(make):
    made = topology(make)
    made = replace(made, component_kinds=(ComponentKind.SYSTEM, *made.component_kinds[1:]))
    demands, _ = demand(make, made, rates(c1=160.0, c2=5.0))
    assert demands["t"].summary == "CPU as measured"


def test_what_timed_executors_leave_of_a_worker_goes_to_the_others(make):
    """Spout, two bolts and a sink that works in another process, in one worker of 150 %."""
    made = topology(make, slots=[0] * 5)
    demands, percent = demand(make, made, rates(c1=60.0), host(make, 0, ("t", 6700, 150.0)))
    assert percent == pytest.approx((30.0, 30.0, 30.0, 30.0, 30.0))
    assert demands["t"].summary == "CPU as measured"


@pytest.mark.parametrize(("worker", "share"), [(60.0, 15.0), (180.0, 45.0)])
def test_timed_executors_share_a_worker_in_proportion(make, worker, share):
    """Those that wait for something were busy for less, and who is alone takes all."""
    made = topology(make, slots=[1, 0, 0, 0, 0])
    _, percent = demand(make, made, rates(c1=40.0, c2=80.0), host(make, 0, ("t", 6700, worker)))
    assert percent[1:] == pytest.approx((worker / 6, worker / 6, worker / 3, worker / 3))
    assert share == pytest.approx(sum(percent[1:]) / 4)


def test_executions_that_wait_leave_nothing_to_the_others(make):
    """They took 160 % of a core in a worker that used 40 %: the spout gets the least."""
    made = topology(make, slots=[0] * 5)
    _, percent = demand(make, made, rates(c1=80.0, c2=80.0), host(make, 0, ("t", 6700, 40.0)))
    assert percent == pytest.approx((1.0, 10.0, 10.0, 10.0, 10.0))


def test_a_component_is_measured_where_its_workers_are_known(make):
    """The third host has no reading and one executor no slot: they count as the mean of the others."""
    made = make.chain("t", [4], [])
    made = replace(made, executor_cpu_percent=(10.0,) * 4)
    made = make.assigned(made, [0, 1, 2, UNASSIGNED], [6700, 6700, 6700, UNASSIGNED])
    readings = (host(make, 0, ("t", 6700, 20.0)), host(make, 1, ("t", 6700, 40.0)))
    _, percent = demand(make, made, *readings)
    assert percent == pytest.approx((30.0,) * 4)


@pytest.mark.parametrize(
    "worker", [("other", 6700, 90.0), ("t", 6701, 90.0), ("t", 6700, -1.0), ("t", 6700, float("nan"))]
)
def test_a_worker_of_others_and_an_impossible_one_do_not_count(make, worker):
    """A slot may have changed hands since its host was read."""
    made = topology(make, slots=[0] * 5)
    demands, percent = demand(make, made, host(make, 0, worker))
    assert percent == (10.0,) * 5
    assert demands["t"].summary == "CPU as declared"


def test_a_stale_reading_of_a_host_does_not_count(make):
    made = topology(make, slots=[0] * 5)
    _, percent = demand(make, made, host(make, 0, ("t", 6700, 90.0), age_ms=31_000))
    assert percent == (10.0,) * 5


def test_a_component_without_executors_is_not_counted(make):
    demands, percent = demand(make, topology(make, parallelism=(1, 2, 0)), rates(c0=5.0, c1=160.0, c2=50.0))
    assert percent == (5.0, 80.0, 80.0)
    assert demands["t"].summary == "CPU as measured"
