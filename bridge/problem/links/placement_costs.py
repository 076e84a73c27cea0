"""What executors of a topology cost where they run, as far as it is stated (paper 002, eq. 5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import META_UNIT_COST
from bridge.problem.pricing import lacking

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bridge.network.cluster import Host
    from bridge.wishes.place import Place
    from scheduler.base.arrays import BoolArray, FloatArray

_NARROWEST_LAST = ("tier", "site", "host")


@dataclass(frozen=True, eq=False)
class PlacementCosts:
    """Costs of one topology's executors.

    Attributes:
        unit_cost: (n_hosts,) of a unit of load; 0 on all if some host does not state it, which would look
            cheap otherwise.
        stated: By component, (n_hosts,) what one of its executors costs, NaN where its load at the unit cost
            counts.
        note: What is not known, in phrases; empty if all is.
    """

    unit_cost: FloatArray
    stated: Mapping[str, FloatArray]
    note: str


def placement_costs(
    given: Mapping[str, Mapping[Place, float]],
    hosts: Sequence[Host],
    reach: Mapping[str, BoolArray],
) -> PlacementCosts:
    """Find out what executors cost.

    Args:
        given: Costs by component and place; those of a host count before those of its site, and these before
            those of its tier.
        hosts: Hosts of the round.
        reach: (n_hosts,) those where executors run or may come, by component.
    """
    stated = {}
    strange: set[str] = set()
    for component, costs in given.items():
        values = np.full(len(hosts), np.nan)
        for place in sorted(costs, key=lambda each: _NARROWEST_LAST.index(each.kind)):
            key = "name" if place.kind == "host" else place.kind
            there = [getattr(host, key) == place.name for host in hosts]
            if place.kind != "tier" and not any(there):
                strange.add(str(place))
            values[there] = costs[place]
        stated[component] = values
    open_to_default = np.zeros(len(hosts), dtype=np.bool_)
    for component, near in reach.items():
        open_to_default |= near & (np.isnan(stated[component]) if component in stated else True)
    known = [host.unit_cost is not None for host in hosts]
    why = lacking(META_UNIT_COST, known, hosts, open_to_default) if open_to_default.any() else ""
    unit_cost = np.array([0.0 if why else host.unit_cost or 0.0 for host in hosts], dtype=np.float64)
    notes = [f"placement_cost is weighed but {why}"] if why else []
    if strange:
        notes.append(f"placement.cost names {', '.join(sorted(strange))}, where no host is")
    return PlacementCosts(unit_cost, stated, "; ".join(notes))
