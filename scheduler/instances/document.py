"""Instance documents: JSON-like dictionaries to problems and back; every error names its JSON path."""

from __future__ import annotations

import dataclasses
from dataclasses import fields as fields_of
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from scheduler.base.checks import ModelError, name, shown
from scheduler.instances.json_values import inside, json_array, json_items, json_object
from scheduler.model.application import ONLY_GRAPH, OPERATOR_QUANTITIES
from scheduler.model.constraints.metric_budget import BUDGETED, MetricBudget
from scheduler.model.current import GONE
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
    from collections.abc import Mapping

    from scheduler.base.arrays import IntArray
    from scheduler.model.constraints.constraint import Constraint

KINDS: Final[Mapping[str, type[Constraint]]] = MappingProxyType(
    {
        CoLocationLimit.kind: CoLocationLimit,
    }
)
"""Constraints that instance files can state, each by a key that is its kind."""

_CHOICES = ("cost_model", "migration_price", "duration_model", "duration_limit")
_TOP_KEYS = ("objective", "current", "gone", "budget", "constraints")
_OPERATOR_DEFAULTS = {
    key: bounds.default for key, bounds in OPERATOR_QUANTITIES.items() if key != "execution_time_ms"
} | {"graph": ONLY_GRAPH}
"""Keys of an operator that a document leaves out where they have these values."""
_OPERATOR_KEYS = ("demand", "allowed", *_OPERATOR_DEFAULTS)
_NODE_KEYS = tuple(field.name for field in fields_of(Node))
"""Keys of a node: those of the model, the two that have no default first."""


def parse_instance(document: object) -> Problem:
    """Return the problem of an instance document.

    Args:
        document: What a JSON parser returns for an instance file (format: docs/strategies.md).

    Raises:
        ModelError: Something is missing, unknown or out of range; `where` is its JSON path.
    """
    top = json_object("$", document, required=("application", "network"), optional=_TOP_KEYS)
    application = _application(top["application"])
    network = _network(top["network"])
    objective = _objective(top["objective"]) if "objective" in top else Objective()
    gone = _gone(top.get("gone", []), network)
    current = _current(top["current"], application, network, gone) if "current" in top else None
    constraints = _constraints(top["constraints"]) if "constraints" in top else ()
    budgets = _budgets(top["budget"]) if "budget" in top else ()
    with inside("$"):
        left = {
            operator: node for operator, node in top.get("current", {}).items() if node not in network.index
        }
        return Problem(application, network, objective, current, (*constraints, *budgets), gone=left)


def _budgets(given: object) -> tuple[MetricBudget, ...]:
    entries = json_object("$.budget", given, optional=BUDGETED)
    with inside("$.budget"):
        return tuple(MetricBudget(metric, most) for metric, most in entries.items())


def _gone(given: object, network: Network) -> frozenset[str]:
    names = json_array("$.gone", given)
    with inside("$"):
        for k, each in enumerate(names):
            if name(f"gone[{k}]", each) in network.index:
                raise ModelError(f"gone[{k}]", f"{shown(each)} is a node of the network")
    return frozenset(names)


def _constraints(given: object) -> tuple[Constraint, ...]:
    path = "$.constraints"
    entries = json_object(path, given, optional=tuple(KINDS))
    return tuple(
        _constraint(KINDS[kind], place, each)
        for kind, stated in entries.items()
        for place, each in json_items(f"{path}.{kind}", stated)
    )


def _constraint(record: type[Constraint], place: str, given: object) -> Constraint:
    """Return a record whose fields are the keys of a JSON object; arrays are tuples there."""
    known = dataclasses.fields(record)
    required = tuple(each.name for each in known if each.default is dataclasses.MISSING)
    optional = tuple(each.name for each in known if each.name not in required)
    values = json_object(place, given, required=required, optional=optional)
    with inside(place):
        for each in known:
            if str(each.type).startswith("tuple") and each.name in values:
                values[each.name] = tuple(json_array(each.name, values[each.name]))
        return record(**values)


def _application(given: object) -> Application:
    path = "$.application"
    entries = json_object(path, given, required=("operators",), optional=("streams",))
    operators = []
    for place, each in json_items(f"{path}.operators", entries["operators"]):
        fields = json_object(place, each, required=("name", "execution_time_ms"), optional=_OPERATOR_KEYS)
        if "demand" in fields:
            json_object(f"{place}.demand", fields["demand"])
        if "allowed" in fields:
            fields["allowed"] = tuple(json_array(f"{place}.allowed", fields["allowed"]))
        with inside(place):
            operators.append(Operator(**fields))
    streams = []
    for place, each in json_items(f"{path}.streams", entries.get("streams", [])):
        fields = json_object(
            place, each, required=("from", "to", "rate", "tuple_bytes"), optional=("critical",)
        )
        with inside(place):
            streams.append(Stream(source=fields.pop("from"), target=fields.pop("to"), **fields))
    with inside(path):
        return Application(tuple(operators), tuple(streams))


