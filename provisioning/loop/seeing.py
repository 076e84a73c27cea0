"""What is known at the beginning of a round: the cluster, leases, and what components do."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from formats.counted import some_of
from provisioning.cluster.agents import AgentsError
from provisioning.loop.pauses import WorkMeters
from provisioning.loop.pool import qualified
from provisioning.measuring.component_readings import (
    Given,
    TopologyMemory,
    component_readings,
    jump_at_source,
)
from provisioning.measuring.lag import AtSource, LagError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from provisioning.cluster.agents import ChildSeconds
    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.measuring.lag import LagReader
    from provisioning.measuring.task_meters import TaskReadings
    from provisioning.settings import ElasticSettings
    from scheduler.elasticity.leasing.observation import ComponentReading

_AT_ONCE = 32
"""Topologies whose sources are asked at the same time."""
_SETTLING_S = 45.0
"""For so long after a change workers start and count: what is not known yet is nothing to warn of, s."""


class Meters(WorkMeters, Protocol):
    """What the workers' reporters said."""

    def follow(self, topology_ids: Collection[str]) -> None:
        """Say which topologies are of interest."""

    def readings(self, topology_id: str, since_s: float) -> TaskReadings:
        """Return what tasks have said since a time, s."""


class ChildMeters(Protocol):
    """What agents say of processes that workers started."""

    def child_seconds(self, hosts: Collection[str], now_s: float) -> ChildSeconds:
        """Return their processor time; raises `AgentsError`."""


@dataclass(frozen=True)
class Seen:
    """What components do.

    Attributes:
        readings: Of components, by their names among those of all topologies.
        memory: With what was measured.
        faults: What is missing, one sentence each.
    """

    readings: tuple[ComponentReading, ...]
    memory: Memory
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Seeing:
    """How components are measured.

    Attributes:
        settings: Of the loop.
        meters: Of tasks.
        lags: Readers by topology.
        began_s: When the process began to listen, s since 1970.
        agents: Of hosts; None: they are not asked.
    """

    settings: ElasticSettings
    meters: Meters
    lags: Mapping[str, Sequence[LagReader]]
    began_s: float = 0.0
    agents: ChildMeters | None = None

    def measure(self, look: ClusterLook, names: Sequence[str], memory: Memory, now_s: float) -> Seen:
        """Return what the components of some topologies do.

        Args:
            look: The cluster.
            names: Topologies.
            memory: From the rounds before.
            now_s: Time, s since 1970.
        """
        found: list[ComponentReading] = []
        faults = _shut_out(look)
        topologies: dict[str, TopologyMemory] = {}
        child_s, why = self._children(look, names, memory, now_s)
        if why:
            faults.append(f"{why}; what processes of components compute is not known")
        # one that does not answer within its limit is not waited for once more by each topology
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            there = [name for name in names if name in look.topologies]
            sources = dict(zip(there, threads.map(self._lag, there), strict=True))
        for name in names:
            topology = look.topologies.get(name)
            if topology is None:
                faults.append(f"{name}: there is no such topology on the cluster")
                continue
            before = memory.topologies.get(topology.topology_id, TopologyMemory())
            if topology.fault:
                topologies[topology.topology_id] = before
                faults.append(f"{name}: {topology.fault}; it is not scaled")
                continue
            source, why = sources[name]
            spouts = [each.name for each in topology.components.values() if not each.inputs]
            spout = self._spout(name)
            if source is not None and (len(spouts) > 1 if spout is None else spout not in spouts):
                why = f"topology.{name}.lag: spout must be one of {', '.join(sorted(spouts))}"
            if why:
                faults.append(f"{name}: {why}; its demand is what its spouts emit")
            since_s = memory.changed_s.get(name, 0.0)
            if since_s > now_s:
                since_s = 0.0  # the clock was set back: what was counted before was dropped then
            tasks = self.meters.readings(topology.topology_id, since_s)
            stated = self.settings.topology[name].component
            services = {key: each.service_ms for key, each in stated.items() if each.service_ms is not None}
            began_s = self.began_s if self.began_s <= now_s else 0.0  # likewise
            given = Given(now_s, source, self._spout(name), since_s, services, began_s, child_s)
            readings, after = component_readings(topology, tasks, before, given)
            topologies[topology.topology_id] = after
            jumped = jump_at_source(after, given)
            if jumped:
                what = f"its source says that {jumped:.3g} more items came or wait, far more than usual"
                faults.append(f"{name}: {what}; that counts if it says so again")
            found += [replace(each, component=qualified(name, each.component)) for each in readings]
            if now_s - max(since_s, self.began_s) >= _SETTLING_S:
                faults += _missing(topology, tasks, readings)
        bolts = {
            qualified(name, each.name)
            for name in names
            if name in look.topologies
            for each in look.topologies[name].components.values()
            if each.inputs
        }
        kept = tuple(each for each in found if each.component in bolts)
        return Seen(kept, replace(memory, topologies=topologies), tuple(faults))

    def _children(
        self, look: ClusterLook, names: Sequence[str], memory: Memory, now_s: float
    ) -> tuple[ChildSeconds, str]:
        """Return what agents say, and why that is not known.

        They are asked only of components in other processes of which nothing better is known.
        """
        hosts = {
            executor.host
            for name in names
            if (topology := look.topologies.get(name)) is not None
            for executor in topology.executors
            if (component := topology.components[executor.component]).script
            and component.inputs
            and not self._is_stated(name, component.name)
            and component.name not in memory.topologies.get(topology.topology_id, TopologyMemory()).service_ms
        }
        if self.agents is None or not hosts:
            return {}, ""
        try:
            return self.agents.child_seconds(hosts, now_s), ""
        except AgentsError as error:
            return {}, str(error)

    def _is_stated(self, name: str, component: str) -> bool:
        stated = self.settings.topology[name].component.get(component)
        return stated is not None and stated.service_ms is not None

    def _spout(self, name: str) -> str | None:
        return next((each.spout for each in self.settings.topology[name].lag), None)

    def _lag(self, name: str) -> tuple[AtSource | None, str]:
        """Return what waits at the sources of a topology, and why that is not known; None without readers."""
        try:
            found = [reader.lag() for reader in self.lags.get(name, ())]
        except LagError as error:
            return None, str(error)
        if not found:
            return None, ""
        arrived = [each.arrived for each in found if each.arrived is not None]
        waiting = sum(each.waiting for each in found)
        if not math.isfinite(waiting + sum(arrived)):
            return None, "what waits at its source is no finite number"
        # what has come to some of them is not what has come
        return AtSource(waiting, sum(arrived) if len(arrived) == len(found) else None), ""


