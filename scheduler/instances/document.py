"""Instance documents: JSON-like dictionaries to problems; every error names its JSON path."""

from __future__ import annotations

import dataclasses
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from scheduler.base.checks import ModelError, name, shown
from scheduler.instances.application_part import read_application
from scheduler.instances.json_values import inside, json_array, json_items, json_object
from scheduler.instances.network_part import read_network
from scheduler.model.constraints.adjacency import Adjacency
from scheduler.model.constraints.metric_budget import BUDGETED, MetricBudget
from scheduler.model.current import GONE
from scheduler.model.problem import UNPLACED, Application, CoLocationLimit, Network, Objective, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import IntArray
    from scheduler.model.constraints.constraint import Constraint

KINDS: Final[Mapping[str, type[Constraint]]] = MappingProxyType(
    {
        Adjacency.kind: Adjacency,
        CoLocationLimit.kind: CoLocationLimit,
    }
)
"""Constraints that instance files can state, each by a key that is its kind."""

CHOICES = ("cost_model", "migration_price", "duration_model", "duration_limit")
"""Keys of an objective that choose a reading."""
_TOP_KEYS = ("objective", "current", "gone", "budget", "constraints")


def parse_instance(document: object) -> Problem:
    """Return the problem of an instance document.

    Args:
        document: What a JSON parser returns for an instance file (format: docs/strategies.md).

    Raises:
        ModelError: Something is missing, unknown or out of range; `where` is its JSON path.
    """
    top = json_object("$", document, required=("application", "network"), optional=_TOP_KEYS)
    network, bandwidths = read_network(top["network"])
    application, stated = read_application(top["application"], network)
    objective = _objective(top["objective"]) if "objective" in top else Objective()
    gone = _gone(top.get("gone", []), network)
    current = _current(top["current"], application, network, gone) if "current" in top else None
    constraints = (*stated, *bandwidths)
    if "constraints" in top:
        constraints += _constraints(top["constraints"])
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


def _objective(given: object) -> Objective:
    path = "$.objective"
    entries = json_object(path, given, optional=("weights", "range", *CHOICES))
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
