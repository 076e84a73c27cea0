"""CPU that executors need: as measured where there are statistics, else as declared.

Storm declares CPU per component, and so it is measured: one number stands for all executors of a component.
Capacities are limits for what is placed: no executor that runs has to leave its host because more was
measured than the host offers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import UNLIMITED
from bridge.wire.messages import UNASSIGNED, ComponentKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.readings.believed import Readings
    from bridge.readings.rates import Rates
    from bridge.settings import CapacitySettings
    from bridge.wire.messages import PlanRequest, Topology
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

LEAST = 0.1
"""Part of what is declared that an executor needs at least, however little it does now."""
_ONE_CORE = 100.0

_Slot = tuple[str, int]


@dataclass(frozen=True)
class CpuDemand:
    """CPU that the executors of a topology need.

    Attributes:
        percent: (n_executors,) percent of one core, as lists of the request are; None if all is as declared.
        summary: One phrase for status lines, without figures that change from round to round.
    """

    percent: tuple[float, ...] | None
    summary: str


_DECLARED = CpuDemand(None, "CPU as declared")


def cpu_demands(
    request: PlanRequest, rates: Rates, readings: Readings, settings: CapacitySettings
) -> dict[str, CpuDemand]:
    """Work out how much CPU executors need, by topology id.

    Args:
        request: The round.
        rates: Believed rates of topologies, with the time that components spend in executions.
        readings: Believed readings of hosts, with the processor time of workers.
        settings: Whether what is measured counts.

    Returns:
        Nothing where CPU does not count.
    """
    if settings.resources == "off":
        return {}
    if settings.resources == "strict" or settings.demand == "declared":
        return {topology.id: _DECLARED for topology in request.topologies}
    busy = {name: measured.busy for name, measured in rates.by_topology.items()}
    workers: dict[str, dict[_Slot, float]] = {}
    for reading in readings.by_host.values():
        for (name, port), percent in reading.workers.items():
            workers.setdefault(name, {})[reading.host, port] = percent
    return {
        topology.id: _demand_of(request, topology, busy.get(topology.id, {}), workers.get(topology.id, {}))
        for topology in request.topologies
    }


def with_cpu(request: PlanRequest, demands: Mapping[str, CpuDemand]) -> PlanRequest:
    """Return the request with what was measured in the place of what is declared."""
    measured = {name: demand.percent for name, demand in demands.items() if demand.percent is not None}
    if not measured:
        return request
    return replace(
        request,
        topologies=tuple(
            replace(topology, executor_cpu_percent=measured[topology.id])
            if topology.id in measured
            else topology
            for topology in request.topologies
        ),
    )


def _demand_of(
    request: PlanRequest,
    topology: Topology,
    busy: Mapping[str, float],
    workers: Mapping[_Slot, float],
) -> CpuDemand:
    if not (busy or workers):
        return _DECLARED
    component = np.array(topology.executor_component, dtype=np.int64)
    count = np.bincount(component, minlength=len(topology.component_names)).astype(np.float64)
    declared = np.array(topology.executor_cpu_percent, dtype=np.float64)
    declared = np.clip(np.nan_to_num(declared), 0.0, UNLIMITED)
    mean_declared = _mean(component, declared, count)
    timed = np.array([busy.get(name, np.nan) for name in topology.component_names]) / np.maximum(count, 1.0)
    # An executor is one thread. One that declares more has others, whose time Storm does not take.
    timed = np.where(mean_declared > _ONE_CORE, np.nan, np.minimum(timed, _ONE_CORE))
    measured = _with_workers(request, topology, component, timed, workers)
    known = ~np.isnan(measured) & (count > 0)
    if not known.any():
        return _DECLARED
    need = np.maximum(measured, LEAST * mean_declared)
    percent = np.where(known[component], need[component], declared)
    return CpuDemand(tuple(percent.tolist()), _summary(topology, known, count > 0))


def _summary(topology: Topology, known: BoolArray, present: BoolArray) -> str:
    kinds = topology.component_kinds
    own = [kind is not ComponentKind.SYSTEM and there for kind, there in zip(kinds, present, strict=True)]
    n_known = int((known & own).sum())
    return "CPU as measured" + ("" if n_known == sum(own) else f" for {n_known} of {sum(own)} components")


def _with_workers(
    request: PlanRequest,
    topology: Topology,
    component: IntArray,
    timed: FloatArray,
    workers: Mapping[_Slot, float],
) -> FloatArray:
    """Return (n_components,) percent per executor by the processor time of workers, else by execution times.

    Of a worker's time the executors whose executions Storm times get as much as they take; what is left
    goes to the others in equal parts. If executions take longer than the worker was busy (they wait for
    something), or no others are there, the timed ones share its time in proportion.

    Args:
        request: The round.
        topology: The topology.
        component: (n_executors,) their components.
        timed: (n_components,) percent of the time that an executor spends in executions, NaN if not known.
        workers: Processor time of the topology's workers, by name of the host and port.
    """
    slots = [
        None if supervisor == UNASSIGNED else (request.supervisors[supervisor].host, port)
        for supervisor, port in zip(topology.executor_supervisor, topology.executor_port, strict=True)
    ]
    number = {slot: index for index, slot in enumerate(workers)}
    index = np.array([-1 if slot is None else number.get(slot, -1) for slot in slots], dtype=np.int64)
    covered = np.flatnonzero(index >= 0)
    slot_of, own = index[covered], timed[component[covered]]
    total = np.array(list(workers.values()), dtype=np.float64)
    is_timed = ~np.isnan(own)
    taken = np.bincount(slot_of[is_timed], own[is_timed], len(total))
    others = np.bincount(slot_of[~is_timed], minlength=len(total))
    scale = np.divide(total, taken, out=np.zeros_like(total), where=taken > 0)
    scale[others > 0] = np.minimum(scale[others > 0], 1.0)
    rest = np.maximum(total - taken, 0.0) / np.maximum(others, 1)
    share = np.where(is_timed, own * scale[slot_of], rest[slot_of])
    seen = np.bincount(component[covered], minlength=len(timed)).astype(np.float64)
    return np.where(seen > 0, _mean(component[covered], share, seen), timed)


def _mean(component: IntArray, values: FloatArray, count: FloatArray) -> FloatArray:
    """(n_components,) mean of executors' values; 0 for a component without executors."""
    return np.bincount(component, values, len(count)) / np.maximum(count, 1.0)
