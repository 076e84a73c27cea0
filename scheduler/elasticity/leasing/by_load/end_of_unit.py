"""Hosts whose paid time ends are judged all at once: which are kept, and where executors are then."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.by_load.host_set import best_host_set

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.elasticity.leasing.by_load.host_set import HostSet
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.host import Host


def with_ends_judged(
    draft: Draft,
    settled: Mapping[str, float],
    needs: Mapping[str, Need],
    parameters: SizedParameters,
    now_s: float,
) -> tuple[Draft, Mapping[str, float]]:
    """Keep or give back each host whose paid time ends soon, once per end, when all that runs there is known.

    Args:
        draft: The round so far.
        settled: Hosts that were judged, with the end of paid time that was judged, s.
        needs: Of components with a reading that counts.
        parameters: Of the policy.
        now_s: Time of the decision, s.

    Returns:
        The round, and what is settled after it.
    """
    settled = {name: end for name, end in settled.items() if name in draft.hosts}
    ready = [each for each in draft.hosts.values() if each.status == "ready"]
    ending = [
        each
        for each in ready
        if each.paid_until_s - now_s <= parameters.window_s and settled.get(each.name) != each.paid_until_s
    ]
    if not ending:
        return draft, settled
    for each in ending:
        unknown = next((name for name in each.executors if name not in needs), None)
        if unknown is not None and now_s < each.paid_until_s:
            # it is not paid for yet, and in the next round more may be known
            draft = draft.because("held", each.name, f"nothing is known of {unknown}, which runs there")
            ending = [other for other in ending if other is not each]
    settled |= {each.name: each.paid_until_s for each in ending}
    why_kept = {each.name: _why_kept(each, draft, now_s) for each in ending}
    may_go = [name for name, why in why_kept.items() if not why][: max(0, len(ready) - parameters.hosts_min)]
    chosen = _chosen(draft, ready, may_go, needs, parameters)
    for name, why in why_kept.items():
        if chosen is not None and name in chosen.released:
            continue
        worth = "it is worth its cost" if name in may_go else f"at least {parameters.hosts_min} hosts stay"
        draft = draft.prolonged(name).because("prolonged", name, why or worth)
    return (draft if chosen is None else _carried_out(draft, ready, chosen, parameters)), settled


def _why_kept(host: Host, draft: Draft, now_s: float) -> str:
    """Return why a host is kept whatever it costs; empty if nothing speaks against giving it back."""
    if now_s >= host.paid_until_s:
        return "the end of its paid time has passed before it was looked at"
    return "it has just been given an executor" if draft.has_taken(host.name) else ""


def _chosen(
    draft: Draft,
    ready: Sequence[Host],
    may_go: Sequence[str],
    needs: Mapping[str, Need],
    parameters: SizedParameters,
) -> HostSet | None:
    """Return the best set of hosts if it gives any of them back."""
    if not may_go:
        return None
    elsewhere = Counter[str]()
    for host in draft.hosts.values():
        if host.status == "booting":
            elsewhere.update(host.executors)
    chosen = best_host_set(ready, may_go, needs, elsewhere, parameters)
    return chosen if chosen.released else None


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
