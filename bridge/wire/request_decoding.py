"""Requests of placement.thrift to messages: every index and list length is checked here, once.

A malformed topology costs only itself: what is wrong with it is named, and a stand-in holds its slots.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from operator import le, lt
from typing import TYPE_CHECKING, Any

from bridge.wire.contract import WireError, check_present, check_unique, check_version
from bridge.wire.messages import UNASSIGNED, ComponentKind, PlanRequest, Topology
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
_AMOUNTS = (
    "executor_cpu_percent",
    "executor_memory_mb",
    "component_heap_mb",
    "component_resources",
    "shared_mb",
)
# Ten million cores, a petabyte: more is no demand but a slip, and would keep a host from everything else.
_MOST = 1e9
_STAYS = '{"topology.stormplace.frozen": true}'


@dataclass(frozen=True, slots=True)
class Malformed:
    """A topology that the request describes wrongly.

    Attributes:
        id: The topology.
        reason: What is wrong with it, with the place in the request.
    """

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in.

    Attributes:
        request: The round. In the place of a malformed topology stands a frozen one of the same id that has
            executors in the slots that it holds, so that the others are planned around it.
        malformed: What is wrong with topologies, in the order of the request.
    """

    request: PlanRequest
    malformed: tuple[Malformed, ...]


def request_from_thrift(raw: Any) -> Received:
    """Check a decoded request and turn it into a `PlanRequest`.

    Args:
        raw: The thrift struct `PlanRequest`.

    Raises:
        WireError: Unknown version, missing field, a bad supervisor or reading, or topologies without ids of
            their own, as then no topology can be given the reason.
    """
    if raw is None:
        raise WireError("the call carries no request")
    check_version(raw.version, "request")
    check_present(raw, "request")
    bare = copy(raw)
    bare.topologies = []
    request = from_thrift(PlanRequest, bare)
    for index, supervisor in enumerate(request.supervisors):
        _check_length(supervisor.resources, len(request.resource_names), f"supervisors[{index}].resources")
    check_unique((supervisor.id for supervisor in request.supervisors), "supervisors", "id")
    for index, each in enumerate(raw.topologies):
        if each.id is None:
            raise WireError(f"topologies[{index}].id: missing")
    check_unique((each.id for each in raw.topologies), "topologies", "id")
    topologies: list[Topology | None] = []
    malformed: list[Malformed] = []
    for index, each in enumerate(raw.topologies):
        try:
            topologies.append(_topology(each, f"topologies[{index}]", request))
        except WireError as error:
            topologies.append(None)
            malformed.append(Malformed(each.id, str(error)))
    whole = _with_stand_ins(topologies, raw.topologies, len(request.supervisors))
    return Received(replace(request, topologies=whole), tuple(malformed))


def _topology(raw: Any, path: str, request: PlanRequest) -> Topology:
    topology = from_thrift(Topology, raw, f"{path}.")
    _check_lists(topology, path, len(request.supervisors))
    _check_executors(topology, path)
    _check_resources(topology, path, len(request.resource_names))
    _check_left(topology, path, len(request.supervisors))
    return topology


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
        _check_indices(getattr(topology, name), high, f"{path}.{name}", low)


def _check_executors(topology: Topology, path: str) -> None:
    first, last = topology.executor_first_task, topology.executor_last_task
    if not (all(map(le, first, last)) and all(map(lt, last, first[1:]))):
        index = next(
            index
            for index, (low, high) in enumerate(zip(first, last, strict=True))
            if high < low or (index and low <= last[index - 1])
        )
        place = f"{path}.executor_first_task[{index}]"
        raise WireError(f"{place}: task range {first[index]}-{last[index]} is empty or out of order")
    supervisors, ports = topology.executor_supervisor, topology.executor_port
    without = [supervisor == UNASSIGNED for supervisor in supervisors]
    portless = [port == UNASSIGNED for port in ports]
    if without != portless:
        index = next(index for index, each in enumerate(without) if each != portless[index])
        place = f"{path}.executor_port[{index}]"
        raise WireError(f"{place}: port {ports[index]} does not fit supervisor {supervisors[index]}")


