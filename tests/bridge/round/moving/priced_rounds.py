"""A market of three hosts for a chain of two executors, and rounds on it."""

from __future__ import annotations

import json
from dataclasses import replace

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import MoveSettings, Settings
from bridge.wire.messages import Grouping, Reading, ReadingKind
from tests.bridge.round.planner_rounds import stopped

AT_ONCE = {"cool_down_s": 0, "stabilisation_s": 0}
# All at one site; `dear` and `cheap` are 1 ms apart, `far` is 50 ms away.
PLACES = {"cheap": 0.0, "dear": 1.0, "far": 50.0}
PRICES = {"cheap": "1", "dear": "10", "far": "1"}
LOADS = {"stormplace.pull.mb.per.sec": "10"}


def market(make, settings, where=("dear", "dear"), ports=6700, **meta):
    """The chain `c0 -> c1` on some hosts.

    Args:
        make: Builders of requests.
        settings: Of the topology, below its prefix.
        where: Name of the host of each executor, None without a slot.
        ports: Of the executors.
        meta: By host, metadata in the place of what it states: its price, and that it loads 10 MB/s.
    """
    names = list(PLACES)
    supervisors = tuple(
        make.supervisor(
            host,
            meta={"stormplace.executors": "2"} | meta.get(host, {"stormplace.cost": PRICES[host], **LOADS}),
        )
        for host in names
    )
    readings = tuple(make.reading(host, None, x) for host, x in PLACES.items())
    topology = make.assigned(
        make.chain("t", [1, 1], [Grouping.SHUFFLE]),
        [-1 if host is None else names.index(host) for host in where],
        ports if isinstance(ports, int) else list(ports),
    )
    text = json.dumps({f"topology.stormplace.{key}": value for key, value in settings.items()})
    return replace(
        make.cluster(replace(topology, settings_json=text)), supervisors=supervisors, readings=readings
    )


def round_of(request, memory=NOTHING, now_s=0.0, **move):
    """A round without a clock, in which gains neither wait nor cool down unless it is so set."""
    settings = Settings(move=MoveSettings(**(AT_ONCE | move)))
    done = plan_round(request, settings, stopped, memory=memory, now_s=now_s)
    assert done.traces == ()
    return done


def planned(request, **move):
    """Where the chain is after a round, and its plan."""
    plan = round_of(request, **move).response.plans[0]
    slots = plan.executor_supervisor or request.topologies[0].executor_supervisor
    return tuple(request.supervisors[index].host for index in slots), plan


def rates(execute_ms, rate=1.0):
    """Measured rates of the chain: ms per tuple of its executors, tuples per second between them."""
    payload = {
        "version": 1,
        "time": 1.0,
        "lifetime_s": 180.0,
        "topology": "t",
        "window_s": 600.0,
        "sample_rate": 1.0,
        "streams": [{"from": "c0", "stream": "default", "to": "c1", "rate": rate, "tuple_bytes": 10.0}],
        "emitted": [{"component": "c0", "stream": "default", "rate": rate}],
        "executors": {
            "first_task": [1, 2],
            "executed": [0.0, rate],
            "emitted": [rate, 0.0],
            "execute_ms": execute_ms,
        },
        "complete": True,
        "missing": [],
    }
    return Reading(ReadingKind.RATES, "t", json.dumps(payload).encode(), 1000)
