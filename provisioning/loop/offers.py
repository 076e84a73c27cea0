"""From which offer a host is leased, where several are alike: places of a cloud, or sites. Pure."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from provisioning.loop.memory import Request
    from provisioning.providers.provider import HostOffer, Lease
    from provisioning.settings import Limits

_ROUNDING = 1e-6
_LOST_S = 1800.0
"""For so long others are leased first after a host of an offer did not come, s."""


def alike(offers: Sequence[HostOffer]) -> str:
    """Return what keeps hosts of some offers from taking each other's place; empty: nothing."""
    for each in offers[1:]:
        first = offers[0]
        if (each.slots, each.billing_unit_s) != (first.slots, first.billing_unit_s):
            return f"hosts of {each.name} need the slots and the billing unit of those of {first.name}"
        if each.cpu < first.cpu or each.memory_mb < first.memory_mb:
            return f"hosts of {each.name} have less CPU or memory than those of {first.name}"
    return ""


def to_lease(
    offers: Sequence[HostOffer],
    leased: Mapping[str, int],
    limits: Limits,
    lost_s: Mapping[str, float],
    now_s: float,
) -> HostOffer | None:
    """Return the first offer of which one more host may be leased; None: there is none.

    Those of which a host did not come lately are the last choice, the latest of them last. Hosts that are
    paid for count, though Nimbus does not list them any more.

    Args:
        offers: The one that is preferred first.
        leased: Hosts of each, those that were asked for included.
        limits: Hosts of each that there may be at the most, and the budget of all.
        lost_s: When a host of one last did not come, s since 1970.
        now_s: Time, s since 1970.
    """
    most = limits.hosts_max_of
    if sum(leased.values()) >= leased_most(offers, most, limits.budget_per_hour):
        return None

    def lost(each: HostOffer) -> float:
        at_s = lost_s.get(each.name, -math.inf)
        return at_s if 0.0 <= now_s - at_s < _LOST_S else -math.inf

    free = [each for each in offers if leased.get(each.name, 0) < most.get(each.name, math.inf)]
    return min(free, key=lost, default=None)


def leased_by_offer(leases: Iterable[Lease], requests: Mapping[str, Request]) -> Counter[str]:
    """Return how many hosts are leased of each offer, those that were asked for included."""
    answered, leased = set(), Counter[str]()
    for each in leases:
        answered.add(each.request_id)
        leased[each.offer] += each.live
    leased.update(each.offer for name, each in requests.items() if name not in answered)
    return leased


def leased_most(offers: Sequence[HostOffer], most: Mapping[str, int], budget_per_hour: float | None) -> float:
    """Return how many hosts may be leased at once, by limits of all offers and by the budget; infinite: any.

    The budget is counted at the price of the dearest one.
    """
    limited = sum(most.get(each.name, math.inf) for each in offers)
    dearest = max((each.unit_cost * 3600.0 / each.billing_unit_s for each in offers), default=0.0)
    if budget_per_hour is None or not dearest:
        return limited
    return min(limited, math.floor(budget_per_hour / dearest + _ROUNDING))