def _network(given: object) -> Network:
    path = "$.network"
    matrices = tuple(link.name for link in LINK_QUANTITIES)
    optional = ("delay_ms", "coordinates", *matrices)
    entries = json_object(path, given, required=("nodes",), optional=optional)
    nodes = []
    for place, each in json_items(f"{path}.nodes", entries["nodes"]):
        fields = json_object(place, each, required=_NODE_KEYS[:2], optional=_NODE_KEYS[2:])
        json_object(f"{place}.capacity", fields["capacity"])
        if "holds" in fields:
            fields["holds"] = tuple(json_array(f"{place}.holds", fields["holds"]))
        with inside(place):
            nodes.append(Node(**fields))
    if ("delay_ms" in entries) == ("coordinates" in entries):
        raise ModelError(path, 'expected either "delay_ms" or "coordinates"')
    if "coordinates" in entries:
        rows = json_array(f"{path}.coordinates", entries["coordinates"])
        if len(rows) != len(nodes):
            raise ModelError(
                f"{path}.coordinates", f"expected {len(nodes)} rows, one per node, got {len(rows)}"
            )
        with inside(f"{path}.coordinates"):
            delay = Coordinates.of(rows)
    else:
        delay = entries["delay_ms"]
    with inside(path):
        return Network(tuple(nodes), delay, **{name: entries.get(name) for name in matrices})


def _objective(given: object) -> Objective:
    path = "$.objective"
    entries = json_object(path, given, optional=("weights", "range", *_CHOICES))
    for key in ("weights", "range"):
        if key in entries:
            json_object(f"{path}.{key}", entries[key])
    entries["ranges"] = entries.pop("range", {})
    with inside(path):
        return Objective(**entries)


def _current(given: object, application: Application, network: Network, gone: frozenset[str]) -> IntArray:
    path = "$.current"
    by_operator = json_object(path, given)
    placement = np.full(len(application.operators), UNPLACED, dtype=np.int64)
    for operator, node in by_operator.items():
        if operator not in application.index:
            raise ModelError(f"{path}.{operator}", "no operator has that name")
        if not isinstance(node, str) or (node not in network.index and node not in gone):
            raise ModelError(f"{path}.{operator}", f"{shown(node)} is not a node of the network")
        placement[application.index[operator]] = network.index.get(node, GONE)
    return placement


def to_document(problem: Problem) -> dict[str, Any]:
    """Return the instance document of a problem; `parse_instance` gives an equal problem back.

    Raises:
        ModelError: There is a constraint of a kind that the format does not have.
    """
    application, network = problem.application, problem.network
    operators = [
        {"name": each.name, "execution_time_ms": each.execution_time_ms, "demand": dict(each.demand)}
        | ({} if each.allowed is None else {"allowed": list(each.allowed)})
        | {
            key: value
            for key, default in _OPERATOR_DEFAULTS.items()
            if (value := getattr(each, key)) != default
        }
        for each in application.operators
    ]
    streams = [
        {"from": each.source, "to": each.target, "rate": each.rate, "tuple_bytes": each.tuple_bytes}
        | ({} if each.critical else {"critical": False})
        for each in application.streams
    ]
    nodes = [
        {"name": each.name, "capacity": dict(each.capacity)}
        | {key: value for key in _NODE_KEYS[2:] if _written(key, value := _plain(getattr(each, key)))}
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
            "weights": {metric: weight for metric, weight in problem.objective.weights.items() if weight},
            "range": {metric: list(limits) for metric, limits in problem.objective.ranges.items()},
        },
    }
    plain = Objective()
    for key in _CHOICES:
        if (value := getattr(problem.objective, key)) != getattr(plain, key):
            document["objective"][key] = value
    budgets = [each for each in problem.constraints if isinstance(each, MetricBudget)]
    if budgets:
        document["budget"] = {each.metric: each.most for each in budgets}
    others = tuple(each for each in problem.constraints if not isinstance(each, MetricBudget))
    if others:
        document["constraints"] = _stated(others)
    if problem.current is not None:
        document["current"] = named_placement(problem, problem.current) | dict(problem.gone)
    if problem.gone:
        document["gone"] = sorted(set(problem.gone.values()))
    return document


def _written(key: str, value: object) -> bool:
    """Return whether a document states this of a node."""
    bounds = NODE_QUANTITIES.get(key)
    return bool(value) if bounds is None else bounds.always_written or value != bounds.default


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def _stated(constraints: tuple[Constraint, ...]) -> dict[str, list[dict[str, Any]]]:
    stated: dict[str, list[dict[str, Any]]] = {}
    for each in constraints:
        if each.kind not in KINDS:
            raise ModelError(f"constraints.{each.kind}", "no instance file states constraints of this kind")
        values = {name: _plain(value) for name, value in vars(each).items()}
        stated.setdefault(each.kind, []).append(values)
    return stated


def named_placement(problem: Problem, placement: IntArray) -> dict[str, str]:
    """Return a placement as node name by operator name; operators without a node are left out."""
    return {
        operator.name: problem.network.nodes[u].name
        for operator, u in zip(problem.application.operators, placement, strict=True)
        if u >= 0
    }
