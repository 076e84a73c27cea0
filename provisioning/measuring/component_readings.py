"""What a policy is to know of the components of a topology, from what their tasks say. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from provisioning.measuring.child_cpu import child_cpu_ms
from provisioning.measuring.demand import carried, handed_on
from provisioning.measuring.lag import AtSource
from provisioning.measuring.source_history import Since, SourceSaid, came_per_s, growth_per_s, jump, with_said
from provisioning.measuring.task_meters import EMITTED, EXECUTE_MS, EXECUTED, OVERFLOW, POPULATION, PROCESS_MS
from scheduler.elasticity.leasing.observation import ComponentReading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from provisioning.cluster.look import TopologyLook
    from provisioning.measuring.task_meters import TaskReadings

_BATCHES_S = 3600.0
"""For so long after a jump that was confirmed others are believed at once, s: items come in batches."""
_DURATIONS = 20
"""Durations that are kept; policies take fewer."""
_LEAST_PER_S = 0.5
"""A component that does less tells nothing of how long it takes: Storm times one item in twenty."""
_TIMED = 80.0
"""Items of a component from which on its mean time counts: Storm times one in twenty of each task."""
_TIMED_OF_EXECUTOR = 20.0
"""Of these an executor must have taken so many for its means to count: the first ones take longer."""
_AVERAGED = 3.0
"""A task's time is the sum of its last samples by so many, even of fewer (`RollingAverageGauge`)."""
_QUEUED = 20.0
"""Items that wait for each executor from which on it counts as never idle."""


@dataclass(frozen=True)
class TopologyMemory:
    """What is known of a topology from the readings before.

    Attributes:
        service_ms: Component -> for so long an item occupies an executor, ms.
        durations_ms: Component -> last durations, ms, the oldest first.
        handed_on: Items that components hand on for one that comes, by edge (`demand.handed_on`).
        at_source: What the source has said within the last minute, the oldest first.
        child_cpu_ms: Component -> what its processes compute for an item at least, ms (`child_cpu_ms`).
        jumped_s: When a jump of the source was confirmed last, s; None: none was.
    """

    service_ms: Mapping[str, float] = field(default_factory=dict)
    durations_ms: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    handed_on: Mapping[str, float] = field(default_factory=dict)
    at_source: tuple[SourceSaid, ...] = ()
    child_cpu_ms: Mapping[str, float] = field(default_factory=dict)
    jumped_s: float | None = None


@dataclass(frozen=True)
class Given:
    """What is known beside what tasks say.

    Attributes:
        now_s: Time, s.
        source: What the source says; None: that is not known.
        spout: Which takes them; None: the only one.
        since_s: When the topology last changed, s.
        service_ms: Component -> service time that its owner states, ms.
        began_s: When this process began, s: the one before may have asked another source.
        child_s: (topology id, script) -> processor time that agents have found, s; empty: none is known.
    """

    now_s: float
    source: AtSource | None = None
    spout: str | None = None
    since_s: float = 0.0
    service_ms: Mapping[str, float] = field(default_factory=dict)
    began_s: float = 0.0
    child_s: Mapping[tuple[str, str], float] = field(default_factory=dict)


