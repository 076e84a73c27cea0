"""A small cluster and the taxi topology as requests, and a daemon to send them to."""

from __future__ import annotations

import io
import json
import socket
import threading
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.transport import TFramedTransportFactory

from bridge.server.handler import RoundHandler
from bridge.server.plan_server import PlanServer
from bridge.settings import PlanSettings, ServerSettings, Settings
from bridge.wire.contract import idl
from bridge.wire.messages import (
    UNASSIGNED,
    ComponentKind,
    Decision,
    Grouping,
    PlanRequest,
    Reading,
    ReadingKind,
    Supervisor,
    Topology,
)
from formats.log import Log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bridge.wire.messages import PlanResponse

SITES = {"uniroma2": (0.0, 3), "europe-west1": (28.0, 2), "us-east1": (120.0, 2)}
COMPONENTS = (
    "dataSource",
    "parser",
    "filterByCoordinates",
    "computeRouteID",
    "countByWindow",
    "metronome",
    "partialRank",
    "globalRank",
)
STREAMS = (
    (0, 1, Grouping.SHUFFLE),
    (1, 2, Grouping.SHUFFLE),
    (2, 3, Grouping.SHUFFLE),
    (2, 5, Grouping.SHUFFLE),
    (3, 4, Grouping.FIELDS),
    (5, 4, Grouping.ALL),
    (4, 6, Grouping.FIELDS),
    (6, 7, Grouping.GLOBAL),
)


def supervisor(host: str, site: str | None = None, **changes: object) -> Supervisor:
    meta = {} if site is None else {"stormplace.site": site}
    plain = Supervisor(f"id-{host}", host, (6700, 6701), True, False, 0.0, 0.0, meta)
    return replace(plain, **changes)  # type: ignore[arg-type]  # tests name real fields


def reading(host: str, site: str | None, x: float, /, **changes: object) -> Reading:
    """A reading of a host on a line: the delay between two hosts is the difference of their x plus 0.2 ms."""
    age_ms = changes.pop("age_ms", 500)
    payload = {
        "version": 1,
        "time": 1.0,
        "sequence": 1,
        "lifetime_s": 30.0,
        "host": host,
        "site": site,
        "coordinate": [x, 0.0, 0.0],
        "height": 0.1,
        "error": 0.08,
        "availability": 0.99,
        "load": {"cpu": 0.1, "memory": 0.2},
        "probe": "10.0.0.1:7091",
        **changes,
    }
    return Reading(ReadingKind.NODE, host, json.dumps(payload).encode(), age_ms)  # type: ignore[arg-type]  # an int


def taxi(topology_id: str = "taxi-1", settings: Mapping[str, object] | None = None) -> Topology:
    """The eight operators of the taxi query, one executor each, nothing assigned, no workers asked for."""
    count = len(COMPONENTS)
    return Topology(
        id=topology_id,
        name=topology_id,
        num_workers=1,
        settings_json=json.dumps(
            {f"topology.stormplace.{key}": value for key, value in (settings or {}).items()}
        ),
        component_names=COMPONENTS,
        component_kinds=(ComponentKind.SPOUT, *(ComponentKind.BOLT,) * (count - 1)),
        stream_from=tuple(source for source, _, _ in STREAMS),
        stream_to=tuple(target for _, target, _ in STREAMS),
        stream_ids=("default",) * len(STREAMS),
        stream_groupings=tuple(grouping for _, _, grouping in STREAMS),
        executor_first_task=tuple(range(1, count + 1)),
        executor_last_task=tuple(range(1, count + 1)),
        executor_component=tuple(range(count)),
        executor_cpu_percent=(10.0,) * count,
        executor_memory_mb=(128.0,) * count,
        executor_supervisor=(UNASSIGNED,) * count,
        executor_port=(UNASSIGNED,) * count,
    )


