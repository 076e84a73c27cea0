"""The set of hosts by packing, and a bound by forgetting which host has room: most often they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.elasticity.leasing.host_program import HostChoice

_ROUNDING = 1.0 + 1e-9


def bound(choice: HostChoice) -> float:
    """Return what every choice costs at least.

    For each number of hosts that are kept: their cost, and the late items if all room were on one host, in
    CPU alone or in memory alone, and executors could be cut.
    """
    room, size = choice.room, choice.size
    staying = room[~choice.may_go].sum(axis=0)
    ending = np.sort(room[choice.may_go], axis=0)[::-1].cumsum(axis=0)
    costs = []
    for kept in range(len(ending) + 1):
        there = (staying + (ending[kept - 1] if kept else 0.0)) * _ROUNDING
        late = max(_least_late(choice, size[:, k], float(there[k])) for k in range(size.shape[1]))
        costs.append(choice.parameters.offer.unit_cost * kept + late)
    return min(costs)


def _least_late(choice: HostChoice, size: FloatArray, room: float) -> float:
    """Return the least cost of late items if executors, which can be cut, share one room."""
    cost = sum(float(each[n]) for each, n in zip(choice.late_costs, choice.least, strict=True))
    room -= float(size @ np.asarray(choice.least))
    if room < 0.0:
        return np.inf
    savings = [
        (saved / size[k], saved, number * size[k])
        for k, (of_number, least) in enumerate(zip(choice.late_costs, choice.least, strict=True))
        for saved, number in _steps(of_number[least:])
    ]
    for _, saved, takes in sorted(savings, reverse=True):
        share = min(1.0, room / (takes or 1.0))
        cost -= saved * share
        room -= takes * share
        if room <= 0.0:
            break
    return cost


def _steps(costs: FloatArray) -> list[tuple[float, int]]:
    """Return what executors save on the convex hull of their costs: of each stretch its saving and length.

    The saving per executor falls from stretch to stretch, so that the best ones come first.
    """
    steps, at = list[tuple[float, int]](), 0
    while at < len(costs) - 1:
        slopes = (costs[at] - costs[at + 1 :]) / np.arange(1, len(costs) - at)
        if slopes.max() <= 0.0:
            break
        to = at + 1 + int(slopes.argmax())
        steps.append((float(costs[at] - costs[to]), to - at))
        at = to
    return steps


def packed(choice: HostChoice) -> tuple[IntArray, BoolArray]:
    """Return executors (n_hosts, n_components) and kept hosts (n_hosts,): as many go as packing empties.

    Hosts with least on them go first. What their components do not need stops, the rest moves, the largest
    first, to the host with least room that is enough; in its way only what is not needed stops.
    """
    order = np.flatnonzero(choice.may_go)
    order = order[np.argsort((choice.here @ choice.size)[order, -1], kind="stable")]
    for going in range(len(order), 0, -1):
        stays = np.ones(len(choice.hosts), dtype=np.bool_)
        stays[order[:going]] = False
        after = _emptied(choice, stays)
        if after is not None:
            return after, stays
    return choice.here, np.ones(len(choice.hosts), dtype=np.bool_)


def _emptied(choice: HostChoice, stays: BoolArray) -> IntArray | None:
    """Return executors (n_hosts, n_components) once hosts are empty; None if what is needed does not fit."""
    after = np.where(stays[:, None], choice.here, 0)
    size, surplus = choice.size, choice.surplus()
    leaving = choice.here.sum(axis=0) - after.sum(axis=0)
    stopped = np.minimum(leaving, surplus)
    surplus, leaving = surplus - stopped, leaving - stopped
    free = choice.room - after @ size
    free[~stays] = -np.inf
    for component in np.argsort(-size[:, -1], kind="stable").tolist():
        for _ in range(int(leaving[component])):
            host = _host_with_room(free, size[component])
            if host is None:
                host = _made_room(after, free, choice, surplus, component)
            if host is None:
                return None
            after[host, component] += 1
            free[host] -= size[component]
    return after


def _host_with_room(free: FloatArray, size: FloatArray) -> int | None:
    """Return the host with the least free memory that is enough; None if none has room."""
    fitting = np.flatnonzero((free * _ROUNDING >= size).all(axis=1))
    return int(fitting[np.argmin(free[fitting, -1])]) if len(fitting) else None


def _made_room(
    after: IntArray, free: FloatArray, choice: HostChoice, surplus: IntArray, component: int
) -> int | None:
    """Stop executors that are not needed on the first host where that makes room, which is returned."""
    size = choice.size
    for host in np.flatnonzero(np.isfinite(free[:, 0])).tolist():
        may_stop = np.minimum(after[host], surplus)
        may_stop[component] = 0
        if not ((free[host] + may_stop @ size) * _ROUNDING >= size[component]).all():
            continue
        for other in np.repeat(np.arange(len(size)), may_stop).tolist():
            if (free[host] * _ROUNDING >= size[component]).all():
                break
            after[host, other] -= 1
            surplus[other] -= 1
            free[host] += size[other]
        return int(host)
    return None