def component_readings(
    topology: TopologyLook, tasks: TaskReadings, memory: TopologyMemory, given: Given
) -> tuple[tuple[ComponentReading, ...], TopologyMemory]:
    """Return a reading of each component of which all executors have spoken, and what is to be remembered.

    A queue is reported once for each task of its executor: that of the first one counts. What waits at the
    source waits for every component, as it will come to each.

    Args:
        topology: Its components and executors.
        tasks: What tasks have said since the last change.
        memory: From the readings before.
        given: What is known beside.
    """
    spoken = {name for name in topology.components if _spoke_s(name, topology, tasks) is not None}
    spouts = {name for name, one in topology.components.items() if not one.inputs}
    if given.source is not None:
        said, confirmed = with_said(memory.at_source, given.source, given.now_s, _since(memory, given))
        jumped_s = given.now_s if confirmed else memory.jumped_s
        memory = replace(memory, at_source=said, jumped_s=jumped_s)
    believed, given = _believed(memory, given)
    if not spouts <= spoken:
        return (), memory
    executed, emitted = _counts(topology, tasks.rates)
    emitting = {
        name: sum(rate for (other, _), rate in emitted.items() if other == name)
        for name, one in topology.components.items()
        if not one.inputs
    }
    in_all = _counts(topology, tasks.values)
    done = handed_on(topology.components, *in_all)
    taken_per_s = _by_component(executed)
    computed = child_cpu_ms(topology, given.child_s, _by_component(in_all[0]), taken_per_s)
    computed = {**memory.child_cpu_ms, **computed}
    ratios = {**memory.handed_on, **done}
    counted = [tasks.spoke_s[each.first_task] for each in topology.executors if each.component in spouts]
    span_s = max((each[0] for each in counted), default=0.0), min((each[1] for each in counted), default=0.0)
    coming = carried(topology.components, ratios, _with_growth(emitting, believed, given, span_s))
    behind = carried(topology.components, ratios, dict.fromkeys(emitting, 0.0) | _at_source(given, emitting))
    counts = topology.counts()
    services, durations = dict(memory.service_ms), dict(memory.durations_ms)
    readings = []
    for name in sorted(spoken):
        component = topology.components[name]
        queue = _queue(name, topology, tasks)
        taken = taken_per_s.get(name, 0.0)
        found = _service_ms(name, topology, tasks, (queue, taken))
        if found is not None:
            services[name] = found
        # what was seen of executors that are never idle is whole, what their processes compute is a part
        service_ms = given.service_ms.get(name, services.get(name, computed.get(name)))
        if component.inputs and taken > 0.0:
            own_ms = _mean(name, PROCESS_MS, topology, tasks) if not component.shell else service_ms
            durations[name] = (*durations.get(name, ()), queue / taken * 1000.0 + (own_ms or 0.0))[
                -_DURATIONS:
            ]
        # a spout that is silent makes what comes to others unknown
        spoke_s = min(_spoke_s(each, topology, tasks) or 0.0 for each in {name, *spouts})
        readings.append(
            ComponentReading(
                name,
                durations.get(name, ()),
                waiting=queue + behind.get(name, 0.0) if component.inputs else 0.0,
                in_service=min(float(counts[name]), taken * (service_ms or 0.0) / 1000.0),
                age_s=max(0.0, given.now_s - spoke_s),
                demand_per_s=coming.get(name),
                service_ms=service_ms if service_ms else None,
            )
        )
    return tuple(readings), replace(
        memory, service_ms=services, durations_ms=durations, handed_on=ratios, child_cpu_ms=computed
    )


def jump_at_source(memory: TopologyMemory, given: Given) -> float:
    """Return by how many items the last answer of a source has jumped, which is to be confirmed; else 0."""
    return 0.0 if given.source is None else jump(memory.at_source, _since(memory, given))


def _since(memory: TopologyMemory, given: Given) -> Since:
    """Return which answers of a source are compared; none where items have come in batches lately."""
    if memory.jumped_s is not None and 0.0 <= given.now_s - memory.jumped_s < _BATCHES_S:
        return Since(math.inf, math.inf)
    return Since(given.began_s, given.since_s)


def _believed(memory: TopologyMemory, given: Given) -> tuple[Sequence[SourceSaid], Given]:
    """Return what counts of what a source has said: a jump does not before it is confirmed."""
    if not jump_at_source(memory, given):
        return memory.at_source, given
    *kept, _ = memory.at_source
    return kept, replace(given, source=AtSource(kept[-1].waiting, kept[-1].arrived))


def _spoke_s(name: str, topology: TopologyLook, tasks: TaskReadings) -> float | None:
    """Return when the executor last spoke that is silent for longest; None if one has not spoken twice."""
    own = [each for each in topology.executors if each.component == name]
    spoke = [tasks.spoke_s.get(each.first_task) for each in own]
    if not own or any(each is None or each[0] == each[1] for each in spoke):
        return None
    return min(each[1] for each in spoke if each is not None)