def chain(
    topology_id: str,
    parallelism: Sequence[int],
    groupings: Sequence[Grouping],
    tasks_per_executor: int = 1,
) -> Topology:
    """A chain of components, the first a spout, with so many executors each."""
    component = [index for index, count in enumerate(parallelism) for _ in range(count)]
    count = len(component)
    first = range(1, count * tasks_per_executor + 1, tasks_per_executor)
    return replace(
        taxi(topology_id),
        component_names=tuple(f"c{index}" for index in range(len(parallelism))),
        component_kinds=(ComponentKind.SPOUT, *(ComponentKind.BOLT,) * (len(parallelism) - 1)),
        stream_from=tuple(range(len(parallelism) - 1)),
        stream_to=tuple(range(1, len(parallelism))),
        stream_ids=("default",) * (len(parallelism) - 1),
        stream_groupings=tuple(groupings),
        executor_first_task=tuple(first),
        executor_last_task=tuple(task + tasks_per_executor - 1 for task in first),
        executor_component=tuple(component),
        executor_cpu_percent=(0.0,) * count,
        executor_memory_mb=(0.0,) * count,
        executor_supervisor=(UNASSIGNED,) * count,
        executor_port=(UNASSIGNED,) * count,
    )


def cluster(*topologies: Topology) -> PlanRequest:
    """Three sites on a line, seven hosts with two executors and two slots each, every host measured."""
    supervisors: list[Supervisor] = []
    readings: list[Reading] = []
    for site, (x, count) in SITES.items():
        for number in range(1, count + 1):
            host = f"{site}-{number}"
            meta = {"stormplace.site": site, "stormplace.executors": "2"}
            supervisors.append(supervisor(host, meta=meta))
            readings.append(reading(host, site, x))
    return PlanRequest(1, "round-1", 60_000, tuple(supervisors), topologies, tuple(readings), True)


def assigned(topology: Topology, supervisors: Sequence[int], ports: Sequence[int] | int = 6700) -> Topology:
    """The topology with its executors in slots."""
    listed = (ports,) * len(supervisors) if isinstance(ports, int) else tuple(ports)
    return replace(topology, executor_supervisor=tuple(supervisors), executor_port=listed)


def carried_out(request: PlanRequest, response: PlanResponse) -> PlanRequest:
    """The request that follows when a response has been carried out."""
    plans = {plan.topology_id: plan for plan in response.plans}

    def following(topology: Topology) -> Topology:
        plan = plans[topology.id]
        if plan.evicted_for is not None:
            return assigned(topology, (UNASSIGNED,) * topology.n_executors, UNASSIGNED)
        if plan.decision is Decision.ASSIGN:
            return assigned(topology, plan.executor_supervisor, plan.executor_port)
        return topology

    return replace(request, topologies=tuple(map(following, request.topologies)))


@dataclass(frozen=True)
class Make:
    """Builders of requests, for tests that cannot import this file."""

    supervisor: Callable[..., Supervisor] = field(default=supervisor)
    reading: Callable[..., Reading] = field(default=reading)
    taxi: Callable[..., Topology] = field(default=taxi)
    chain: Callable[..., Topology] = field(default=chain)
    cluster: Callable[..., PlanRequest] = field(default=cluster)
    assigned: Callable[..., Topology] = field(default=assigned)
    carried_out: Callable[..., PlanRequest] = field(default=carried_out)


class Daemon:
    """A server on a free loopback port with everything that a test may look at."""

    def __init__(self, recorder=None, callbacks=None, **server):
        self.log_text = io.StringIO()
        log = Log(stream=self.log_text)
        self.settings = Settings(
            server=ServerSettings(port=0, **server), plan=PlanSettings(time_limit_ms=60_000)
        )
        self.handler = RoundHandler(self.settings, recorder, log, callbacks=callbacks)
        self.server = PlanServer(self.settings.server, self.handler, log)
        self.host, self.port = self.server.listen()
        self.thread = threading.Thread(target=self.server.serve)
        self.thread.start()

    def client(self):
        return make_client(
            idl.PreviewDaemon,
            self.host,
            self.port,
            proto_factory=TBinaryProtocolFactory(),
            trans_factory=TFramedTransportFactory(),
            timeout=60_000,
        )

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)

    def events(self, name):
        return [
            each for each in map(json.loads, self.log_text.getvalue().splitlines()) if each["event"] == name
        ]

    def stop(self):
        self.server.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()
        self.handler.close()


@contextmanager
def running(**options):
    daemon = Daemon(**options)
    try:
        yield daemon
    finally:
        daemon.stop()


@pytest.fixture(name="running")
def running_fixture() -> Callable[..., AbstractContextManager[Daemon]]:
    """A daemon inside a block, with its own settings."""
    return running


@pytest.fixture
def daemon():
    with running() as daemon:
        yield daemon


@pytest.fixture(scope="session")
def make() -> Make:
    """Builders of requests."""
    return Make()
