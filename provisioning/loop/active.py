"""A round that acts: look, bring the cluster to where it is to be, measure, decide, remember, bring again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from formats.counted import counted
from provisioning.cluster.look import STANDING
from provisioning.loop.bringing import Bringing
from provisioning.loop.deciding import decided, of_components
from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.hosts_that_stay import hosts_that_stay, is_room
from provisioning.loop.left_alone import without_too_large, without_unplaced
from provisioning.loop.memory import Draining
from provisioning.loop.pauses import last_tasks, standing, with_pauses_ended
from provisioning.loop.refusing import refused_now
from provisioning.loop.replacing import with_room_asked
from provisioning.loop.report import Asked, Report
from provisioning.loop.step import Step
from provisioning.loop.too_old import too_old
from provisioning.loop.unlisted import unlisted_hosts, with_unlisted_noted, without_unlisted
from provisioning.providers.provider import ProviderError
from scheduler.base.checks import ModelError
from scheduler.elasticity.layers.one_pool.parameters import topology_of
from scheduler.elasticity.leasing.observation import Observation

if TYPE_CHECKING:
    from collections.abc import Collection

    from provisioning.cluster.look import ClusterLook
    from provisioning.loop.memory import Memory, MemoryFile
    from provisioning.loop.pool import Pool
    from provisioning.loop.report import HeldBy
    from provisioning.loop.seeing import Seeing, Seen
    from provisioning.loop.step import Cluster, Drains
    from provisioning.providers.provider import Lease, Provider
    from scheduler.elasticity.leasing.component import Component


class LookingCluster(Protocol):
    """What is asked of Nimbus."""

    def look(self, names: Collection[str]) -> ClusterLook:
        """Return what there is."""


@dataclass(frozen=True)
class ActiveLoop:
    """Scales topologies together with the hosts that they run on.

    Attributes:
        pool: Hosts and topologies.
        cluster: Nimbus.
        provider: Of hosts.
        drains: The placement daemon's.
        seeing: How components are measured.
        file: What is remembered.
    """

    pool: Pool
    cluster: Cluster
    provider: Provider
    drains: Drains
    seeing: Seeing
    file: MemoryFile

    def round(self, look: ClusterLook, now_s: float) -> Report:
        """Carry out a round, and say what came of it.

        While executors start or stop nothing new is decided. What does not answer is asked again next time.

        Args:
            look: What there is.
            now_s: Time, s since 1970.

        Raises:
            MemoryFileError: What is remembered cannot be read or written: then nothing was begun.
        """
        memory = self.file.read()
        try:
            leases = tuple(self.provider.leases(now_s))
        except ProviderError as error:
            return self._without_provider(memory, look, now_s, error)
        if memory.wanted or memory.requests or memory.draining:
            # a disk that is full is known before the first step: what was done is not known after it
            self.file.write(memory)
        bringing = self._bringing(now_s)
        bringing.steps.taken.extend(_in_vain(leases))
        brought = bringing.bring(memory, look, leases)
        if brought != memory:
            # what was asked for is known, whatever fails below
            self.file.write(brought)
        self._watch(memory, brought, look)
        pool = replace(self.pool, leased=frozenset(each.host for each in leases if each.live and each.host))
        seen = self.seeing.measure(look, pool.names, brought, now_s)
        remembered, ended = with_pauses_ended(
            seen.memory, look.topologies.values(), self.seeing.meters, now_s
        )
        still = standing(remembered)
        pool, large = without_too_large(pool.with_pauses(remembered, look), look)
        if not remembered.wanted:
            remembered = with_room_asked(remembered, pool, look, leases, now_s)
        remembered = with_unlisted_noted(remembered, pool, look, now_s)
        pool, alone = without_unplaced(pool, look, remembered, now_s)
        pool, astray = without_unlisted(pool, look, remembered, now_s)
        pool = replace(pool, refused=refused_now(remembered, now_s))
        components, faults = pool.components(look)
        moving = tuple(each for each in seen.readings if topology_of(each.component) not in still)
        seen = replace(seen, memory=remembered, readings=of_components(moving, components))
        for each in ended:
            bringing.steps.did("resumed", each.topology, "", **each.figures())
        stated = self.pool.settings.policy.parameters
        report = Report(
            now_s,
            steps=tuple(bringing.steps.taken),
            faults=(
                *faults,
                *seen.faults,
                *too_old(seen.readings, stated),
                *large,
                *alone,
                *astray,
                *_taken(leases),
            ),
            running=pool.running(look),
            leases=leases,
        )
        held, held_by = _why_held(pool, look, seen.memory)
        if not components:
            self.file.write(_with_idle_hosts_draining(seen.memory, pool, look, leases, now_s))
            none = "can be scaled" if pool.alone else "is active on the cluster"
            held = held or f"none of its topologies {none}"
            return replace(report, held=held, held_by=held_by or "no_topology")
        if not held:
            try:
                return replace(self, pool=pool)._decided(components, look, leases, seen, report)
            except ModelError as error:
                held, held_by = str(error), "refused"
        self.file.write(seen.memory)
        return replace(report, held=held, held_by=held_by)

    def _without_provider(
        self, memory: Memory, look: ClusterLook, now_s: float, error: ProviderError
    ) -> Report:
        """Decide nothing, but carry on with changes that were decided on, or take them back."""
        if memory.wanted:
            self.file.write(memory)
        bringing = self._bringing(now_s)
        changed = bringing.changed(memory, look)
        if changed != memory:
            self.file.write(changed)
        self._watch(memory, changed, look)
        return Report(
            now_s,
            held=f"the provider does not say which hosts are leased: {error}",
            held_by="provider",
            steps=tuple(bringing.steps.taken),
            running=self.pool.running(look),
        )

    def _bringing(self, now_s: float) -> Bringing:
        settings, names = self.pool.settings, self.pool.names
        return Bringing(self.cluster, self.provider, self.drains, settings, names, now_s)

    def _watch(self, before: Memory, after: Memory, look: ClusterLook) -> None:
        """Let it be noted when topologies work again whose change was asked for between two memories."""
        for name, begun in after.pausing.items():
            if name in look.topologies and before.pausing.get(name) != begun:
                topology = look.topologies[name]
                tasks = last_tasks(topology)
                self.seeing.meters.watch(topology.topology_id, tasks, topology.sample_rate)

    def _decided(
        self,
        components: tuple[Component, ...],
        look: ClusterLook,
        leases: tuple[Lease, ...],
        seen: Seen,
        report: Report,
    ) -> Report:
        now_s = report.now_s
        parameters = self.pool.parameters(components, look)
        hosts = hosts_seen(self.pool, look, leases, seen.memory, now_s)
        observation = Observation(now_s, hosts, seen.readings)
        outcome = decided(self.pool, parameters, observation, seen.memory, (look, leases))
        # what is to be is on the disk before the first step towards it
        self.file.write(outcome.memory)
        asked = Asked(observation, parameters, seen.memory.policy, outcome.left_out)
        report = replace(
            report,
            asked=asked,
            decision=outcome.decision,
            limited=outcome.limited,
            in_vain=outcome.in_vain,
        )
        if outcome.in_vain or not outcome.decision.changes_something:
            return report
        bringing = self._bringing(now_s)
        if outcome.unleased:
            why = f"{counted(outcome.unleased, 'host')} more cannot be leased of any offer"
            bringing.steps.did("failed", "limits", why)
        brought = bringing.bring(outcome.memory, look, leases)
        self.file.write(brought)
        self._watch(outcome.memory, brought, look)
        return replace(report, steps=(*report.steps, *bringing.steps.taken), unhelpful=outcome.unhelpful)


def _in_vain(leases: tuple[Lease, ...]) -> list[Step]:
    """Return what the provider tries again and again: to start a host, or to stop one."""
    tried = [each for each in leases if each.trouble]
    return [Step("failed", each.host or each.request_id, each.trouble) for each in tried]


def _taken(leases: tuple[Lease, ...]) -> tuple[str, ...]:
    """Return one sentence for each host that was up and went without having been given back."""
    gone = [
        each for each in leases if not each.live and each.ready_at_s is not None and each.release_at_s is None
    ]
    return tuple(f"{each.host}: its lease ended, which was not asked for ({each.reason})" for each in gone)


def _why_held(pool: Pool, look: ClusterLook, memory: Memory) -> tuple[str, HeldBy | None]:
    """Return why nothing can be decided, and the kind of reason; None if it can be."""
    if memory.wanted:
        return f"a change is under way: {', '.join(sorted(memory.wanted))}", "change"
    active = [
        name for name in pool.scaled if name in look.topologies and look.topologies[name].status == "ACTIVE"
    ]
    for name in active:
        topology = look.topologies[name]
        if topology.tasks_without_slot:
            return f"{name}: {topology.tasks_without_slot} of its tasks have no slot", "no_slot"
        if lost := unlisted_hosts(topology, look):
            return f"{name}: it has workers on {', '.join(lost)}, which Nimbus does not list", "unlisted_host"
    return "", None


def _with_idle_hosts_draining(
    memory: Memory, pool: Pool, look: ClusterLook, leases: tuple[Lease, ...], now_s: float
) -> Memory:
    """Return the memory in which leased hosts go on which nothing runs, where there is nothing to scale.

    What a change is under way for, of us or of the topology's owner, has not come to its hosts yet. Where
    tasks have no slot, only those go that were leased for that, and did not help.
    """
    looks = [look.topologies[name] for name in pool.names if name in look.topologies]
    unplaced = any(each.status == "ACTIVE" and each.tasks_without_slot for each in looks)
    under_way = memory.wanted or memory.requests or any(each.status not in STANDING for each in looks)
    if under_way or any(each.fault for each in looks):
        return memory
    stay = hosts_that_stay(pool, look, memory, leases, now_s)
    idle = [
        Draining(each.lease_id, each.paid_until_s)
        for each in leases
        if each.status == "ready"
        and (is_room(each) or not unplaced)
        and each.paid_until_s is not None
        and each.host not in memory.draining
        and each.host not in stay
        and each.host not in look.hosts_with_executors
        and each.host in look.supervisors
        and not look.supervisors[each.host].used_workers
    ]
    host_of = {each.lease_id: each.host for each in leases}
    spare = max(0, len(look.supervisors) - pool.settings.limits.hosts_min - len(memory.draining))
    more = {host_of[each.lease_id]: each for each in idle[:spare]}
    return replace(memory, draining={**memory.draining, **more})
