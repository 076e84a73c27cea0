"""What the tests of prices share: a measured chain with an acker, and rounds that follow each other."""

from __future__ import annotations

import json
from dataclasses import replace

from bridge.round.memory import NOTHING
from bridge.round.planner import plan_round
from bridge.settings import Settings
from bridge.wire.messages import ComponentKind, Grouping, Reading, ReadingKind
from tests.bridge.conftest import assigned, chain, cluster
from tests.bridge.round.planner_rounds import AT_ONCE, stopped

TREES = 100.0
NEAR, APART = [0, 0, 1, 1, 2], [0, 5, 3, 6, 4]


def acking(slots=None, name="t"):
    """A spout, two bolts of one and two executors in a row, and an acker; on a port of its own each."""
    plain = chain(name, (1, 1, 2, 1), [Grouping.SHUFFLE] * 3)
    topology = replace(
        plain,
        component_names=("spout", "first", "second", "__acker"),
        component_kinds=(
            ComponentKind.SPOUT,
            ComponentKind.BOLT,
            ComponentKind.BOLT,
            ComponentKind.ACKER,
        ),
        stream_from=(0, 1, 0, 3),
        stream_to=(1, 2, 3, 0),
        stream_ids=("default", "default", "__ack_init", "__ack_ack"),
        stream_groupings=(Grouping.SHUFFLE, Grouping.SHUFFLE, Grouping.FIELDS, Grouping.DIRECT),
    )
    return topology if slots is None else assigned(topology, slots, 6701)


def rates(name="t", age_ms=2_000, *, executed=(TREES, TREES, 150.0, 50.0, TREES), acked=TREES, **changes):
    """What the collector says of it: the second bolt takes two tuples per tree, most in one place."""
    streams = [
        ("spout", "default", "first", TREES),
        ("first", "default", "second", 2 * TREES),
        ("spout", "__ack_init", "__acker", TREES),
        *([("__acker", "__ack_ack", "spout", acked)] if acked is not None else []),
    ]
    payload = {
        "version": 1,
        "time": 1000.0,
        "lifetime_s": 180.0,
        "topology": name,
        "window_s": 60.0,
        "sample_rate": 0.05,
        "streams": [{"from": a, "stream": s, "to": b, "rate": rate} for a, s, b, rate in streams],
        "emitted": [],
        "executors": {
            "first_task": [1, 2, 3, 4, 5],
            "executed": list(executed),
            "emitted": [TREES] * 5,
            "execute_ms": [None, 1.0, 1.0, 1.0, 0.1],
        },
        "complete": True,
        "missing": [],
        **changes,
    }
    return Reading(ReadingKind.RATES, name, json.dumps(payload).encode(), age_ms)


def moving(**settings):
    """A round in which all of it is far apart, so that four of five leave for the spout's site at once."""
    settings = {"pin": {"spout": "site:uniroma2"}, **settings}
    own = {f"topology.stormplace.{key.replace('_', '.')}": value for key, value in settings.items()}
    return cluster(replace(acking(APART), settings_json=json.dumps(own)))


class Rounds:
    """Rounds one after the other, each with what the last one remembered."""

    def __init__(self, request, move=AT_ONCE, **sections):
        self.request = request
        self.memory = NOTHING
        self.settings = Settings(move=move, **sections)

    def at(self, unix_s, *readings):
        """Plan a round with these rates, and carry it out."""
        nodes = tuple(each for each in self.request.readings if each.kind is ReadingKind.NODE)
        request = replace(self.request, readings=(*nodes, *readings))
        done = plan_round(
            request, self.settings, stopped, memory=self.memory, now_s=unix_s - 1e9, unix_s=unix_s
        )
        assert done.traces == ()
        self.memory = done.memory
        plan = next(iter(done.response.plans), None)
        if plan is not None and plan.executor_supervisor:
            topology = assigned(request.topologies[0], plan.executor_supervisor, plan.executor_port)
            self.request = replace(request, topologies=(topology, *request.topologies[1:]))
        return done
