"""Asks Nimbus over Thrift for what rates need."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thriftpy2.thrift import TApplicationException

from formats import nimbus
from formats.nimbus import IDL, NimbusError, reason
from monitoring.rates.nimbus_faults import ReplyError, ReplyFault
from monitoring.rates.nimbus_statistics import executor_looks, topology_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from formats.address import Address
    from monitoring.rates.counters import ExecutorLook, Shape


class TopologyGoneError(Exception):
    """Nimbus does not know the topology any more."""


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
        options = IDL.GetInfoOptions(num_err_choice=IDL.NumErrorsChoice.NONE)
        with _one_topologys_faults(topology):
            return executor_looks(self._client.getTopologyInfoWithOpts(topology, options), shape)


@contextmanager
def _one_topologys_faults(topology: str) -> Iterator[None]:
    """Separate what Nimbus says of one topology from trouble with the connection, which passes."""
    try:
        yield
    except IDL.NotAliveException as error:
        raise TopologyGoneError(topology) from error
    except IDL.AuthorizationException as error:
        raise ReplyError(ReplyFault.REFUSED, reason(error)) from error
    except TApplicationException as error:
        raise ReplyError(ReplyFault.FAILED, reason(error)) from error


@contextmanager
def connect(addresses: Sequence[Address], timeout_s: float = 20.0) -> Iterator[NimbusClient]:
    """Open a connection to the Nimbus that leads.

    Args:
        addresses: Where to try, in order.
        timeout_s: Longest wait for a connection or a reply, s.

    Raises:
        NimbusError: None accepts a connection, none leads, or a call fails in the block.
    """
    with nimbus.connect(addresses, timeout_s=timeout_s) as client:
        yield NimbusClient(client)
