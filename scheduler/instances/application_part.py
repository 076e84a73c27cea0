"""The part `application` of instance documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scheduler.base.checks import ModelError, number, shown
from scheduler.instances.json_values import inside, json_array, json_items, json_object
from scheduler.model.application import ONLY_GRAPH, OPERATOR_QUANTITIES, Application, Operator, Stream
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.latency_limit import LatencyLimit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scheduler.model.constraints.constraint import Constraint
    from scheduler.model.network import Network

OPERATOR_DEFAULTS: Mapping[str, object] = {
    key: bounds.default for key, bounds in OPERATOR_QUANTITIES.items() if key != "execution_time_ms"
} | {"graph": ONLY_GRAPH, "role": None, "placement_cost": None}
"""Keys of an operator that a document leaves out where they have these values."""
_OPERATOR_KEYS = ("demand", "allowed", *OPERATOR_DEFAULTS)


def read_application(given: object, network: Network) -> tuple[Application, tuple[Constraint, ...]]:
    """Return the application, and the constraints that are stated with it."""
    path = "$.application"
    optional = ("streams", "colocate", "latency_limit_ms")
    entries = json_object(path, given, required=("operators",), optional=optional)
    operators = []
    for place, each in json_items(f"{path}.operators", entries["operators"]):
        fields = json_object(place, each, required=("name", "execution_time_ms"), optional=_OPERATOR_KEYS)
        if "demand" in fields:
            json_object(f"{place}.demand", fields["demand"])
        if "allowed" in fields:
            fields["allowed"] = tuple(json_array(f"{place}.allowed", fields["allowed"]))
        if "placement_cost" in fields:
            fields["placement_cost"] = _placement_cost(place, fields["placement_cost"], network)
        with inside(place):
            operators.append(Operator(**fields))
    streams = []
    for place, each in json_items(f"{path}.streams", entries.get("streams", [])):
        fields = json_object(
            place,
            each,
            required=("from", "to", "rate", "tuple_bytes"),
            optional=("critical", "link_weight"),
        )
        with inside(place):
            streams.append(Stream(source=fields.pop("from"), target=fields.pop("to"), **fields))
    with inside(path):
        application = Application(tuple(operators), tuple(streams))
    together = [
        _together(place, each, application)
        for place, each in json_items(f"{path}.colocate", entries.get("colocate", []))
    ]
    limits = json_object(f"{path}.latency_limit_ms", entries.get("latency_limit_ms", {}))
    return application, (*together, *_latencies(f"{path}.latency_limit_ms", limits, application))


def _placement_cost(place: str, given: object, network: Network) -> object:
    """Return costs by node; one number, for all nodes, as it is."""
    place = f"{place}.placement_cost"
    if isinstance(given, list):
        if len(given) != len(network.nodes):
            raise ModelError(place, f"expected {len(network.nodes)} values, one per node, got {len(given)}")
        names = [node.name for node in network.nodes]
        return {names[u]: number(f"{place}[{u}]", value) for u, value in enumerate(given)}
    if isinstance(given, dict):
        for node in given:
            if node not in network.index:
                raise ModelError(f"{place}.{node}", f"{shown(node)} is not a node of the network")
    return given


def _together(place: str, given: object, application: Application) -> CoLocation:
    names = json_array(place, given)
    for k, each in enumerate(names):
        if not isinstance(each, str) or each not in application.index:
            raise ModelError(f"{place}[{k}]", f"{shown(each)} is not an operator")
    try:
        return CoLocation(tuple(names))
    except ModelError as error:
        raise ModelError(place, error.message) from None


def _latencies(path: str, limits: Mapping[str, Any], application: Application) -> Iterator[LatencyLimit]:
    for operator, most in limits.items():
        if operator not in application.index:
            raise ModelError(f"{path}.{operator}", "no operator has that name")
        yield LatencyLimit(operator, number(f"{path}.{operator}", most))
