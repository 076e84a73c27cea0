"""What is asked of Nimbus over Thrift: submit, kill, where executors run."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamparse.thrift import KillOptions, Nimbus, SubmitOptions, TopologyInitialStatus
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.thrift import TException
from thriftpy2.transport import TFramedTransportFactory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from topologies.address import Address

_CHUNK_BYTES = 300 * 1024
_CALL_TIMEOUT_MS = 60_000
_POLL_S = 0.2


class NimbusError(Exception):
    """Nimbus cannot be reached or refuses; the message is one sentence."""


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


@contextmanager
def connect(address: Address) -> Iterator[Any]:
    """Open a client of Nimbus; any fault of connection or call becomes a `NimbusError`.

    Args:
        address: Nimbus' Thrift port (usually 6627).
    """
    try:
        client = make_client(
            Nimbus,
            address.host,
            address.port,
            proto_factory=TBinaryProtocolFactory(),  # type: ignore[no-untyped-call]  # thriftpy2 has no types
            trans_factory=TFramedTransportFactory(),
            timeout=_CALL_TIMEOUT_MS,
        )
    except (TException, OSError) as error:
        msg = f"Nimbus {address} cannot be reached: {_text(error)}"
        raise NimbusError(msg) from error
    try:
        yield client
    except (TException, OSError) as error:
        msg = f"Nimbus {address}: {_text(error)}"
        raise NimbusError(msg) from error
    finally:
        client.close()


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
        msg = f"a topology named {name!r} is running already; kill it first"
        raise NimbusError(msg)
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
        msg = f"no topology named {name!r} is running"
        raise NimbusError(msg)
    return found


def _text(error: Exception) -> str:
    """Return the useful part of a Thrift error: Storm puts it in `msg`, thriftpy2 in `message`."""
    text = getattr(error, "msg", None) or getattr(error, "message", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__
