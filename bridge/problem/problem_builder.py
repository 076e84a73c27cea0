"""A topology becomes a placement problem: its executors are the operators, hosts are the nodes.

Ends outside Storm are operators too, behind the executors, each pinned to a node of its own site that offers
nothing to anyone else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.network_part import network_part, node_of_site
from scheduler.model.constraints.co_location import CoLocation
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.metrics.migration import MIGRATION
from scheduler.model.metrics.placement_cost import LOAD
from scheduler.model.problem import Application, Objective, Operator, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bridge.problem.frame import Frame
    from bridge.problem.network_part import Surroundings
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.model.constraints.constraint import Constraint


def build_problem(state: RoundState, task: Task, frame: Frame, around: Surroundings) -> Problem:
    """Build the problem of placing a topology's executors; its `current` is where they run now.

    Args:
        state: The cluster so far.
        task: The topology.
        frame: Hosts that are open to it.
        around: The network.
    """
    # What has to start somewhere does so whatever is to be loaded: then no move has a price.
    priced = task.pricing.pull_mb_per_s is not None and bool((frame.current >= 0).all())
    scale = task.settings.migration_scale
    return Problem(
        application=_application(state, task, frame, priced=priced),
        network=network_part(state, task, frame, around, priced=priced),
        objective=Objective(
            weights=dict(task.settings.weights),
            ranges={} if scale is None else {MIGRATION.name: (0.0, scale)},
            cost_model="per-node" if task.settings.cost_model == "per-host" else "per-operator",
            duration_model="queue",
        ),
        current=frame.current,
        constraints=tuple(_constraints(task, frame)),
    )


def _constraints(task: Task, frame: Frame) -> list[Constraint]:
    return [
        *(MetricBudget(metric, most) for metric, most in frame.budgets),
        *([] if frame.bandwidth is None else [LinkBandwidth()]),
        *(CoLocation(names) for names in task.together),
    ]


def _application(state: RoundState, task: Task, frame: Frame, *, priced: bool) -> Application:
    names = [state.hosts.hosts[host].name for host in frame.hosts]
    demand = frame.demand.tolist()
    times = task.graph.execution_time_ms.tolist()
    state_mb = (task.pricing.state_mb if priced else np.zeros(len(times))).tolist()
    most_ms = frame.most_ms.tolist()
    load = task.topology.executor_cpu_percent
    costs = _stated_costs(task, frame, names)
    named: dict[bytes, tuple[str, ...]] = {}
    operators: list[Operator] = []
    for executor, name in enumerate(task.graph.names):
        # Executors of one component share one tuple of names: there may be thousands of either.
        row = frame.allowed[executor]
        key = row.tobytes()
        if key not in named:
            named[key] = tuple(names[node] for node in np.flatnonzero(row))
        needs = dict(zip(frame.resources, demand[executor], strict=True))
        operators.append(
            Operator(
                name=name,
                execution_time_ms=times[executor],
                demand={**needs, LOAD: load[executor]} if task.costed else needs,
                allowed=named[key],
                state_mb=state_mb[executor],
                duration_max_ms=most_ms[executor],
                role=task.roles[executor] if task.costed else None,
                placement_cost=costs.get(int(task.component[executor])),
            )
        )
    ends = [
        Operator(each.name, demand={}, allowed=(node_of_site(each.site),), role=each.role)
        for each in frame.terminals
    ]
    streams = (stream for each in frame.terminals for stream in each.streams(task.graph.names))
    return Application((*operators, *ends), (*task.graph.streams, *streams))


def _stated_costs(task: Task, frame: Frame, names: list[str]) -> Mapping[int, Mapping[str, float]]:
    """Return what an executor costs where that is stated, by component and name of the host."""
    if not task.costed:
        return {}
    position = {name: k for k, name in enumerate(task.topology.component_names)}
    return {
        position[component]: {
            name: cost
            for name, cost in zip(names, values[frame.hosts].tolist(), strict=True)
            if cost == cost  # noqa: PLR0124 - a number that is none is not stated
        }
        for component, values in task.places.stated.items()
    }
