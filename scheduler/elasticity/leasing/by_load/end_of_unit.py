"""Hosts whose paid time ends are judged all at once: which are kept, and where executors are then."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.by_load.host_set import best_host_set
from scheduler.elasticity.leasing.decision import Price

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.by_load.changing import Changing
    from scheduler.elasticity.leasing.by_load.host_set import HostSet
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.host import Host


@dataclass(frozen=True)
class Judged:
    """What is known of ends of paid time.

    Attributes:
        settled: Hosts that were judged, with the end of paid time that was judged, s.
        spare: What hosts have cost that were kept only since emptying them has its price, since that was last
            done.
    """

    settled: Mapping[str, float]
    spare: float


def with_ends_judged(
    draft: Draft, judged: Judged, change: Changing, parameters: SizedParameters, now_s: float
) -> tuple[Draft, Judged]:
    """Keep or give back each host whose paid time ends soon, once per end, when all that runs there is known.

    Args:
        draft: The round so far.
        judged: Before the round.
        change: What components need, and what a change of them costs.
        parameters: Of the policy.
        now_s: Time of the decision, s.

    Returns:
        The round, and what is judged after it.
    """
    settled = {name: end for name, end in judged.settled.items() if name in draft.hosts}
    ready = [each for each in draft.hosts.values() if each.status == "ready"]
    ending = [
        each
        for each in ready
        if each.paid_until_s - now_s <= parameters.window_s and settled.get(each.name) != each.paid_until_s
    ]
    if not ending:
        return draft, replace(judged, settled=settled)
    for each in ending:
        unknown = next((name for name in each.executors if name not in change.needs), None)
        why = f"nothing is known of {unknown}, which runs there"
        if unknown is None and change.unsure and not any(each.executors.values()):
            unknown, why = "", "nothing is known just now of what it was leased for"
        if unknown is not None and now_s < each.paid_until_s:
            # it is not paid for yet, and in the next round more may be known
            draft = draft.because("held", each.name, why)
            ending = [other for other in ending if other is not each]
    settled |= {each.name: each.paid_until_s for each in ending}
    why_kept = {each.name: _why_kept(each, draft, now_s) for each in ending}
    going = [each for each in ending if not why_kept[each.name]]
    may_go = _candidates(draft, going, change, parameters, now_s)
    best = _best(draft, ready, may_go, change.needs, parameters)
    chosen, spare = best if best is not None and best.released else None, judged.spare
    price = 0.0 if chosen is None else _price(chosen, change, parameters)
    if chosen is not None and price:
        freed = [each for each in going if each.name in chosen.released]
        spare += parameters.offer.unit_cost * len(freed)
        if spare >= price:
            spare = 0.0
        else:
            why_kept |= dict.fromkeys((each.name for each in freed if each.executors), _dear(price, spare))
            chosen = _without_changes(chosen, freed, parameters)
    for name, why in why_kept.items():
        if chosen is not None and name in chosen.released:
            continue
        worth = why or (
            "it is worth its cost" if name in may_go else f"at least {parameters.hosts_min} hosts stay"
        )
        draft = draft.prolonged(name).because("prolonged", name, worth)
    after = draft if chosen is None else _carried_out(draft, ready, chosen, parameters)
    if best is not None:
        changes = chosen is not None and bool((chosen.here != chosen.executors).any())
        cost = best.kept_cost if chosen is None else chosen.cost
        after = after.priced(Price(cost, best.kept_cost, best.bound, price if changes else 0.0))
    return after, Judged(settled, spare)


def _candidates(
    draft: Draft, going: Sequence[Host], change: Changing, parameters: SizedParameters, now_s: float
) -> list[str]:
    """Return hosts that may be given back, those first whose paid time ends first.

    Where a change has a price, one change empties all hosts that are not needed, whenever their time ends.
    """
    if not going:
        return []
    ready = [each for each in draft.hosts.values() if each.status == "ready"]
    pauses = not change.unsure and any(parameters.pause_s(each) for each in parameters.components)
    later = [
        each
        for each in ready
        if pauses
        and now_s < each.paid_until_s <= now_s + parameters.offer.billing_unit_s
        and not draft.has_taken(each.name)
        and each not in going
        and each.executors.keys() <= change.needs.keys()
    ]
    ordered = [*going, *sorted(later, key=lambda each: each.paid_until_s)]
    return [each.name for each in ordered[: max(0, len(ready) - parameters.hosts_min)]]


def _price(chosen: HostSet, change: Changing, parameters: SizedParameters) -> float:
    """Return what items cost that are late since executors change as chosen; a backlog forbids it."""
    moved = (chosen.here != chosen.executors).any(axis=0).tolist()
    groups = {each.group for each, is_moved in zip(parameters.components, moved, strict=True) if is_moved}
    if groups & change.behind:
        return math.inf
    return sum(change.prices[each] for each in groups)


def _dear(price: float, spare: float) -> str:
    """Return why a host is not emptied although it is not needed."""
    if math.isinf(price):
        return "what waits is worked off first"
    return f"emptying it makes items late for {price:.3g}, and would have saved {spare:.3g} so far"


def _without_changes(chosen: HostSet, freed: Sequence[Host], parameters: SizedParameters) -> HostSet | None:
    """Return a choice in which only those go on which nothing runs; None without any."""
    idle = tuple(each.name for each in freed if not each.executors)
    cost = chosen.kept_cost - parameters.offer.unit_cost * len(idle)
    return replace(chosen, released=idle, executors=chosen.here, cost=cost) if idle else None


def _why_kept(host: Host, draft: Draft, now_s: float) -> str:
    """Return why a host is kept whatever it costs; empty if nothing speaks against giving it back."""
    if now_s >= host.paid_until_s:
        return "the end of its paid time has passed before it was looked at"
    return "it has just been given an executor" if draft.has_taken(host.name) else ""


def _best(
    draft: Draft,
    ready: Sequence[Host],
    may_go: Sequence[str],
    needs: Mapping[str, Need],
    parameters: SizedParameters,
) -> HostSet | None:
    """Return the best set of hosts; None if all of them stay anyway."""
    if not may_go:
        return None
    elsewhere = Counter[str]()
    for host in draft.hosts.values():
        if host.status == "booting":
            elsewhere.update(host.executors)
    return best_host_set(ready, may_go, needs, elsewhere, parameters)


def _carried_out(draft: Draft, ready: Sequence[Host], chosen: HostSet, parameters: SizedParameters) -> Draft:
    """Move and stop executors as chosen, and give hosts back."""
    for k, component in enumerate(parameters.components):
        change = {
            host.name: after - host.count(component.name)
            for host, after in zip(ready, chosen.executors[:, k].tolist(), strict=True)
        }
        arriving = [name for name, more in change.items() for _ in range(more)]
        leaving = [name for name, more in change.items() for _ in range(-more)]
        for source, target in zip(leaving, arriving, strict=False):
            draft = draft.moved(component.name, source, target)
        for source in leaving[len(arriving) :]:
            why = "fewer are enough, and a host can be given back"
            draft = draft.stopped(component.name, source).because("shrunk", component.name, why)
    for name in chosen.released:
        why = f"with it a billing unit costs {chosen.kept_cost:.3g}, without it {chosen.cost:.3g}"
        draft = draft.released(name, draft.hosts[name].paid_until_s).because("released", name, why)
    return draft
