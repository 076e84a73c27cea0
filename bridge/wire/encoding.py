"""Messages of placement.thrift are encoded as TBinaryProtocol bytes and decoded from them."""

from __future__ import annotations

from typing import Any

from thriftpy2.protocol import TCyBinaryProtocolFactory, cybin
from thriftpy2.thrift import TException
from thriftpy2.transport import TTransportException
from thriftpy2.utils import deserialize, serialize

from bridge.wire.binary_check import check_struct
from bridge.wire.contract import WireError, check_present, check_version, enum_value, idl
from bridge.wire.messages import Decision, PlanRequest, PlanResponse, Price, TopologyPlan
from bridge.wire.request_decoding import request_from_thrift

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


def response_to_thrift(response: PlanResponse) -> Any:
    """Turn a response into its thrift struct."""
    return idl.PlanResponse(
        version=response.version,
        round_id=response.round_id,
        plans=[
            idl.TopologyPlan(
                topology_id=plan.topology_id,
                decision=int(plan.decision),
                executor_supervisor=list(plan.executor_supervisor),
                executor_port=list(plan.executor_port),
                status=plan.status,
                strategy=plan.strategy,
                objective=plan.objective,
                response_time_ms=plan.response_time_ms,
                bound=plan.bound,
                price=None
                if plan.price is None
                else idl.Price(
                    gain=plan.price.gain,
                    executors_moved=plan.price.executors_moved,
                    workers_moved=plan.price.workers_moved,
                ),
            )
            for plan in response.plans
        ],
    )


def request_to_thrift(request: PlanRequest) -> Any:
    """Turn a request into its thrift struct."""
    return idl.PlanRequest(
        version=request.version,
        round_id=request.round_id,
        deadline_ms=request.deadline_ms,
        supervisors=[_struct(idl.Supervisor, item) for item in request.supervisors],
        topologies=[_struct(idl.Topology, item) for item in request.topologies],
        readings=[_struct(idl.Reading, item) for item in request.readings],
        readings_live=request.readings_live,
    )


def decode_request(data: bytes) -> PlanRequest:
    """Read a request from its bytes (TBinaryProtocol).

    Raises:
        WireError: The bytes are no request of a known version.
    """
    return request_from_thrift(_decode(idl.PlanRequest(), data, "request"))


def encode_request(request: PlanRequest) -> bytes:
    """Write a request as bytes (TBinaryProtocol)."""
    return bytes(serialize(request_to_thrift(request), PROTOCOL_FACTORY))


def encode_response(response: PlanResponse) -> bytes:
    """Write a response as bytes (TBinaryProtocol)."""
    return bytes(serialize(response_to_thrift(response), PROTOCOL_FACTORY))


def decode_response(data: bytes) -> PlanResponse:
    """Read a response from its bytes (TBinaryProtocol).

    Raises:
        WireError: The bytes are no response of a known version.
    """
    raw = _decode(idl.PlanResponse(), data, "response")
    check_version(raw.version, "response")
    check_present(raw, "response")
    plans: list[TopologyPlan] = []
    for index, item in enumerate(raw.plans):
        path = f"plans[{index}]"
        check_present(item, path)
        if item.price is not None:
            check_present(item.price, f"{path}.price")
        plans.append(
            TopologyPlan(
                topology_id=item.topology_id,
                decision=enum_value(Decision, item.decision, f"{path}.decision"),
                executor_supervisor=tuple(item.executor_supervisor),
                executor_port=tuple(item.executor_port),
                status=item.status,
                strategy=item.strategy,
                objective=item.objective,
                response_time_ms=item.response_time_ms,
                bound=item.bound,
                price=None
                if item.price is None
                else Price(item.price.gain, item.price.executors_moved, item.price.workers_moved),
            )
        )
    return PlanResponse(raw.version, raw.round_id, tuple(plans))


def _decode(struct: Any, data: bytes, what: str) -> Any:
    try:
        check_struct(data)
        return deserialize(struct, data, PROTOCOL_FACTORY)
    except DECODE_ERRORS as error:
        msg = f"{what}: not a message of placement.thrift ({error})"
        raise WireError(msg) from error


def _struct(kind: Any, message: Any) -> Any:
    values = {spec[1]: getattr(message, spec[1]) for spec in kind.thrift_spec.values()}
    return kind(
        **{name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
    )