def _counts(
    topology: TopologyLook, of_tasks: Mapping[tuple[int, str], float]
) -> tuple[dict[tuple[str, str, str], float], dict[tuple[str, str], float]]:
    """Return (component, from, stream) -> items taken, and (component, stream) -> items emitted.

    Args:
        topology: Whose task is whose.
        of_tasks: (task, counter) -> rate, or number since the worker's start.
    """
    component_of = {
        task: each.component
        for each in topology.executors
        for task in range(each.first_task, each.last_task + 1)
    }
    executed: dict[tuple[str, str, str], float] = {}
    emitted: dict[tuple[str, str], float] = {}
    for (task, metric), count in of_tasks.items():
        component = component_of.get(task)
        if component is None:
            continue
        if metric.startswith(EXECUTED):
            source, _, stream = metric.removeprefix(EXECUTED).rpartition(":")
            if not source.startswith("__"):
                taken = (component, source, stream)
                executed[taken] = executed.get(taken, 0.0) + count
        elif metric.startswith(EMITTED) and not metric.startswith(f"{EMITTED}__"):
            given = (component, metric.removeprefix(EMITTED))
            emitted[given] = emitted.get(given, 0.0) + count
    return executed, emitted


def _by_component(executed: Mapping[tuple[str, str, str], float]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (name, *_), count in executed.items():
        found[name] = found.get(name, 0.0) + count
    return found


def _with_growth(
    emitting: Mapping[str, float],
    said: Sequence[SourceSaid],
    given: Given,
    span_s: tuple[float, float],
) -> dict[str, float]:
    """Return what comes to each spout: what came to its source, else what it emits and what is left there.

    What was left while workers started does not count: it is of the past, and is to be worked off. What came
    is not taken from what is left where both are known: a group commits now and then, so that what is left
    goes up and down by itself.

    Args:
        emitting: What each spout emits, items per second.
        said: What the source has said, this time included.
        given: What is known beside.
        span_s: From when until when spouts were counted, s.
    """
    demand = dict(emitting)
    if given.source is None:
        return demand
    coming = came_per_s(said, given.began_s)
    growth = growth_per_s(said, span_s, max(given.since_s, given.began_s))
    for name in _at_source(given, emitting):
        if given.source.arrived is not None:
            demand[name] = emitting[name] if coming is None else coming
        elif growth is not None:
            demand[name] = max(0.0, demand[name] + growth)
    return demand


def _at_source(given: Given, emitting: Mapping[str, float]) -> dict[str, float]:
    """Return what waits for which spout; nothing where it is not known for which."""
    named = given.spout if given.spout is not None or len(emitting) != 1 else next(iter(emitting))
    waiting = 0.0 if given.source is None else given.source.waiting
    return {each: waiting for each in emitting if each == named}


def _queue(name: str, topology: TopologyLook, tasks: TaskReadings) -> float:
    return sum(
        tasks.values.get((each.first_task, POPULATION), 0.0)
        + tasks.values.get((each.first_task, OVERFLOW), 0.0)
        for each in topology.executors
        if each.component == name
    )


def _service_ms(
    name: str, topology: TopologyLook, tasks: TaskReadings, queue_and_rate: tuple[float, float]
) -> float | None:
    """Return for how long an item occupies an executor, ms; None if nothing says so now.

    Storm times executions, but of a component in another process only the handing over. Where many items wait
    for each executor, none is idle, and what they do says how long an item takes.
    """
    queue, rate = queue_and_rate
    component, executors = topology.components[name], topology.counts()[name]
    if not component.inputs or rate < _LEAST_PER_S:
        return None
    if not component.shell:
        return _mean(name, EXECUTE_MS, topology, tasks) or None
    return executors * 1000.0 / rate if queue >= _QUEUED * executors else None


def _mean(name: str, metric: str, topology: TopologyLook, tasks: TaskReadings) -> float | None:
    """Return a mean time of a component's tasks, weighted by what they take."""
    streams = [f"{each.component}:{each.stream}" for each in topology.components[name].inputs]
    weighted = total = 0.0
    for each in topology.executors:
        if each.component != name:
            continue
        timed = [
            (done, value * _AVERAGED / min(_AVERAGED, done * topology.sample_rate))
            for task in range(each.first_task, each.last_task + 1)
            for stream in streams
            if (value := tasks.values.get((task, f"{metric}{stream}"))) is not None
            and value > 0.0
            and (done := tasks.values.get((task, f"{EXECUTED}{stream}"), 0.0)) > 0.0
        ]
        done = sum(count for count, _ in timed)
        if done >= _TIMED_OF_EXECUTOR:
            weighted, total = weighted + sum(count * value for count, value in timed), total + done
    return weighted / total if total >= _TIMED else None
