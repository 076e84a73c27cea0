"""Samples that managers of components learn from, made from readings of a moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from scheduler.elasticity.layers.one_pool.parameters import topology_of
from scheduler.elasticity.operator_manager.sample import OperatorSample
from scheduler.elasticity.useful import effective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.layers.one_pool.basis import Basis
    from scheduler.elasticity.layers.one_pool.state import OnePoolState
    from scheduler.elasticity.layers.parameters import LayersParameters, Operator
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.observation import ComponentReading, Observation

_LONGEST_PERIODS = 2.0
"""After a longer break an interval begins one period ago: what was before it was not measured."""


class _Seen(NamedTuple):
    """What is read of a component: how many run, items per second, and times in it, ms."""

    reading: ComponentReading
    executors: int
    rate: float
    own_ms: float
    waits_ms: float


def samples_of(
    observation: Observation, state: OnePoolState, made: LayersParameters, bases: Mapping[str, Basis]
) -> dict[str, OperatorSample]:
    """Return a sample of each component that has a manager and a whole reading.

    The interval is the time since operators were asked last. What waits no longer than the bound is no
    backlog. What waits at the source waits for a component as long as that one alone would need for it.

    Args:
        observation: What is known now.
        state: With what waited then.
        made: The managers.
        bases: What they are made from.
    """
    managed = [each for each in made.operators if each.manager is not None]
    samples: dict[str, OperatorSample] = {}
    for topology in {topology_of(each.component.name): None for each in managed}:
        own = [each for each in managed if topology_of(each.component.name) == topology]
        samples |= _of_topology(own, observation, state, made.period_s, bases[topology])
    return samples


def _of_topology(
    operators: Sequence[Operator],
    observation: Observation,
    state: OnePoolState,
    period_s: float,
    basis: Basis,
) -> dict[str, OperatorSample]:
    readings = {each.component: each for each in observation.readings}
    names = {each.component.name for each in operators}
    changed_s = [each for name, each in state.layers.changed_s.items() if name in names]
    bound_ms = basis.stated["response_max_ms"]
    service_ms = {each.component: each.service_ms for each in basis.parts}
    seen = {}
    for each in operators:
        name = each.component.name
        found = _seen(each, readings.get(name), observation.hosts, service_ms[name])
        if found is not None:
            seen[name] = found
    load = None
    if len(seen) == len(operators):
        waits_ms = max((each.waits_ms for each in seen.values()), default=0.0)
        within_ms = sum(each.own_ms for each in seen.values())
        load = max(within_ms, waits_ms + sum(service_ms.values())) / bound_ms
    samples = {}
    for name, read in seen.items():
        until_s = max(0.0, observation.now_s - read.reading.age_s)
        asked_s = state.layers.asked_s
        whole = asked_s is not None and until_s - _LONGEST_PERIODS * period_s <= asked_s < until_s
        from_s = asked_s if whole and asked_s is not None else max(0.0, until_s - period_s)
        waited = state.waiting.get(name, 0.0) if whole else read.reading.waiting
        backlog = waited if waited > read.rate * bound_ms / 1000.0 else 0.0
        if until_s > from_s:
            samples[name] = OperatorSample(
                name,
                from_s,
                until_s,
                read.executors,
                read.rate,
                (min(1.0, read.reading.in_service / read.executors),) * read.executors,
                max(read.own_ms, read.waits_ms + service_ms[name]),
                paused=any(at_s >= from_s for at_s in changed_s),
                backlog=backlog,
                application_load=load,
            )
    return samples


def _seen(
    operator: Operator, reading: ComponentReading | None, hosts: Sequence[Host], service_ms: float
) -> _Seen | None:
    """Return what is read of a component; None if something is missing, which is not a load of 0."""
    component = operator.component
    executors = sum(each.count(component.name) for each in hosts if each.status != "booting")
    if reading is None or reading.demand_per_s is None or reading.service_ms is None or not executors:
        return None
    served = effective(component.tasks, executors) * 1000.0 / service_ms
    waits_ms = reading.waiting / served * 1000.0
    if not reading.demand_per_s:
        return _Seen(reading, executors, 0.0, service_ms, waits_ms)
    if not reading.durations_ms:
        return None
    return _Seen(reading, executors, reading.demand_per_s, reading.durations_ms[-1], waits_ms)