def _shut_out(look: ClusterLook) -> list[str]:
    if not look.banned:
        return []
    return [f"{some_of(look.banned)}: shut out by Storm's BlacklistScheduler: nothing starts there"]


def _missing(
    topology: TopologyLook, tasks: TaskReadings, readings: Sequence[ComponentReading]
) -> tuple[str, ...]:
    """Return what is not known of a topology."""
    name = topology.name
    if not tasks.spoke_s:
        return (
            f"{name}: its workers have reported nothing since the last change; is"
            " topology.metrics.reporters set to Storm's Graphite reporter, with our address?",
        )
    spoke_twice = {task for task, (first_s, last_s) in tasks.spoke_s.items() if first_s < last_s}
    silent = [
        f"{each.component}[{each.first_task}]"
        for each in topology.executors
        if each.first_task not in spoke_twice
    ]
    faults = []
    if silent:
        faults.append(f"{name}: nothing is known of {some_of(silent)}")
    bolts = [each for each in readings if topology.components[each.component].inputs]
    for what, unknown, remedy in (
        (
            "how much comes to",
            [each.component for each in bolts if each.demand_per_s is None],
            "wait until those before it have done more",
        ),
        (
            "how long an item takes at",
            [each.component for each in bolts if each.service_ms is None and each.demand_per_s],
            "state service_ms, or wait until it is busy",
        ),
    ):
        if unknown:
            faults.append(f"{name}: it is not known {what} {some_of(unknown)}; {remedy}")
    return tuple(faults)
