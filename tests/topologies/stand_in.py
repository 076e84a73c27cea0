"""A stand-in for Nimbus that speaks Storm's Thrift and keeps what it is given."""

from __future__ import annotations

import io
import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streamparse.thrift import (
    ClusterSummary,
    ExecutorInfo,
    ExecutorSummary,
    Nimbus,
    NotAliveException,
    TopologyInfo,
    TopologySummary,
)
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_server
from thriftpy2.transport import TFramedTransportFactory

from formats.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator


class StandIn:
    """As much of Nimbus as a submission needs; keeps what it was given."""

    def __init__(self) -> None:
        self.jar = io.BytesIO()
        self.alive: dict[str, int] = {}
        self.submitted: tuple[Any, ...] = ()

    def getClusterInfo(self) -> Any:  # noqa: N802 - Storm's name
        listed = []
        for name in list(self.alive):
            counts = {"num_tasks": 8, "num_executors": 8, "num_workers": 4, "uptime_secs": 1}
            listed.append(TopologySummary(id=f"{name}-1", name=name, status="ACTIVE", **counts))
            if self.alive[name]:
                self.alive[name] -= 1
                if not self.alive[name]:
                    del self.alive[name]
        return ClusterSummary(supervisors=[], topologies=listed, nimbuses=[])

    def beginFileUpload(self) -> str:  # noqa: N802 - Storm's name
        return "inbox/1.jar"

    def uploadChunk(self, location: str, chunk: bytes) -> None:  # noqa: N802 - Storm's name
        assert location == "inbox/1.jar"
        self.jar.write(chunk)

    def finishFileUpload(self, location: str) -> None:  # noqa: N802 - Storm's name
        assert location == "inbox/1.jar"

    def submitTopologyWithOpts(self, *arguments: Any) -> None:  # noqa: N802 - Storm's name
        self.submitted = arguments
        self.alive[arguments[0]] = 0

    def killTopologyWithOpts(self, name: str, options: Any) -> None:  # noqa: N802 - Storm's name
        if options.wait_secs != 0:
            raise NotAliveException(msg="killing must not wait")
        self.alive[name] = 2  # listed twice more

    def getTopologyInfo(self, topology_id: str) -> Any:  # noqa: N802 - Storm's name
        executors = [
            ExecutorSummary(
                executor_info=ExecutorInfo(task_start=task, task_end=task),
                component_id=component,
                host=host,
                port=6700,
                uptime_secs=1,
            )
            for task, component, host in ((3, "parser", "b-1"), (1, "dataSource", "a-1"))
        ]
        return TopologyInfo(
            id=topology_id,
            name="taxi",
            uptime_secs=1,
            executors=executors,
            status="ACTIVE",
            errors={},
            sched_status="placed",
        )


@contextmanager
def serving() -> Iterator[tuple[StandIn, Address]]:
    """Serve a stand-in on a free port of this machine."""
    handler = StandIn()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = make_server(
        Nimbus,
        handler,
        "127.0.0.1",
        port,
        proto_factory=TBinaryProtocolFactory(),
        trans_factory=TFramedTransportFactory(),
        client_timeout=None,
    )
    server.trans.listen()
    server.trans.listen = lambda: None  # it listens already, so that no client comes too soon
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    yield handler, Address("127.0.0.1", port)
    server.close()
