"""A decision in the making, on copies of the hosts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.decision import Change, LeasingDecision, Move, Reason, Release
from scheduler.elasticity.leasing.host import Host

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.decision import Price, Verdict
    from scheduler.elasticity.leasing.host import Offer


@dataclass(frozen=True)
class Draft:
    """Hosts as they will be, and what leads there. Each method returns a new draft.

    Attributes:
        hosts: By name, the oldest lease first.
        scalings: o_s by component, those of this draft included.
        decision: What leads to `hosts`.
        grown: Components that got an executor in this round, which are not taken away again.
    """

    hosts: Mapping[str, Host]
    scalings: Mapping[str, int]
    decision: LeasingDecision = field(default_factory=LeasingDecision)
    grown: frozenset[str] = frozenset()

    def executors(self, component: str) -> int:
        """o_#: how many executors of a component there are."""
        return sum(host.count(component) for host in self.hosts.values())

    def started(self, component: str, host: str) -> Draft:
        """Start an executor, which is one more of its component."""
        change = Change(component, host)
        return replace(
            self,
            hosts={**self.hosts, host: self.hosts[host].with_one_more(component)},
            scalings=self._one_scaling_more(component),
            decision=replace(self.decision, starts=(*self.decision.starts, change)),
            grown=self.grown | {component},
        )

    def stopped(self, component: str, host: str) -> Draft:
        """Stop an executor, which is one less of its component; one that was to move there stops instead."""
        come = [each for each in self.decision.moves if (each.component, each.target) == (component, host)]
        started = self.decision.starts.count(Change(component, host))
        moves, where = self.decision.moves, host
        if come and self.hosts[host].count(component) <= len(come) + started:
            k = moves.index(come[-1])
            moves, where = (*moves[:k], *moves[k + 1 :]), come[-1].source
        stops = (*self.decision.stops, Change(component, where))
        return replace(
            self,
            hosts={**self.hosts, host: self.hosts[host].with_one_less(component)},
            scalings=self._one_scaling_more(component),
            decision=replace(self.decision, stops=stops, moves=moves),
        )

    def moved(self, component: str, source: str, target: str) -> Draft:
        """Move an executor; their number, and what counts as scaling, stay."""
        hosts = dict(self.hosts)
        hosts[source] = hosts[source].with_one_less(component)
        hosts[target] = hosts[target].with_one_more(component)
        move = Move(component, source, target)
        return replace(self, hosts=hosts, decision=replace(self.decision, moves=(*self.decision.moves, move)))

    def leased(self, request: str, offer: Offer, now_s: float) -> Draft:
        """Ask for a host, which is paid from now on and may be given executors at once."""
        host = Host(request, offer.cpu, offer.memory_mb, now_s + offer.billing_unit_s, status="booting")
        leases = (*self.decision.leases, request)
        return replace(
            self, hosts={**self.hosts, request: host}, decision=replace(self.decision, leases=leases)
        )

    def released(self, host: str, at_s: float) -> Draft:
        """Give a host back, which takes nothing any more."""
        leaving = replace(self.hosts[host], status="leaving")
        releases = (*self.decision.releases, Release(host, at_s))
        return replace(
            self, hosts={**self.hosts, host: leaving}, decision=replace(self.decision, releases=releases)
        )

    def prolonged(self, host: str) -> Draft:
        """Keep a host for one more billing unit."""
        prolongations = (*self.decision.prolongations, host)
        return replace(self, decision=replace(self.decision, prolongations=prolongations))

    def because(self, verdict: Verdict, about: str, why: str, cause: str = "") -> Draft:
        """Add a reason."""
        reasons = (*self.decision.reasons, Reason(verdict, about, why, cause))
        return replace(self, decision=replace(self.decision, reasons=reasons))

    def priced(self, price: Price) -> Draft:
        """Say what hosts cost as decided."""
        return replace(self, decision=replace(self.decision, price=price))

    def has_taken(self, host: str) -> bool:
        """Return whether a host has been given an executor in this round."""
        given = {each.host for each in self.decision.starts} | {each.target for each in self.decision.moves}
        return host in given

    def _one_scaling_more(self, component: str) -> Mapping[str, int]:
        return {**self.scalings, component: self.scalings.get(component, 0) + 1}