def _with_stand_ins(
    topologies: Sequence[Topology | None], raw: Sequence[Any], n_supervisors: int
) -> tuple[Topology, ...]:
    """Return all topologies, a stand-in for each that is None."""
    sound = [topology for topology in topologies if topology is not None]
    # What a malformed topology claims must not take a slot from one that is in order.
    taken = (
        set[tuple[int, int]]()
        if len(sound) == len(topologies)
        else {
            slot
            for topology in sound
            for slot in zip(topology.executor_supervisor, topology.executor_port, strict=True)
        }
    )
    whole = []
    for topology, each in zip(topologies, raw, strict=True):
        stands = topology or _stand_in(each, n_supervisors, taken)
        if topology is None:
            taken |= set(zip(stands.executor_supervisor, stands.executor_port, strict=True))
        whole.append(stands)
    return tuple(whole)


def _stand_in(raw: Any, n_supervisors: int, taken: set[tuple[int, int]]) -> Topology:
    """Return a topology with what can be read of the slots that a malformed one holds, and of its demand."""
    slots = list(zip(raw.executor_supervisor or (), raw.executor_port or (), strict=False))
    held = [
        index
        for index, (supervisor, port) in enumerate(slots)
        if 0 <= supervisor < n_supervisors and port >= 0 and (supervisor, port) not in taken
    ]

    def amounts(values: Sequence[float] | None) -> tuple[float, ...]:
        if values is None or len(values) != len(slots):
            return (0.0,) * len(held)
        return tuple(values[index] if _is_amount(values[index]) else 0.0 for index in held)

    tasks = tuple(range(1, len(held) + 1))
    return Topology(
        id=raw.id,
        name=raw.name or raw.id,
        num_workers=1,
        settings_json=_STAYS,
        component_names=("unknown",),
        component_kinds=(ComponentKind.SYSTEM,),
        stream_from=(),
        stream_to=(),
        stream_ids=(),
        stream_groupings=(),
        executor_first_task=tasks,
        executor_last_task=tasks,
        executor_component=(0,) * len(held),
        executor_cpu_percent=amounts(raw.executor_cpu_percent),
        executor_memory_mb=amounts(raw.executor_memory_mb),
        executor_supervisor=tuple(slots[index][0] for index in held),
        executor_port=tuple(slots[index][1] for index in held),
    )


def _check_resources(topology: Topology, path: str, n_named: int) -> None:
    n_components = len(topology.component_names)
    for name in _AMOUNTS:
        _check_amounts(getattr(topology, name), f"{path}.{name}")
    _check_length(topology.component_heap_mb, n_components, f"{path}.component_heap_mb")
    _check_length(topology.component_resources, n_components * n_named, f"{path}.component_resources")
    _check_length(topology.last_supervisor, topology.n_executors, f"{path}.last_supervisor")
    _check_length(topology.last_port, topology.n_executors, f"{path}.last_port")
    _check_shared(topology, path)


def _check_left(topology: Topology, path: str, n_supervisors: int) -> None:
    supervisors = topology.left_supervisor or ()
    if len(topology.left_port or ()) != len(supervisors):
        raise WireError(f"{path}.left_port: another number of values than left_supervisor has")
    _check_indices(supervisors, n_supervisors, f"{path}.left_supervisor")


def _check_shared(topology: Topology, path: str) -> None:
    components, pieces = topology.shared_component or (), topology.shared_piece or ()
    amounts = topology.shared_mb or ()
    _check_length(topology.shared_piece, len(components), f"{path}.shared_piece")
    if len(amounts) % 3:
        raise WireError(f"{path}.shared_mb: {len(amounts)} values are no triples")
    _check_indices(components, len(topology.component_names), f"{path}.shared_component")
    _check_indices(pieces, len(amounts) // 3, f"{path}.shared_piece")


def _check_indices(values: Sequence[int], high: int, place: str, low: int = 0) -> None:
    # Whole lists are compared, as there may be tens of thousands of values; only a fault is looked for.
    if not values or (low <= min(values) and max(values) < high):
        return
    index = next(index for index, value in enumerate(values) if not low <= value < high)
    raise WireError(f"{place}[{index}]: {values[index]} is outside {low}..{high - 1}")


def _check_amounts(values: Sequence[float] | None, place: str) -> None:
    # What is no number at all shows in the sum alone.
    if not values or (_is_amount(min(values)) and _is_amount(max(values)) and math.isfinite(sum(values))):
        return
    index = next(index for index, value in enumerate(values) if not _is_amount(value))
    raise WireError(f"{place}[{index}]: {values[index]:g} is outside 0..{_MOST:g}")


def _is_amount(value: float) -> bool:
    return 0.0 <= value <= _MOST


def _check_length(values: Sequence[float] | None, wanted: int, place: str) -> None:
    if values is not None and len(values) != wanted:
        raise WireError(f"{place}: {len(values)} values where {wanted} are expected")
