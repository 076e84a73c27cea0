"""What is asked of Nimbus over Thrift: submit, kill, where executors run."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamparse.thrift import KillOptions, Nimbus, SubmitOptions, TopologyInitialStatus

from formats import nimbus
from formats.nimbus import NimbusError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from formats.address import Address

_CHUNK_BYTES = 300 * 1024
_CALL_TIMEOUT_S = 60.0
_POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class ExecutorPlace:
    """Where one executor runs.

    Attributes:
        component: Id of its component; Storm's own begin with `__`.
        first_task: First task of the executor.
        last_task: Last task of the executor.
        host: Host of its worker, as the supervisor names itself.
        port: Port of its worker slot.
    """

    component: str
    first_task: int
    last_task: int
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class TopologyPlacement:
    """Where a topology runs; `scheduler_status` is what the scheduler says about it."""

    id: str
    status: str
    scheduler_status: str
    executors: tuple[ExecutorPlace, ...]


def connect(address: Address) -> AbstractContextManager[Any]:
    """Open a client of Nimbus that can submit topologies; any fault becomes a `NimbusError`.

    Args:
        address: Nimbus' Thrift port (usually 6627).
    """
    return nimbus.connect((address,), timeout_s=_CALL_TIMEOUT_S, service=Nimbus)


def submit(client: Any, name: str, jar: Path, conf: Mapping[str, object], topology: Any) -> None:
    """Upload a jar and start a topology.

    Args:
        client: From `connect`.
        name: Name of the topology.
        jar: File to upload.
        conf: Topology configuration.
        topology: streamparse's Thrift `StormTopology`.

    Raises:
        NimbusError: A topology of that name runs.
    """
    if _find(client, name) is not None:
        raise NimbusError(f"a topology named {name!r} is running already; kill it first")
    location = client.beginFileUpload()
    with jar.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            client.uploadChunk(location, chunk)
    client.finishFileUpload(location)
    options = SubmitOptions(initial_status=TopologyInitialStatus.ACTIVE)
    client.submitTopologyWithOpts(name, location, json.dumps(dict(conf)), topology, options)


def kill(client: Any, name: str, timeout_s: float) -> None:
    """Kill a topology at once and wait until Nimbus has forgotten it.

    Raises:
        NimbusError: No such topology, or it is still there after `timeout_s` seconds.
    """
    _find_or_fail(client, name)
    client.killTopologyWithOpts(name, KillOptions(wait_secs=0))
    deadline = time.monotonic() + timeout_s
    while _find(client, name) is not None:
        if time.monotonic() > deadline:
            msg = f"topology {name!r} was killed, but Nimbus still lists it after {timeout_s:g} s"
            raise NimbusError(msg)
        time.sleep(_POLL_S)


def placement(client: Any, name: str) -> TopologyPlacement:
    """Return where the executors of a topology run; those without a worker are not listed by Nimbus.

    Raises:
        NimbusError: No such topology.
    """
    info = client.getTopologyInfo(_find_or_fail(client, name).id)
    executors = [
        ExecutorPlace(
            component=executor.component_id,
            first_task=executor.executor_info.task_start,
            last_task=executor.executor_info.task_end,
            host=executor.host,
            port=executor.port,
        )
        for executor in info.executors
    ]
    executors.sort(key=lambda executor: executor.first_task)
    return TopologyPlacement(info.id, info.status, info.sched_status or "", tuple(executors))


def _find(client: Any, name: str) -> Any | None:
    return next((each for each in client.getClusterInfo().topologies if each.name == name), None)


def _find_or_fail(client: Any, name: str) -> Any:
    found = _find(client, name)
    if found is None:
        raise NimbusError(f"no topology named {name!r} is running")
    return found
