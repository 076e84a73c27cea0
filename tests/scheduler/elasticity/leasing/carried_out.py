"""Hosts after a decision, worked out independently of how the decision was made."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.host import Host

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.host import Offer


def carried_out(
    hosts: Iterable[Host], decision: LeasingDecision, offer: Offer, now_s: float
) -> tuple[Host, ...]:
    """Return the hosts once everything has been done, in the order in which it is to be done."""
    there = {each.name: Counter(each.executors) for each in hosts}
    known = {each.name: each for each in hosts}
    for stop in decision.stops:
        there[stop.host][stop.component] -= 1
        assert there[stop.host][stop.component] >= 0, "an executor stops that is not there"
    for request in decision.leases:
        there[request] = Counter()
        paid_until_s = now_s + offer.billing_unit_s
        known[request] = Host(request, offer.cpu, offer.memory_mb, paid_until_s, status="booting")
    for start in decision.starts:
        there[start.host][start.component] += 1
    for move in decision.moves:
        there[move.source][move.component] -= 1
        assert there[move.source][move.component] >= 0, "an executor moves that is not there"
        there[move.target][move.component] += 1
    gone = {each.host for each in decision.releases}
    return tuple(
        replace(
            each,
            executors={component: count for component, count in there[each.name].items() if count},
            images=each.images | set(there[each.name]),
            status="leaving" if each.name in gone else each.status,
        )
        for each in known.values()
    )
