"""Requests of placement.thrift to messages: every index and list length is checked here, once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bridge.wire.contract import WireError, check_present, check_unique, check_version
from bridge.wire.messages import UNASSIGNED, PlanRequest, Topology
from bridge.wire.structs import from_thrift

if TYPE_CHECKING:
    from collections.abc import Sequence

_PARALLEL = {
    "component_names": ("component_kinds",),
    "stream_from": ("stream_to", "stream_ids", "stream_groupings"),
    "executor_first_task": (
        "executor_last_task",
        "executor_component",
        "executor_cpu_percent",
        "executor_memory_mb",
        "executor_supervisor",
        "executor_port",
    ),
}


def request_from_thrift(raw: Any) -> PlanRequest:
    """Check a decoded request and turn it into a `PlanRequest`.

    Args:
        raw: The thrift struct `PlanRequest`.

    Raises:
        WireError: Unknown version, missing field, lists that are not parallel, or an index out of range.
    """
    if raw is None:
        raise WireError("the call carries no request")
    check_version(raw.version, "request")
    check_present(raw, "request")
    request = from_thrift(PlanRequest, raw)
    for index, topology in enumerate(request.topologies):
        _check_lists(topology, f"topologies[{index}]", len(request.supervisors))
        _check_executors(topology, f"topologies[{index}]")
        _check_resources(topology, f"topologies[{index}]", len(request.resource_names))
    for index, supervisor in enumerate(request.supervisors):
        _check_length(supervisor.resources, len(request.resource_names), f"supervisors[{index}].resources")
    check_unique((supervisor.id for supervisor in request.supervisors), "supervisors", "id")
    check_unique((topology.id for topology in request.topologies), "topologies", "id")
    return request


def _check_lists(topology: Topology, path: str, n_supervisors: int) -> None:
    for first, others in _PARALLEL.items():
        wanted = len(getattr(topology, first))
        for name in others:
            found = len(getattr(topology, name))
            if found != wanted:
                raise WireError(f"{path}.{name}: {found} values where {first} has {wanted}")
    n_components = len(topology.component_names)
    for name, low, high in (
        ("stream_from", 0, n_components),
        ("stream_to", 0, n_components),
        ("executor_component", 0, n_components),
        ("executor_supervisor", UNASSIGNED, n_supervisors),
    ):
        for index, value in enumerate(getattr(topology, name)):
            if not low <= value < high:
                raise WireError(f"{path}.{name}[{index}]: {value} is outside {low}..{high - 1}")


def _check_executors(topology: Topology, path: str) -> None:
    previous_last = None
    tasks = zip(topology.executor_first_task, topology.executor_last_task, strict=True)
    for index, (first, last) in enumerate(tasks):
        if last < first or (previous_last is not None and first <= previous_last):
            place = f"{path}.executor_first_task[{index}]"
            raise WireError(f"{place}: task range {first}-{last} is empty or out of order")
        previous_last = last
    slots = zip(topology.executor_supervisor, topology.executor_port, strict=True)
    for index, (supervisor, port) in enumerate(slots):
        if (supervisor == UNASSIGNED) != (port == UNASSIGNED):
            place = f"{path}.executor_port[{index}]"
            raise WireError(f"{place}: port {port} does not fit supervisor {supervisor}")


def _check_resources(topology: Topology, path: str, n_named: int) -> None:
    n_components = len(topology.component_names)
    _check_length(topology.component_heap_mb, n_components, f"{path}.component_heap_mb")
    _check_length(topology.component_resources, n_components * n_named, f"{path}.component_resources")
    _check_length(topology.last_supervisor, topology.n_executors, f"{path}.last_supervisor")
    _check_length(topology.last_port, topology.n_executors, f"{path}.last_port")


def _check_length(values: Sequence[float] | None, wanted: int, place: str) -> None:
    if values is not None and len(values) != wanted:
        raise WireError(f"{place}: {len(values)} values where {wanted} are expected")
