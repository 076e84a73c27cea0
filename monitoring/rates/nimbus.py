"""Nimbus' Thrift service, as far as rates need it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.thrift import TApplicationException, TException
from thriftpy2.transport import TCyFramedTransportFactory

from monitoring.rates.nimbus_faults import ReplyError, ReplyFault
from monitoring.rates.nimbus_statistics import executor_looks, topology_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from monitoring.rates.counters import ExecutorLook, Shape

_IDL = thriftpy2.load(
    str(Path(__file__).with_name("nimbus.thrift")), module_name="stormplace_monitoring_nimbus_thrift"
)


class NimbusError(Exception):
    """Nimbus does not answer; one sentence."""


class TopologyGoneError(Exception):
    """Nimbus does not know the topology any more."""


@dataclass(frozen=True, slots=True)
class NimbusAddress:
    """Where a Nimbus listens for Thrift."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class NimbusClient:
    """An open connection.

    Args:
        client: thriftpy2's client of the service.
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def topologies(self) -> dict[str, str]:
        """Return id -> status of every topology, an empty status where the reply lacks it.

        Raises:
            NimbusError: The reply lacks an id.
        """
        summaries = self._client.getTopologySummaries()
        if any(one.id is None for one in summaries):
            raise NimbusError("the list of topologies lacks an id")
        return {one.id: one.status or "" for one in summaries}

    def shape(self, topology: str) -> Shape:
        """Return who subscribes to what in a topology.

        Raises:
            TopologyGoneError: It was removed.
            ReplyError: There is no usable reply about this topology.
        """
        with _one_topologys_faults(topology):
            return topology_shape(self._client.getTopology(topology))

    def executors(self, topology: str, shape: Shape) -> tuple[ExecutorLook, ...]:
        """Return the executors that have a slot, of user components and ackers, with their counters.

        Raises:
            TopologyGoneError: It was removed.
            ReplyError: There is no usable reply about this topology.
        """
        options = _IDL.GetInfoOptions(num_err_choice=_IDL.NumErrorsChoice.NONE)
        with _one_topologys_faults(topology):
            return executor_looks(self._client.getTopologyInfoWithOpts(topology, options), shape)


@contextmanager
def _one_topologys_faults(topology: str) -> Iterator[None]:
    """Tell apart what Nimbus says of one topology from trouble with the connection, which passes."""
    try:
        yield
    except _IDL.NotAliveException as error:
        raise TopologyGoneError(topology) from error
    except _IDL.AuthorizationException as error:
        raise ReplyError(ReplyFault.REFUSED, _text(error)) from error
    except TApplicationException as error:
        raise ReplyError(ReplyFault.FAILED, _text(error)) from error


@contextmanager
def connect(addresses: Sequence[NimbusAddress], timeout_s: float = 20.0) -> Iterator[NimbusClient]:
    """Open a connection to the first Nimbus that accepts one; each of them knows all statistics.

    Args:
        addresses: Where to try, in order.
        timeout_s: Longest wait for a connection or a reply, s.

    Raises:
        NimbusError: None accepts a connection, or a call fails in the block.
    """
    client = _first_client(addresses, timeout_s)
    try:
        yield NimbusClient(client)
    except (TException, OSError) as error:
        raise NimbusError(_text(error)) from error
    finally:
        client.close()


def _first_client(addresses: Sequence[NimbusAddress], timeout_s: float) -> Any:
    faults = []
    for address in addresses:
        try:
            return make_client(
                _IDL.Nimbus,
                address.host,
                address.port,
                proto_factory=TCyBinaryProtocolFactory(),  # type: ignore[no-untyped-call]  # thriftpy2 has no types
                trans_factory=TCyFramedTransportFactory(),
                timeout=int(timeout_s * 1e3),
            )
        except (TException, OSError) as error:
            faults.append(f"{address}: {_text(error)}")
    raise NimbusError("; ".join(faults))


def _text(error: Exception) -> str:
    """Return the useful part of a Thrift error: Storm puts it in `msg`, thriftpy2 in `message`."""
    text = getattr(error, "msg", None) or getattr(error, "message", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__
