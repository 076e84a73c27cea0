"""Numbers of executors that are to be: asked of Nimbus, waited for, and taken back if they never come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from formats.nimbus import NimbusError
from provisioning.cluster.look import RESTING
from provisioning.cluster.nimbus import RebalanceRefusedError
from provisioning.loop.memory import Wanted
from provisioning.loop.pauses import (
    standing,
    with_change_counted,
    with_pause_begun,
    with_pause_ended,
    workers_to_start,
)
from provisioning.loop.refusing import with_refused, without_reached

if TYPE_CHECKING:
    from collections.abc import Collection

    from provisioning.cluster.look import ClusterLook, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.loop.step import Cluster, Steps
    from provisioning.settings import ElasticSettings

_AGAIN_S = 90.0
"""Nimbus is asked again if a rebalance has not come about after so long."""
_UNPLACED_S = 45.0
"""What has no placement for so long after it was asked for is taken back, s."""
_TIMES = 3
"""So often it is asked; then the change is given up."""


@dataclass(frozen=True)
class ChangingExecutors:
    """One round of it.

    Attributes:
        cluster: Nimbus.
        settings: Of the loop.
        names: Topologies that may be changed.
        now_s: Time, s since 1970.
        steps: What was done so far.
    """

    cluster: Cluster
    settings: ElasticSettings
    names: Collection[str]
    now_s: float
    steps: Steps

    def changed(self, memory: Memory, look: ClusterLook) -> Memory:
        """Ask for what is wanted and not there yet, and forget what is.

        Args:
            memory: What is to be.
            look: What there is.
        """
        for name, wanted in memory.wanted.items():
            topology = look.topologies.get(name)
            why = self._why_given_up(topology, name, wanted)
            if topology is None or why:
                memory = _without(memory, name)
                self.steps.did("given-up", name, why)
            elif topology.status != "ACTIVE":
                continue  # a change is under way
            elif _reached(topology, wanted):
                memory = self._settled(memory, topology, wanted)
            elif wanted.asked_s is None and name in standing(memory):
                # where a worker has to go that is still starting, Storm may start another on its port, and
                # then waits for two minutes (supervisor.worker.start.timeout.secs)
                continue
            elif wanted.asked_s is None or not 0.0 <= self.now_s - wanted.asked_s < _AGAIN_S:
                memory = self._asked(memory, look, topology, wanted)
            elif topology.tasks_without_slot and self.now_s - wanted.asked_s >= _UNPLACED_S:
                # without a placement nothing of it runs
                memory = self._taken_back(memory, look, topology, wanted, "its executors are not placed")
        return memory

    def _why_given_up(self, topology: TopologyLook | None, name: str, wanted: Wanted) -> str:
        """Return why a change cannot come about any more; empty if it can."""
        if topology is None or name not in self.names:
            return "the topology is not on the cluster, or not to be changed, any more"
        if wanted.topology_id not in ("", topology.topology_id):
            return "its owner has started it anew"
        if topology.status in RESTING:
            return f"the topology is {topology.status}"
        # what cannot be read may be read again before the change would be given up
        lately = wanted.asked_s is not None and 0.0 <= self.now_s - wanted.asked_s < _TIMES * _AGAIN_S
        return "" if lately else topology.fault

    def _settled(self, memory: Memory, topology: TopologyLook, wanted: Wanted) -> Memory:
        name = topology.name
        if wanted.asked_s is None:
            # it was asked for all the same, by a loop that was killed then; its pause is over, or nearly
            memory = with_change_counted(memory, name, self.now_s)
        self.steps.did("changed", name, _named(wanted))
        memory = without_reached(_without(memory, name), name, wanted)
        return replace(memory, changed_s={**memory.changed_s, name: self.now_s})

    def _asked(self, memory: Memory, look: ClusterLook, topology: TopologyLook, wanted: Wanted) -> Memory:
        name = topology.name
        if wanted.times >= _TIMES:
            return self._taken_back(
                memory, look, topology, wanted, f"Nimbus was asked {_TIMES} times in vain"
            )
        asked = replace(wanted, asked_s=self.now_s, times=wanted.times + 1)
        # what follows soon would hide the end of the pause before
        memory, pause = with_pause_ended(memory, name)
        if pause is not None:
            self.steps.did("resumed", name, "", **pause.figures())
        workers = workers_to_start(
            topology, wanted.executors, look.supervisors.keys() - memory.draining.keys() - look.banned
        )
        began = with_pause_begun(memory, name, workers, self.settings.topology[name].pause_s, self.now_s)
        try:
            self.cluster.rebalance(name, wanted.executors)
        except RebalanceRefusedError as error:
            self.steps.did("given-up", name, str(error))
            # it counts as a change, or it would be decided on again in each round
            memory = with_change_counted(_without(memory, name), name, self.now_s)
            return with_refused(memory, name, wanted, self.now_s)
        except NimbusError as error:
            # it may have done it
            self.steps.did("failed", name, str(error))
        else:
            self.steps.did(
                "rebalanced", name, _named(wanted), expected_pause_s=began.pausing[name].expected_s
            )
        if not wanted.times:
            began = with_change_counted(began, name, self.now_s)
        return replace(began, wanted={**memory.wanted, name: asked})

    def _taken_back(
        self, memory: Memory, look: ClusterLook, topology: TopologyLook, wanted: Wanted, why: str
    ) -> Memory:
        """Ask for what there was before, and remember what did not come about."""
        name = topology.name
        self.steps.did("given-up", name, f"{_named(wanted)}: {why}")
        memory = with_refused(_without(memory, name), name, wanted, self.now_s)
        back = {key: wanted.before[key] for key in wanted.executors if wanted.before.get(key)}
        if not back:
            return memory
        before = Wanted(back, topology_id=wanted.topology_id)
        return self._asked(replace(memory, wanted={**memory.wanted, name: before}), look, topology, before)


def _without(memory: Memory, name: str) -> Memory:
    return replace(memory, wanted={key: each for key, each in memory.wanted.items() if key != name})


def _reached(topology: TopologyLook, wanted: Wanted) -> bool:
    counts = topology.counts()
    if wanted.asked_s is None and topology.tasks_without_slot:
        return False  # some have only lost their slot
    return all(counts[component] == count for component, count in wanted.executors.items())


def _named(wanted: Wanted) -> str:
    return ", ".join(f"{name}: {count}" for name, count in sorted(wanted.executors.items()))
