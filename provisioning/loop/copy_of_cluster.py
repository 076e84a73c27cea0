"""A copy of the cluster that does not exist: what it would be if it had been scaled. Pure.

Its hosts boot as long as the offer says and are paid by the same rules. Its queues are a fluid.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.leasing.host import Host

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.host import HostStatus, Offer
    from scheduler.elasticity.leasing.observation import ComponentReading


@dataclass(frozen=True)
class CopiedHost:
    """A host of the copy.

    Attributes:
        name: Of the host.
        cpu: What it has for what is scaled.
        memory_mb: Likewise, MB.
        paid_until_s: End of its paid time, s.
        ready_s: When it is up, s.
        executors: How many of each component run there.
        goes_s: When it is given back, s; None: that was not decided.
    """

    name: str
    cpu: float
    memory_mb: float
    paid_until_s: float
    ready_s: float
    executors: Mapping[str, int] = field(default_factory=dict)
    goes_s: float | None = None

    def seen(self, now_s: float) -> Host:
        """Return the host as a policy sees it."""
        status: HostStatus = "ready" if self.ready_s <= now_s else "booting"
        if self.goes_s is not None:
            status = "leaving"
        return Host(self.name, self.cpu, self.memory_mb, self.paid_until_s, self.executors, status=status)


@dataclass(frozen=True)
class Copy:
    """All of it.

    Attributes:
        began_s: When it was made, s since 1970.
        now_s: Up to when it has been followed, s.
        hosts: The oldest first.
        backlog: Items that wait, by component.
        still_s: Until when components stand still since executors have changed, s; before that, they did.
        units: Billing units paid so far.
        host_s: Hosts times seconds so far.
        executor_s: Executors times seconds.
        changes: Rounds in which executors changed.
        items: Items that came to components.
        late: Of these, items that came while more waited than fits the stated mean time.
        unknown_s: Time in which it was not known of every component what came, and how long an item takes, s.
    """

    began_s: float
    now_s: float
    hosts: tuple[CopiedHost, ...]
    backlog: Mapping[str, float] = field(default_factory=dict)
    still_s: Mapping[str, float] = field(default_factory=dict)
    units: int = 0
    host_s: float = 0.0
    executor_s: float = 0.0
    changes: int = 0
    items: float = 0.0
    late: float = 0.0
    unknown_s: float = 0.0

    @classmethod
    def of(cls, hosts: Iterable[Host], offer: Offer, now_s: float) -> Copy:
        """Return a copy of what there is, all of it paid from now on."""
        paid_until_s = now_s + offer.billing_unit_s
        copied = tuple(
            CopiedHost(each.name, each.cpu, each.memory_mb, paid_until_s, now_s, each.executors)
            for each in hosts
        )
        return cls(now_s, now_s, copied, units=len(copied))

    def executors(self) -> Counter[str]:
        """Return how many executors of each component there are on hosts that are up."""
        counts = Counter[str]()
        for each in self.hosts:
            if each.ready_s <= self.now_s:
                counts.update(each.executors)
        return counts

    def components(self) -> set[str]:
        """Return the names of all components that have executors."""
        return {name for each in self.hosts for name in each.executors}

    def without(self, components: Collection[str]) -> Copy:
        """Return the copy in which some components do not run any more."""
        hosts = tuple(
            replace(each, executors={name: n for name, n in each.executors.items() if name not in components})
            for each in self.hosts
        )
        backlog = {name: each for name, each in self.backlog.items() if name not in components}
        return replace(self, hosts=hosts, backlog=backlog)

    def joined_by(self, components: Collection[str], hosts: Iterable[Host], offer: Offer) -> Copy:
        """Return the copy in which some components begin as they are on the cluster.

        Args:
            components: That do not run in the copy.
            hosts: Of the cluster; those that run them and that the copy has not are paid from now on.
            offer: What hosts cost.
        """
        there, units = {each.name: each for each in self.hosts}, self.units
        for host in hosts:
            here = {name: n for name, n in host.executors.items() if name in components}
            if not here:
                continue
            copied = there.get(host.name)
            if copied is None:
                paid_until_s, units = self.now_s + offer.billing_unit_s, units + 1
                copied = CopiedHost(host.name, host.cpu, host.memory_mb, paid_until_s, self.now_s)
            there[host.name] = replace(copied, executors={**copied.executors, **here}, goes_s=None)
        return replace(self, hosts=tuple(there.values()), units=units)

    def seen(self) -> tuple[Host, ...]:
        """Return the hosts as a policy sees them."""
        return tuple(each.seen(self.now_s) for each in self.hosts)

    def reading(self, real: ComponentReading) -> ComponentReading:
        """Return what would be read of a component of the copy; of its queue and durations the real ones say
        nothing.

        Args:
            real: What was read of the cluster.
        """
        waiting = self.backlog.get(real.component, 0.0)
        executors = self.executors()[real.component]
        if real.demand_per_s is None or real.service_ms is None or not executors:
            return replace(real, waiting=waiting)
        busy = min(float(executors), real.demand_per_s * real.service_ms / 1000.0)
        lasts_ms = (1.0 + waiting / executors) * real.service_ms
        return replace(
            real, waiting=waiting, in_service=float(executors) if waiting else busy, durations_ms=(lasts_ms,)
        )

    def followed(
        self, readings: Iterable[ComponentReading], slo_ms: Mapping[str, float], offer: Offer, now_s: float
    ) -> Copy:
        """Let time pass: items come as they really did, and hosts go or are paid for on.

        Args:
            readings: Of the real cluster; of what has none, or no service time, nothing is known: what waits
                there goes on waiting.
            slo_ms: Longest mean time of every component, ms.
            offer: What hosts cost.
            now_s: Until when, s.
        """
        passed_s = max(0.0, now_s - self.now_s)
        counts, backlog, items, late = self.executors(), dict(self.backlog), self.items, self.late
        known = set()
        for each in readings:
            if each.demand_per_s == 0.0 or not (each.demand_per_s is None or each.service_ms is None):
                known.add(each.component)
            if each.demand_per_s is None or each.service_ms is None:
                continue
            came = each.demand_per_s * passed_s
            per_s = counts[each.component] * 1000.0 / each.service_ms
            still_s = min(passed_s, max(0.0, self.still_s.get(each.component, 0.0) - self.now_s))
            left = max(0.0, backlog.get(each.component, 0.0) + came - per_s * (passed_s - still_s))
            waits_ms = left / per_s * 1000.0 if per_s > 0.0 else float("inf") if left else 0.0
            backlog[each.component], items = left, items + came
            if waits_ms + each.service_ms > slo_ms[each.component]:
                late += came
            elif still_s * 1000.0 > slo_ms[each.component]:
                late += each.demand_per_s * still_s
        hosts, units = [], self.units
        for host in self.hosts:
            gone = host.goes_s is not None and host.goes_s <= now_s
            until_s = min(now_s, now_s if host.goes_s is None else host.goes_s)
            paid_until_s = host.paid_until_s
            while paid_until_s < until_s:
                paid_until_s, units = paid_until_s + offer.billing_unit_s, units + 1
            if not gone:
                hosts.append(replace(host, paid_until_s=paid_until_s))
        return replace(
            self,
            now_s=now_s,
            hosts=tuple(hosts),
            backlog=backlog,
            units=units,
            host_s=self.host_s + len(self.hosts) * passed_s,
            executor_s=self.executor_s + sum(counts.values()) * passed_s,
            items=items,
            late=late,
            unknown_s=self.unknown_s + (passed_s if slo_ms.keys() - known else 0.0),
        )

    def after(
        self, decision: LeasingDecision, components: Sequence[Component], offer: Offer, boot_s: float
    ) -> Copy:
        """Return the copy with a decision carried out: hosts boot, and what changes stands still first."""
        draft = Draft({each.name: each.seen(self.now_s) for each in self.hosts}, {})
        for stop in decision.stops:
            draft = draft.stopped(stop.component, stop.host)
        for request in decision.leases:
            draft = draft.leased(request, offer, self.now_s)
        for start in decision.starts:
            draft = draft.started(start.component, start.host)
        for move in decision.moves:
            draft = draft.moved(move.component, move.source, move.target)
        there = {each.name: each for each in self.hosts}
        goes_s = {each.host: each.at_s for each in decision.releases}
        hosts = []
        for name, host in draft.hosts.items():
            before = there.get(name)
            if before is None:
                ready_s = self.now_s + boot_s
                paid_until_s = ready_s + offer.billing_unit_s
                before = CopiedHost(name, host.cpu, host.memory_mb, paid_until_s, ready_s)
            hosts.append(replace(before, executors=host.executors, goes_s=goes_s.get(name, before.goes_s)))
        changed = {each.component for each in (*decision.stops, *decision.starts)}
        changed |= {each.component for each in decision.moves}
        groups = {each.group for each in components if each.name in changed}
        still_s = {each.name: self.now_s + each.pause_s for each in components if each.group in groups}
        return replace(
            self,
            hosts=tuple(hosts),
            units=self.units + len(decision.leases),
            still_s={**self.still_s, **still_s},
            changes=self.changes + bool(changed),
        )
