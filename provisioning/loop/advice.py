"""What would be done, and what it would have saved: the policy scales a copy of the cluster.

The path is that of an active loop but for the last step: nothing reaches Nimbus, a provider or the daemon.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from provisioning.cluster.look import STANDING
from provisioning.loop.copy_of_cluster import Copy
from provisioning.loop.deciding import ask, of_components
from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.hosts_that_stay import hosts_that_stay
from provisioning.loop.left_alone import without_too_large
from provisioning.loop.report import Asked, Report, Savings
from provisioning.loop.too_old import too_old
from scheduler.base.checks import ModelError
from scheduler.elasticity.leasing.observation import Observation

if TYPE_CHECKING:
    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory, MemoryFile
    from provisioning.loop.pool import Pool
    from provisioning.loop.seeing import Seeing
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.observation import ComponentReading

_BREAK_S = 300.0
"""After a longer time without rounds the copy says nothing any more, and is made anew."""


@dataclass(frozen=True)
class AdvisingLoop:
    """Says what an active loop would do with some topologies.

    Attributes:
        pool: Hosts and topologies.
        seeing: How components are measured.
        file: What is remembered.
    """

    pool: Pool
    seeing: Seeing
    file: MemoryFile

    def round(self, look: ClusterLook, now_s: float) -> Report:
        """Carry out a round, and say what came of it.

        Raises:
            MemoryFileError: What is remembered cannot be read or written.
        """
        seen = self.seeing.measure(look, self.pool.names, self.file.read(), now_s)
        pool = self.pool.with_pauses(seen.memory, look)
        pool, large = without_too_large(pool, look)
        components, faults = pool.components(look)
        readings = of_components(seen.readings, components)
        old = too_old(readings, self.pool.settings.policy.parameters)
        report = Report(now_s, faults=(*faults, *seen.faults, *old, *large), running=pool.running(look))
        changing = sorted(
            name
            for name in pool.scaled
            if name in look.topologies and look.topologies[name].status not in STANDING
        )
        if changing:
            self.file.write(seen.memory)
            return replace(report, held=f"a change is under way: {', '.join(changing)}", held_by="change")
        if not look.is_complete:
            self.file.write(seen.memory)
            unreadable = ", ".join(sorted(name for name, each in look.topologies.items() if each.fault))
            held = f"what runs where is not known: {unreadable} cannot be read"
            return replace(report, held=held, held_by="unreadable")
        if not components:
            self.file.write(seen.memory)
            return replace(report, held="none of its topologies can be scaled now", held_by="no_topology")
        try:
            return replace(self, pool=pool)._decided(components, look, seen.memory, readings, report)
        except ModelError as error:
            self.file.write(seen.memory)
            return replace(report, held=str(error), held_by="refused")

    def _decided(
        self,
        components: tuple[Component, ...],
        look: ClusterLook,
        memory: Memory,
        readings: tuple[ComponentReading, ...],
        report: Report,
    ) -> Report:
        now_s, offer = report.now_s, self.pool.policy_offer(look)
        copy, real = memory.copy, self._hosts(look, memory, now_s)
        all_leased = replace(self.pool, leased=frozenset(each.name for each in real))
        parameters = all_leased.parameters(components, look)
        names = {each.name for each in components}
        if (
            copy is None
            or memory.kind != self.pool.settings.policy.kind
            or not 0.0 <= now_s - copy.now_s <= _BREAK_S
            or not copy.components() & names
        ):
            # as if everything began now, but for what a policy has learned
            copy, memory = Copy.of(real, offer, now_s), replace(memory, real_host_s=0.0)
        # what its owner has ended runs in the copy no longer, either, and what was started since does
        copy = copy.without(copy.components() - names)
        copy = copy.joined_by(names - copy.components(), real, offer)
        passed_s = now_s - copy.now_s
        # what came while tasks were silent is not known: it counts as neither served nor late
        known = tuple(each for each in readings if each.age_s <= parameters.sample_age_max_s)
        copy = copy.followed(known, {each.name: each.slo_ms for each in components}, offer, now_s)
        as_if = tuple(copy.reading(each) for each in readings)
        observation = Observation(now_s, copy.seen(), as_if)
        asked = Asked(observation, parameters, memory.policy)
        decision, memory = ask(self.pool, parameters, observation, memory)
        boot_s = 0.0 if self.pool.offer is None else self.pool.offer.boot_s
        memory = replace(
            memory,
            copy=copy.after(decision, components, offer, boot_s),
            real_host_s=memory.real_host_s + len(real) * passed_s,
        )
        self.file.write(memory)
        # by the same rule: what has begun of a unit is paid
        elapsed_units = math.floor((now_s - copy.began_s) / offer.billing_unit_s) + 1
        real_units = max(memory.real_host_s / offer.billing_unit_s, elapsed_units * len(real))
        savings = Savings(
            since_s=copy.began_s,
            real_host_s=memory.real_host_s,
            host_s=copy.host_s,
            real_cost=real_units * offer.unit_cost,
            cost=copy.units * offer.unit_cost,
            changes=copy.changes,
            late_share=copy.late / copy.items if copy.items else 0.0,
            unknown_s=copy.unknown_s,
        )
        return replace(report, asked=asked, decision=decision, savings=savings)

    def _hosts(self, look: ClusterLook, memory: Memory, now_s: float) -> tuple[Host, ...]:
        """Return the hosts that count, as if all were leased: those on which others run stay anyway."""
        stay = hosts_that_stay(self.pool, look, memory, (), now_s)
        return tuple(
            each
            for each in hosts_seen(self.pool, look, (), memory, now_s)
            if (each.name in look.hosts_with_executors and (each.executors or each.name not in stay))
            or not look.supervisors[each.name].used_workers
        )
