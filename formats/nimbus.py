"""A connection to Nimbus over Thrift, and the calls of its service that are used here (`nimbus.thrift`)."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import thriftpy2
from thriftpy2.protocol import TCyBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.thrift import TException
from thriftpy2.transport import TCyFramedTransportFactory

from formats.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

IDL = thriftpy2.load(
    str(Path(__file__).with_name("nimbus.thrift")), module_name="stormplace_formats_nimbus_thrift"
)


class NimbusError(Exception):
    """Nimbus cannot be reached or refuses; the message is one sentence."""


@contextmanager
def connect(addresses: Sequence[Address], *, timeout_s: float, service: Any = IDL.Nimbus) -> Iterator[Any]:
    """Open a client of the Nimbus that leads.

    A single one is taken for it. Of several the first that answers names the leader, by the name that the
    leader has for itself: each of them knows all topologies, but one that has just started may tell little.

    Args:
        addresses: Thrift ports (usually 6627), tried in this order.
        timeout_s: Longest wait for a connection or a reply, s.
        service: thriftpy2's description of the service, if it is to be a larger one.

    Raises:
        NimbusError: None answers, none leads, or a call fails within the block.
    """
    address, client = _leaders_client(addresses, timeout_s, service)
    try:
        yield client
    except (TException, OSError) as error:
        raise NimbusError(f"Nimbus {address}: {reason(error)}") from error
    finally:
        client.close()


def _leaders_client(addresses: Sequence[Address], timeout_s: float, service: Any) -> tuple[Address, Any]:
    faults = []
    for address in addresses:
        try:
            client = _client(address, timeout_s, service)
            if len(addresses) == 1:
                return address, client
            leader = _leader(address, client)
        except NimbusError as error:
            faults.append(str(error))
        else:
            return (address, client) if leader == address else (leader, _client(leader, timeout_s, service))
    raise NimbusError("; ".join(faults))


def _client(address: Address, timeout_s: float, service: Any) -> Any:
    try:
        return make_client(
            service,
            address.host,
            address.port,
            proto_factory=TCyBinaryProtocolFactory(),  # type: ignore[no-untyped-call]  # thriftpy2 has no types
            trans_factory=TCyFramedTransportFactory(),
            timeout=int(timeout_s * 1e3),
        )
    except (TException, OSError) as error:
        raise NimbusError(f"Nimbus {address} cannot be reached: {reason(error)}") from error


def _leader(address: Address, client: Any) -> Address:
    """Ask a Nimbus which one leads; its client is closed unless that is itself."""
    leader = None
    try:
        summary = client.getLeader()
        leader = Address(summary.host, summary.port)
    except (TException, OSError) as error:
        raise NimbusError(f"Nimbus {address} names no leader: {reason(error)}") from error
    finally:
        if leader != address:
            client.close()
    return leader


def reason(error: Exception) -> str:
    """Return the useful part of a Thrift error: Storm puts it in `msg`, thriftpy2 in `message`."""
    text = getattr(error, "msg", None) or getattr(error, "message", None) or str(error)
    return " ".join(str(text).split()) or type(error).__name__
