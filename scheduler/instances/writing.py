"""Problems as instance documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from scheduler.base.checks import ModelError
from scheduler.instances.application_part import OPERATOR_DEFAULTS
from scheduler.instances.document import CHOICES, KINDS
from scheduler.instances.network_part import NO_SUM, NODE_KEYS
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.latency_limit import LatencyLimit
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.link_table import Coordinates
from scheduler.model.network import LINK_QUANTITIES, NODE_QUANTITIES
from scheduler.model.problem import Objective, Problem

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.constraints.constraint import Constraint
    from scheduler.model.network import Network
    from scheduler.model.underlay import UnderlayLink


def to_document(problem: Problem) -> dict[str, Any]:
    """Return the instance document of a problem; `parse_instance` gives an equal problem back.

    Raises:
        ModelError: There is a constraint of a kind that the format does not have.
    """
    application = problem.application
    operators = [
        {"name": each.name, "execution_time_ms": each.execution_time_ms, "demand": dict(each.demand)}
        | ({} if each.allowed is None else {"allowed": list(each.allowed)})
        | {
            key: value
            for key, default in OPERATOR_DEFAULTS.items()
            if (value := getattr(each, key)) != default
        }
        for each in application.operators
    ]
    streams = [
        {"from": each.source, "to": each.target, "rate": each.rate, "tuple_bytes": each.tuple_bytes}
        | ({} if each.critical else {"critical": False})
        | ({} if each.link_weight == 1.0 else {"link_weight": each.link_weight})
        for each in application.streams
    ]
    document: dict[str, Any] = {
        "application": {"operators": operators, "streams": streams},
        "network": _network(problem.network, problem.constraints),
        "objective": {
            "weights": {metric: weight for metric, weight in problem.objective.weights.items() if weight},
            "range": {metric: list(limits) for metric, limits in problem.objective.ranges.items()},
        },
    }
    plain = Objective()
    for key in CHOICES:
        if (value := getattr(problem.objective, key)) != getattr(plain, key):
            document["objective"][key] = value
    _state(document, problem.constraints)
    if problem.current is not None:
        document["current"] = named_placement(problem, problem.current) | dict(problem.gone)
    if problem.gone:
        document["gone"] = sorted(set(problem.gone.values()))
    return document


def _written(key: str, value: object) -> bool:
    """Return whether a document states this of a node."""
    bounds = NODE_QUANTITIES.get(key)
    if bounds is None:
        return value is not None and value != []
    return bounds.always_written or value != bounds.default


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    return list(value) if isinstance(value, tuple) else value


def _network(network: Network, constraints: tuple[Constraint, ...]) -> dict[str, Any]:
    nodes = [
        {"name": each.name, "capacity": dict(each.capacity)}
        | {key: value for key in NODE_KEYS[2:] if _written(key, value := _plain(getattr(each, key)))}
        for each in network.nodes
    ]
    written: dict[str, Any] = {"nodes": nodes}
    if network.underlay is not None:
        if not network.underlay.followed:
            raise ModelError("network.links", "no instance file states a part of a network of links")
        totals = {each.total for each in constraints if isinstance(each, LinkBandwidth)}
        if len(totals) > 1:
            raise ModelError("network.bandwidth_sum", "no instance file states several at once")
        total = next(iter(totals), NO_SUM)
        written["links"] = [_link(each) for each in network.underlay.links]
        limited = np.isfinite(network.underlay.bandwidth).any()
        return written | ({"bandwidth_sum": total} if limited and total != LinkBandwidth.total else {})
    if isinstance(network.delays, Coordinates):
        written["coordinates"] = network.delays.rows().tolist()
    else:
        written["delay_ms"] = network.delay_ms.tolist()
    for link in LINK_QUANTITIES:
        matrix = getattr(network, link.name)
        if matrix is not None:
            written[link.name] = matrix.tolist()
    return written


def _link(link: UnderlayLink) -> dict[str, Any]:
    optional = {"cost": link.cost, "bandwidth_bytes_per_s": link.bandwidth_bytes_per_s}
    stated = {key: value for key, value in optional.items() if value is not None}
    return {"between": list(link.between), "delay_ms": link.delay_ms} | stated


def _state(document: dict[str, Any], constraints: tuple[Constraint, ...]) -> None:
    """Put each constraint where a document states it; limits of links are with the network."""
    for each in constraints:
        if isinstance(each, MetricBudget):
            document.setdefault("budget", {})[each.metric] = each.most
        elif isinstance(each, CoLocation):
            document["application"].setdefault("colocate", []).append(list(each.operators))
        elif isinstance(each, LatencyLimit):
            limits = document["application"].setdefault("latency_limit_ms", {})
            limits[each.operator] = min(each.most_ms, limits.get(each.operator, each.most_ms))
        elif isinstance(each, LinkBandwidth):
            continue
        elif each.kind not in KINDS:
            raise ModelError(f"constraints.{each.kind}", "no instance file states constraints of this kind")
        else:
            values = {name: _plain(value) for name, value in vars(each).items()}
            document.setdefault("constraints", {}).setdefault(each.kind, []).append(values)


def named_placement(problem: Problem, placement: IntArray) -> dict[str, str]:
    """Return a placement as node name by operator name; operators without a node are left out."""
    return {
        operator.name: problem.network.nodes[u].name
        for operator, u in zip(problem.application.operators, placement, strict=True)
        if u >= 0
    }
