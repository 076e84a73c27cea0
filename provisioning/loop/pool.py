"""What is scaled, within which limits, and by which parameters of a policy. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from formats.counted import some_of
from provisioning.cluster.look import RESTING, STORMS_CPU
from provisioning.loop.offers import leased_most
from provisioning.loop.pauses import expected_s
from scheduler.base.checks import ModelError
from scheduler.elasticity.layers.kinds import POLICIES
from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.host import Offer
from scheduler.elasticity.leasing.kinds import KINDS
from scheduler.elasticity.useful import least_equal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import ClusterLook, StormComponent, TopologyLook
    from provisioning.loop.memory import Memory
    from provisioning.providers.provider import HostOffer
    from provisioning.settings import ElasticSettings
    from scheduler.elasticity.leasing.parameters import LeasingParameters

FOR_EVER_S = 1e9
"""The paid time of hosts that are not leased ends so late, s."""
_MOVES_S = 60.0
"""Executors that leave a host work elsewhere after so long, s."""
NOTHING = 1e-6
"""What is left of a host that is full of what is not scaled."""


@dataclass(frozen=True)
class Needs:
    """CPU and memory, or one of each where executors are counted."""

    cpu: float
    memory_mb: float


def qualified(topology: str, component: str) -> str:
    """Return the name of a component among those of all topologies."""
    return f"{topology}/{component}"


@dataclass(frozen=True)
class Pool:
    """Hosts that topologies share, and what is scaled on them.

    Attributes:
        settings: Of the loop.
        offer: What is leased; None: nothing can be.
        names: Topologies that are scaled.
        leased: Hosts that are leased.
        pauses: For how long a topology stands still when executors change, by its name, s.
        further: Offers like that one, which are leased where it has no hosts, in their order.
        alone: Of the topologies, those that cannot be scaled now: they are as those of others.
        refused: Executors that did not come about lately, by `topology/component`.
    """

    settings: ElasticSettings
    offer: HostOffer | None
    names: tuple[str, ...]
    leased: frozenset[str] = frozenset()
    pauses: Mapping[str, float] = field(default_factory=dict)
    further: tuple[HostOffer, ...] = ()
    alone: frozenset[str] = frozenset()
    refused: Mapping[str, int] = field(default_factory=dict)

    @property
    def scaled(self) -> tuple[str, ...]:
        """Topologies that can be scaled now."""
        return tuple(each for each in self.names if each not in self.alone)

    @property
    def offers(self) -> tuple[HostOffer, ...]:
        """All that may be leased, the preferred one first."""
        return () if self.offer is None else (self.offer, *self.further)

    def with_pauses(self, memory: Memory, look: ClusterLook) -> Pool:
        """Return the pool that expects pauses as if all workers of a topology started anew."""
        pauses = {
            name: expected_s(
                memory,
                name,
                max(1, len(topology.workers_of(topology.components))),
                self.settings.topology[name].pause_s,
            )
            for name in self.names
            if (topology := look.topologies.get(name)) is not None
        }
        return replace(self, pauses=pauses)

    def components(self, look: ClusterLook) -> tuple[tuple[Component, ...], tuple[str, ...]]:
        """Return what is scaled, and what is wrong with it: one sentence each.

        Spouts are not: what they emit is the demand.
        """
        found, faults = [], [*self._resting(look), *self._unstated(look)]
        for name in self.scaled:
            topology, stated = look.topologies.get(name), self.settings.topology[name].component
            if topology is None or topology.status != "ACTIVE":
                continue
            faults += [
                f"topology.{name}.component.{each}: the topology has no such bolt"
                for each in stated
                if each not in topology.components or not topology.components[each].inputs
            ]
            for each in topology.components.values():
                own = stated.get(each.name)
                least, most = (
                    (1, each.tasks) if own is None else (own.min, min(own.max or each.tasks, each.tasks))
                )
                if own is not None and max(own.min, own.max or 1) > each.tasks:
                    key = "min" if own.min > each.tasks else "max"
                    faults.append(
                        f"topology.{name}.component.{each.name}.{key}: it has {each.tasks} tasks, at most"
                        " so many executors there can be; topology.tasks is fixed when it is submitted"
                    )
                if not each.inputs or not each.tasks:
                    continue
                needs = self.needs(name, each)
                most = self._most_now(topology, each.name, least, most)
                slo_ms = 1000.0 if own is None else own.slo_ms
                found.append(
                    Component(
                        qualified(name, each.name),
                        slo_ms,
                        needs.cpu,
                        needs.memory_mb,
                        min(least, most),
                        most,
                        each.tasks,
                        name,
                        self.pauses.get(name, 0.0),
                    )
                )
        return tuple(found), tuple(faults)

    def _resting(self, look: ClusterLook) -> list[str]:
        looks = [look.topologies[name] for name in self.scaled if name in look.topologies]
        return [
            f"{each.name}: it is {each.status}, and not scaled" for each in looks if each.status in RESTING
        ]

    def _unstated(self, look: ClusterLook) -> list[str]:
        """Return one sentence for each topology whose bolts take what Storm takes for them."""
        if self.offer is None or self.settings.capacity == "executors":
            return []
        found, fit = [], f"by which {self.offer.cpu / STORMS_CPU:.0f} fit on a leased host"
        for name in self.scaled:
            topology, stated = look.topologies.get(name), self.settings.topology[name].component
            components = {} if topology is None else topology.components
            names = [
                each.name
                for each in components.values()
                if each.inputs
                and each.cpu == STORMS_CPU
                and (each.name not in stated or stated[each.name].cpu is None)
            ]
            if names:
                why = f"need {STORMS_CPU:g} % of a core by Storm's default, {fit}"
                found.append(
                    f'{name}: executors of {some_of(names)} {why}; state cpu, or capacity = "executors"'
                )
        return found

    def running(self, look: ClusterLook) -> dict[str, int]:
        """Return how many executors of what is scaled have a slot."""
        found: dict[str, int] = {}
        for name in self.names:
            topology = look.topologies.get(name)
            if topology is not None and topology.status == "ACTIVE":
                counts = topology.counts()
                bolts = [each.name for each in topology.components.values() if each.inputs and each.tasks]
                found |= {qualified(name, each): counts[each] for each in bolts}
        return found

    def _most_now(self, topology: TopologyLook, component: str, least: int, most: int) -> int:
        """Return how many executors a policy may count on: half-way to what was refused lately.

        Else it would lease hosts for these. Tables of `layers` are of as many as there can ever be.
        """
        refused = self.refused.get(qualified(topology.name, component))
        if refused is None or self.settings.policy.kind not in KINDS:
            return most
        there = topology.counts()[component]
        half = least_equal(topology.components[component].tasks, max(1, (there + refused) // 2))
        return min(most, max(least, there, half))

    def needs(self, topology: str, component: StormComponent) -> Needs:
        """Return what an executor of a component of a topology needs."""
        if self.settings.capacity == "executors":
            return Needs(1.0, 1.0)
        own = self.settings.topology[topology].component.get(component.name)
        cpu = component.cpu if own is None or own.cpu is None else own.cpu
        memory_mb = component.memory_mb if own is None or own.memory_mb is None else own.memory_mb
        return Needs(max(cpu, NOTHING), max(memory_mb, NOTHING))

    def policy_offer(self, look: ClusterLook) -> Offer:
        """Return what a policy may lease; where nothing can be leased, the size of the largest host."""
        if self.offer is None:
            sizes = [self.size(host, look) for host in look.supervisors]
            cpu = max((each.cpu for each in sizes), default=NOTHING)
            memory_mb = max((each.memory_mb for each in sizes), default=NOTHING)
            return Offer(cpu, memory_mb, FOR_EVER_S, 0.0)
        if self.settings.capacity == "executors":
            size = Needs(float(self.offer.slots), float(self.offer.slots))
        else:
            size = Needs(self.offer.cpu, self.offer.memory_mb)
        offer = self.offer
        return Offer(size.cpu, size.memory_mb, offer.billing_unit_s, offer.unit_cost, offer.boot_s)

    def parameters(self, components: tuple[Component, ...], look: ClusterLook) -> LeasingParameters:
        """Return the policy's parameters.

        Raises:
            ModelError: One is refused.
        """
        settings, kind = self.settings, POLICIES[self.settings.policy.kind]
        stated: dict[str, Any] = dict(settings.policy.parameters)
        if self.offer is not None and "release_lead_s" in kind.own:
            # a drain is decided, carried out and looked at again before the host may go
            needs_s = 2.0 * settings.interval_s + settings.settle_s + _MOVES_S
            stated.setdefault("release_lead_s", min(self.offer.billing_unit_s, needs_s))
        if "trend_s" in kind.own:
            # a change is to do for as long as it is worth: the policy has to see where demand goes
            stated.setdefault("trend_s", stated.get("keep_peak_s", SizedParameters.keep_peak_s))
        stated |= {"hosts_min": settings.limits.hosts_min, "hosts_max": self.hosts_most(look)}
        try:
            return kind.parameters_of(components, self.policy_offer(look), stated)
        except ModelError as error:
            raise error.under("policy.parameters") from error

    def hosts_most(self, look: ClusterLook) -> int | None:
        """Return how many hosts there may be, by numbers and by budget."""
        limits = self.settings.limits
        if self.offer is None:
            # with as many hosts as there are, none is ever asked for
            return max(limits.hosts_min, len(look.supervisors))
        most = math.inf if limits.hosts_max is None else float(limits.hosts_max)
        leased = leased_most(self.offers, limits.hosts_max_of, limits.budget_per_hour)
        most = min(most, sum(host not in self.leased for host in look.supervisors) + leased)
        return None if math.isinf(most) else max(limits.hosts_min, int(most))

    def size(self, host: str, look: ClusterLook) -> Needs:
        """Return what fits on a host."""
        if self.settings.capacity == "executors":
            leased = self.offer is not None and host in self.leased
            slots = float(self.offer.slots if leased and self.offer else self.settings.executors_per_host)
            return Needs(slots, slots)
        supervisor = look.supervisors[host]
        return Needs(max(supervisor.cpu, NOTHING), max(supervisor.memory_mb, NOTHING))
