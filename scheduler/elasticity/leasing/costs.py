"""What a run costs: paid billing units and late items (paper 003, section 4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.host import Host, Offer

_ROUNDING = 1e-9
"""A life that is a whole number of billing units but for rounding is not billed one more."""


def billed_units(lives_s: Iterable[tuple[float, float]], billing_unit_s: float) -> int:
    """Return how many billing units were started.

    Args:
        lives_s: (n_hosts, 2) when each host came and went, s.
        billing_unit_s: BTU, s (> 0).
    """
    return sum(math.ceil((went - came) / billing_unit_s - _ROUNDING) for came, went in lives_s)


def total_cost(paid_units: int, late_items: float, offer: Offer, penalty: float) -> float:
    """Return what a run costs: paid billing units, and a penalty for each late item of each component.

    Args:
        paid_units: Leases and prolongations.
        late_items: |V|; items that never were processed are late as well.
        offer: Whose unit cost.
        penalty: P, of one late item.
    """
    return offer.unit_cost * paid_units + penalty * late_items


def snapshot_cost(
    hosts: Sequence[Host],
    components: Mapping[str, Component],
    late_items: float,
    *,
    unit_cost: float,
    penalty: float,
) -> float:
    """Return the objective of paper 003 (eq. 1) at one moment.

    |H| h_cost + idle share of CPU + idle share of memory + |V| P. The paper adds shares of 0 to 1 to money
    without a weight; it is a figure to report, not a goal.

    Args:
        hosts: H, (n_hosts,) those that are leased, n_hosts >= 1.
        components: By name.
        late_items: |V|.
        unit_cost: h_cost.
        penalty: P.
    """
    cpu = sum(each.free_cpu(components) for each in hosts) / sum(each.cpu for each in hosts)
    memory = sum(each.free_memory_mb(components) for each in hosts) / sum(each.memory_mb for each in hosts)
    return len(hosts) * unit_cost + cpu + memory + late_items * penalty
