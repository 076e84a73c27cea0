"""Instance documents: JSON-like dictionaries to problems and back; every error names its JSON path."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import fields as fields_of
from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.checks import ModelError, shown
from scheduler.model.link_table import Coordinates
from scheduler.model.network import LINK_QUANTITIES, NODE_QUANTITIES
from scheduler.model.problem import (
    UNPLACED,
    Application,
    CoLocationLimit,
    Network,
    Node,
    Objective,
    Operator,
    Problem,
    Stream,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scheduler.base.arrays import IntArray

_NODE_KEYS = tuple(field.name for field in fields_of(Node))
"""Keys of a node: those of the model, the two that have no default first."""


def parse_instance(document: object) -> Problem:
    """Return the problem of an instance document.

    Args:
        document: What a JSON parser returns for an instance file (format: docs/strategies.md).

    Raises:
        ModelError: Something is missing, unknown or out of range; `where` is its JSON path.
    """
    top = _object(
        "$", document, required=("application", "network"), optional=("objective", "current", "constraints")
    )
    application = _application(top["application"])
    network = _network(top["network"])
    objective = _objective(top["objective"]) if "objective" in top else Objective()
    current = _current(top["current"], application, network) if "current" in top else None
    limits = _limits(top["constraints"]) if "constraints" in top else ()
    with _inside("$"):
        return Problem(application, network, objective, current, limits)


def _limits(given: object) -> tuple[CoLocationLimit, ...]:
    path = "$.constraints"
    entries = _object(path, given, optional=("co_location",))
    limits = []
    for k, each in enumerate(_array(f"{path}.co_location", entries.get("co_location", []))):
        place = f"{path}.co_location[{k}]"
        fields = _object(place, each, required=("operators",), optional=("most",))
        with _inside(place):
            limits.append(CoLocationLimit(tuple(_array("operators", fields.pop("operators"))), **fields))
    return tuple(limits)


def _application(given: object) -> Application:
    path = "$.application"
    entries = _object(path, given, required=("operators",), optional=("streams",))
    operators = []
    for k, each in enumerate(_array(f"{path}.operators", entries["operators"])):
        place = f"{path}.operators[{k}]"
        fields = _object(place, each, required=("name", "execution_time_ms"), optional=("demand", "allowed"))
        if "demand" in fields:
            _object(f"{place}.demand", fields["demand"])
        if "allowed" in fields:
            fields["allowed"] = tuple(_array(f"{place}.allowed", fields["allowed"]))
        with _inside(place):
            operators.append(Operator(**fields))
    streams = []
    for k, each in enumerate(_array(f"{path}.streams", entries.get("streams", []))):
        place = f"{path}.streams[{k}]"
        fields = _object(place, each, required=("from", "to", "rate", "tuple_bytes"), optional=("critical",))
        with _inside(place):
            streams.append(Stream(source=fields.pop("from"), target=fields.pop("to"), **fields))
    with _inside(path):
        return Application(tuple(operators), tuple(streams))


def _network(given: object) -> Network:
    path = "$.network"
    matrices = tuple(link.name for link in LINK_QUANTITIES)
    optional = ("delay_ms", "coordinates", *matrices)
    entries = _object(path, given, required=("nodes",), optional=optional)
    nodes = []
    for k, each in enumerate(_array(f"{path}.nodes", entries["nodes"])):
        place = f"{path}.nodes[{k}]"
        fields = _object(place, each, required=_NODE_KEYS[:2], optional=_NODE_KEYS[2:])
        _object(f"{place}.capacity", fields["capacity"])
        with _inside(place):
            nodes.append(Node(**fields))
    if ("delay_ms" in entries) == ("coordinates" in entries):
        raise ModelError(path, 'expected either "delay_ms" or "coordinates"')
    if "coordinates" in entries:
        rows = _array(f"{path}.coordinates", entries["coordinates"])
        if len(rows) != len(nodes):
            raise ModelError(
                f"{path}.coordinates", f"expected {len(nodes)} rows, one per node, got {len(rows)}"
            )
        with _inside(f"{path}.coordinates"):
            delay = Coordinates.of(rows)
    else:
        delay = entries["delay_ms"]
    with _inside(path):
        return Network(tuple(nodes), delay, **{name: entries.get(name) for name in matrices})


def _objective(given: object) -> Objective:
    path = "$.objective"
    entries = _object(path, given, optional=("weights", "range"))
    for key in entries:
        _object(f"{path}.{key}", entries[key])
    with _inside(path):
        if "weights" in entries:
            return Objective(weights=entries["weights"], ranges=entries.get("range", {}))
        return Objective(ranges=entries.get("range", {}))


def _current(given: object, application: Application, network: Network) -> IntArray:
    path = "$.current"
    by_operator = _object(path, given)
    placement = np.full(len(application.operators), UNPLACED, dtype=np.int64)
    for operator, node in by_operator.items():
        if operator not in application.index:
            raise ModelError(f"{path}.{operator}", "no operator has that name")
        if not isinstance(node, str) or node not in network.index:
            raise ModelError(f"{path}.{operator}", f"{shown(node)} is not a node of the network")
        placement[application.index[operator]] = network.index[node]
    return placement


def to_document(problem: Problem) -> dict[str, Any]:
    """Return the instance document of a problem; `parse_instance` gives an equal problem back."""
    application, network = problem.application, problem.network
    operators = [
        {"name": each.name, "execution_time_ms": each.execution_time_ms, "demand": dict(each.demand)}
        | ({} if each.allowed is None else {"allowed": list(each.allowed)})
        for each in application.operators
    ]
    streams = [
        {"from": each.source, "to": each.target, "rate": each.rate, "tuple_bytes": each.tuple_bytes}
        | ({} if each.critical else {"critical": False})
        for each in application.streams
    ]
    nodes = [
        {"name": each.name, "capacity": dict(each.capacity)}
        | {key: value for key in _NODE_KEYS[2:] if _written(key, value := getattr(each, key))}
        for each in network.nodes
    ]
    links: dict[str, Any] = {"nodes": nodes}
    if isinstance(network.delays, Coordinates):
        links["coordinates"] = network.delays.rows().tolist()
    else:
        links["delay_ms"] = network.delay_ms.tolist()
    for link in LINK_QUANTITIES:
        matrix = getattr(network, link.name)
        if matrix is not None:
            links[link.name] = matrix.tolist()
    document: dict[str, Any] = {
        "application": {"operators": operators, "streams": streams},
        "network": links,
        "objective": {
            "weights": dict(problem.objective.weights),
            "range": {metric: list(limits) for metric, limits in problem.objective.ranges.items()},
        },
    }
    if problem.limits:
        limits = [{"operators": list(limit.operators), "most": limit.most} for limit in problem.limits]
        document["constraints"] = {"co_location": limits}
    if problem.current is not None:
        document["current"] = named_placement(problem, problem.current)
    return document


def _written(key: str, value: object) -> bool:
    """Return whether a document states this of a node."""
    bounds = NODE_QUANTITIES.get(key)
    return value is not None if bounds is None else bounds.always_written or value != bounds.default


def named_placement(problem: Problem, placement: IntArray) -> dict[str, str]:
    """Return a placement as node name by operator name; operators without a node are left out."""
    return {
        operator.name: problem.network.nodes[u].name
        for operator, u in zip(problem.application.operators, placement, strict=True)
        if u >= 0
    }


@contextmanager
def _inside(prefix: str) -> Iterator[None]:
    """Give errors of the model the path of the object under construction."""
    try:
        yield
    except ModelError as error:
        raise error.under(prefix) from None


def _object(
    path: str,
    given: object,
    *,
    required: tuple[str, ...] | None = None,
    optional: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Return a copy of a JSON object; without `required` and `optional` any keys are permitted."""
    if not isinstance(given, dict):
        raise ModelError(path, f"expected an object, got {shown(given)}")
    if required is None and optional is None:
        return dict(given)
    known = (required or ()) + (optional or ())
    for key in given:
        if key not in known:
            raise ModelError(path, f"unknown key {shown(key)}; the keys are {', '.join(known)}")
    for key in required or ():
        if key not in given:
            raise ModelError(path, f"{shown(key)} is missing")
    return dict(given)


def _array(path: str, given: object) -> list[Any]:
    if not isinstance(given, list):
        raise ModelError(path, f"expected an array, got {shown(given)}")
    return given
