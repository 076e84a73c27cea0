"""Requests of placement.thrift to messages: every index and list length is checked here, once."""

from __future__ import annotations

from typing import Any

from bridge.wire.contract import WireError, check_present, check_unique, check_version, enum_value
from bridge.wire.messages import (
    UNASSIGNED,
    ComponentKind,
    Grouping,
    PlanRequest,
    Reading,
    ReadingKind,
    Supervisor,
    Topology,
)


def request_from_thrift(raw: Any) -> PlanRequest:
    """Check a decoded request and turn it into a `PlanRequest`.

    Args:
        raw: The thrift struct `PlanRequest`.

    Raises:
        WireError: Unknown version, missing field, lists that are not parallel, or an index out of range.
    """
    if raw is None:
        msg = "the call carries no request"
        raise WireError(msg)
    check_version(raw.version, "request")
    check_present(raw, "request")
    supervisors = tuple(
        _supervisor(item, f"supervisors[{index}]") for index, item in enumerate(raw.supervisors)
    )
    topologies = tuple(
        _topology(item, f"topologies[{index}]", len(supervisors)) for index, item in enumerate(raw.topologies)
    )
    check_unique((supervisor.id for supervisor in supervisors), "supervisors", "id")
    check_unique((topology.id for topology in topologies), "topologies", "id")
    readings = tuple(_reading(item, f"readings[{index}]") for index, item in enumerate(raw.readings))
    return PlanRequest(
        version=raw.version,
        round_id=raw.round_id,
        deadline_ms=raw.deadline_ms,
        supervisors=supervisors,
        topologies=topologies,
        readings=readings,
        readings_live=raw.readings_live,
    )


def _supervisor(raw: Any, path: str) -> Supervisor:
    check_present(raw, path)
    return Supervisor(
        id=raw.id,
        host=raw.host,
        ports=tuple(raw.ports),
        alive=raw.alive,
        blacklisted=raw.blacklisted,
        cpu_percent=raw.cpu_percent,
        memory_mb=raw.memory_mb,
        meta=dict(raw.meta),
    )


def _reading(raw: Any, path: str) -> Reading:
    check_present(raw, path)
    return Reading(enum_value(ReadingKind, raw.kind, f"{path}.kind"), raw.name, raw.payload, raw.age_ms)


def _topology(raw: Any, path: str, n_supervisors: int) -> Topology:
    check_present(raw, path)
    for first, others in (
        ("component_names", ("component_kinds",)),
        ("stream_from", ("stream_to", "stream_ids", "stream_groupings")),
        (
            "executor_first_task",
            (
                "executor_last_task",
                "executor_component",
                "executor_cpu_percent",
                "executor_memory_mb",
                "executor_supervisor",
                "executor_port",
            ),
        ),
    ):
        wanted = len(getattr(raw, first))
        for name in others:
            found = len(getattr(raw, name))
            if found != wanted:
                msg = f"{path}.{name}: {found} values where {first} has {wanted}"
                raise WireError(msg)
    n_components = len(raw.component_names)
    for name, low, high in (
        ("stream_from", 0, n_components),
        ("stream_to", 0, n_components),
        ("executor_component", 0, n_components),
        ("executor_supervisor", UNASSIGNED, n_supervisors),
    ):
        for index, value in enumerate(getattr(raw, name)):
            if not low <= value < high:
                msg = f"{path}.{name}[{index}]: {value} is outside {low}..{high - 1}"
                raise WireError(msg)
    _check_executors(raw, path)
    return Topology(
        id=raw.id,
        name=raw.name,
        num_workers=raw.num_workers,
        settings_json=raw.settings_json,
        component_names=tuple(raw.component_names),
        component_kinds=tuple(
            enum_value(ComponentKind, value, f"{path}.component_kinds[{index}]")
            for index, value in enumerate(raw.component_kinds)
        ),
        stream_from=tuple(raw.stream_from),
        stream_to=tuple(raw.stream_to),
        stream_ids=tuple(raw.stream_ids),
        stream_groupings=tuple(
            enum_value(Grouping, value, f"{path}.stream_groupings[{index}]")
            for index, value in enumerate(raw.stream_groupings)
        ),
        executor_first_task=tuple(raw.executor_first_task),
        executor_last_task=tuple(raw.executor_last_task),
        executor_component=tuple(raw.executor_component),
        executor_cpu_percent=tuple(raw.executor_cpu_percent),
        executor_memory_mb=tuple(raw.executor_memory_mb),
        executor_supervisor=tuple(raw.executor_supervisor),
        executor_port=tuple(raw.executor_port),
    )


def _check_executors(raw: Any, path: str) -> None:
    previous_last = None
    for index, (first, last) in enumerate(zip(raw.executor_first_task, raw.executor_last_task, strict=True)):
        if last < first or (previous_last is not None and first <= previous_last):
            msg = f"{path}.executor_first_task[{index}]: task range {first}-{last} is empty or out of order"
            raise WireError(msg)
        previous_last = last
    for index, (supervisor, port) in enumerate(zip(raw.executor_supervisor, raw.executor_port, strict=True)):
        if (supervisor == UNASSIGNED) != (port == UNASSIGNED):
            msg = f"{path}.executor_port[{index}]: port {port} does not fit supervisor {supervisor}"
            raise WireError(msg)
