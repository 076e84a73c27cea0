"""Which hosts are kept at the end of their paid time, together with where executors are then.

min  cost of kept hosts + expected late items + moves, over whole numbers of executors per host and component,
such that executors fit on the hosts that are kept. Where packing reaches a simple bound it is the answer;
else an integer program is solved, unless there are very many hosts. The bound says how good the answer is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.elasticity.leasing.by_load.host_packing import bound, packed
from scheduler.elasticity.leasing.by_load.host_program import HostChoice, solved
from scheduler.elasticity.useful import effective

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need
    from scheduler.elasticity.leasing.host import Host

_LARGEST_PROGRAM = 400
"""Hosts times components up to which the program is solved: with nine components it then takes a second."""
_GAP = 0.05
"""Of the cost of a billing unit: so much above the bound is good enough, beside what moves cost."""


@dataclass(frozen=True, eq=False)
class HostSet:
    """The outcome.

    Attributes:
        released: Names of the hosts that are given back.
        here: (n_hosts, n_components) how many of each component are on each host.
        executors: (n_hosts, n_components) how many there are then.
        cost: Of it all, in the currency of the offer.
        kept_cost: The same if every host is kept and nothing changes.
        bound: Every choice costs at least so much.
    """

    released: tuple[str, ...]
    here: IntArray
    executors: IntArray
    cost: float
    kept_cost: float
    bound: float


def late_cost(executors: int, need: Need, parameters: SizedParameters) -> float:
    """Return what items cost in a billing unit that are late because there are so few executors.

    Of all items none is late up to the target load, all are once executors are busy all the time, and in
    between the share grows in a straight line. A queue is worse near its limit, and better far from it. What
    cannot keep up is late for more than a billing unit: no choice leaves a component so (`Need.least`).

    Args:
        executors: Number of executors (>= 0).
        need: Of the component.
        parameters: Penalty, target load and billing unit.
    """
    load = need.busy / effective(need.tasks, executors) if executors else np.inf
    share = min(1.0, max(0.0, (load - parameters.target_load) / (1.0 - parameters.target_load)))
    return parameters.penalty * need.demand_per_s * parameters.offer.billing_unit_s * share


def best_host_set(
    hosts: Sequence[Host],
    ending: Sequence[str],
    needs: Mapping[str, Need],
    elsewhere: Mapping[str, int],
    parameters: SizedParameters,
) -> HostSet:
    """Return which of the hosts whose paid time ends are kept, and what then runs where.

    Args:
        hosts: Those that may take executors, and those whose paid time ends.
        ending: Names of the latter.
        needs: Of components; what is not named keeps its executors.
        elsewhere: Executors of each component on other hosts, which stay.
        parameters: Components, offer and prices.
    """
    components = parameters.components
    here = np.array([[host.count(each.name) for each in components] for host in hosts])
    may_go = np.array([host.name in ending for host in hosts])
    totals: list[int] = here.sum(axis=0).tolist()
    costs = [
        _costs(needs.get(each.name), elsewhere.get(each.name, 0), total, parameters)
        for each, total in zip(components, totals, strict=True)
    ]
    least = [
        min(max(0, max(each.least, needs[each.name].least) - elsewhere.get(each.name, 0)), total)
        if each.name in needs
        else total
        for each, total in zip(components, totals, strict=True)
    ]
    choice = HostChoice(hosts, here, may_go, costs, least, parameters)
    all_stay = np.ones(len(hosts), dtype=np.bool_)
    kept_cost, lowest, gap = choice.cost(here, all_stay), bound(choice), _GAP * parameters.offer.unit_cost
    after, stays = packed(choice)
    cost = choice.cost(after, stays)
    if kept_cost < cost:
        after, stays, cost = here, all_stay, kept_cost
    moves = parameters.move_cost * float(np.maximum(after - here, 0).sum())
    if cost - moves > lowest + gap and here.size <= _LARGEST_PROGRAM:
        found = solved(choice, gap)
        if found is not None:
            lowest = max(lowest, found.bound)
            other_cost = choice.cost(found.executors, found.stays)
            if other_cost < cost:
                after, stays, cost = found.executors, found.stays, other_cost
    released = tuple(host.name for host, stay in zip(hosts, stays.tolist(), strict=True) if not stay)
    return HostSet(released, here, after, cost, kept_cost, lowest)


def _costs(need: Need | None, others: int, total: int, parameters: SizedParameters) -> FloatArray:
    """Return what late items cost with 0 to `total` executors (total + 1,) beside others; 0 if unknown."""
    if need is None:
        return np.zeros(total + 1)
    return np.array([late_cost(others + n, need, parameters) for n in range(total + 1)])
