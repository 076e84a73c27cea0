"""Messages of placement.thrift are encoded as TBinaryProtocol bytes and decoded from them."""

from __future__ import annotations

from typing import Any

from thriftpy2.protocol import TCyBinaryProtocolFactory, cybin
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException
from thriftpy2.utils import deserialize, serialize

from bridge.wire.binary_check import check_struct
from bridge.wire.contract import WireError, check_present, check_version, idl
from bridge.wire.messages import PlanRequest, PlanResponse
from bridge.wire.request_decoding import Received, request_from_thrift
from bridge.wire.structs import from_thrift, to_thrift

_factory: Any = TCyBinaryProtocolFactory
# Undecodable text must be an error, not bytes in the place of a string: strict_decode.
PROTOCOL_FACTORY: Any = _factory(strict_decode=True)
_cybin: Any = cybin
# What thriftpy2 raises for bytes that are no such message; a negative length ends in a SystemError.
DECODE_ERRORS: tuple[type[Exception], ...] = (
    TException,
    TTransportException,
    _cybin.ProtocolError,
    EOFError,
    ValueError,
    TypeError,
    MemoryError,
    OverflowError,
    RecursionError,
    SystemError,
)


def decode_request(data: bytes) -> PlanRequest:
    """Read a request from its bytes (TBinaryProtocol), with stand-ins for malformed topologies.

    Raises:
        WireError: The bytes are no request of a known version.
    """
    return decode_received(data).request


def decode_received(data: bytes) -> Received:
    """Read a request from its bytes as the daemon does, with what is wrong with its topologies.

    Raises:
        WireError: The bytes are no request of a known version.
    """
    return request_from_thrift(_decode(idl.PlanRequest(), data, "request"))


def encode_request(request: PlanRequest) -> bytes:
    """Write a request as bytes (TBinaryProtocol)."""
    return encode_struct(to_thrift(request))


def encode_struct(raw: Any) -> bytes:
    """Write a thrift struct as bytes (TBinaryProtocol), malformed parts as they are."""
    return bytes(serialize(raw, PROTOCOL_FACTORY))


def encode_response(response: PlanResponse) -> bytes:
    """Write a response as bytes (TBinaryProtocol)."""
    return bytes(serialize(to_thrift(response), PROTOCOL_FACTORY))


def decode_response(data: bytes) -> PlanResponse:
    """Read a response from its bytes (TBinaryProtocol).

    Raises:
        WireError: The bytes are no response of a known version.
    """
    raw = _decode(idl.PlanResponse(), data, "response")
    check_version(raw.version, "response")
    check_present(raw, "response")
    return from_thrift(PlanResponse, raw)


def _decode(struct: Any, data: bytes, what: str) -> Any:
    try:
        check_struct(data)
        return deserialize(struct, data, PROTOCOL_FACTORY)
    except DECODE_ERRORS as error:
        raise WireError(f"{what}: not a message of placement.thrift ({error})") from error
