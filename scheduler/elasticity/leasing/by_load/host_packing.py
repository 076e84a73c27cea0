"""The set of hosts by packing, and a bound by forgetting which host has room: most often they meet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.elasticity.leasing.by_load.host_program import HostChoice

_ROUNDING = 1.0 + 1e-9


def bound(choice: HostChoice) -> float:
    """Return what every choice costs at least.

    For each number of hosts that are kept: their cost, and the late items if all room were on one host, in
    CPU alone or in memory alone, and executors could be cut.
    """
    room, size = choice.room, choice.size
    staying = room[~choice.may_go].sum(axis=0)
    ending = np.sort(room[choice.may_go], axis=0)[::-1].cumsum(axis=0)
    # (n_ending + 1, 2) room there is if so many are kept, the largest ones
    there = (staying + np.concatenate((np.zeros((1, size.shape[1])), ending))) * _ROUNDING
    steps = [_steps(each[least:]) for each, least in zip(choice.late_costs, choice.least, strict=True)]
    late = np.max([_least_late(choice, steps, size[:, k], there[:, k]) for k in range(size.shape[1])], axis=0)
    return float((choice.parameters.offer.unit_cost * np.arange(len(there)) + late).min())


def _least_late(
    choice: HostChoice, steps: Sequence[Sequence[tuple[float, int]]], size: FloatArray, rooms: FloatArray
) -> FloatArray:
    """Return the least cost of late items if executors, which can be cut, share one room (n,).

    Args:
        choice: What there is to choose from.
        steps: What executors above the fewest save, of each component.
        size: (n_components,) what an executor takes.
        rooms: (n,) sizes of the room.
    """
    fewest = sum(float(each[n]) for each, n in zip(choice.late_costs, choice.least, strict=True))
    left = rooms - float(size @ np.asarray(choice.least))
    savings = [(saved, number * size[k]) for k, own in enumerate(steps) for saved, number in own]
    savings.sort(key=lambda each: -each[0] / each[1])
    saved, takes = np.array([(0.0, 0.0), *savings]).cumsum(axis=0).T
    return np.where(left < 0.0, np.inf, fewest - np.interp(left, takes, saved))


def _steps(costs: FloatArray) -> list[tuple[float, int]]:
    """Return what executors save on the convex hull of their costs: of each stretch its saving and length.

    The saving per executor falls from stretch to stretch, so that the best ones come first.
    """
    steps, at = list[tuple[float, int]](), 0
    while at < len(costs) - 1:
        slopes = (costs[at] - costs[at + 1 :]) / np.arange(1, len(costs) - at)
        to = at + 1 + int(slopes.argmax())
        if costs[at] <= costs[to]:
            break
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
    best = choice.here, np.ones(len(choice.hosts), dtype=np.bool_)
    some, too_many = 0, len(order) + 1
    # where so many can go, fewer can: halving finds the most with few looks
    while too_many - some > 1:
        going = too_many - 1 if too_many > len(order) else (some + too_many) // 2
        stays = np.ones(len(choice.hosts), dtype=np.bool_)
        stays[order[:going]] = False
        after = _emptied(choice, stays)
        if after is None:
            too_many = going
        else:
            some, best = going, (after, stays)
    return best


def _emptied(choice: HostChoice, stays: BoolArray) -> IntArray | None:
    """Return executors (n_hosts, n_components) once hosts are empty; None if what is needed does not fit."""
    after = np.where(stays[:, None], choice.here, 0)
    size, surplus = choice.size, choice.surplus
    leaving = choice.here.sum(axis=0) - after.sum(axis=0)
    stopped = np.minimum(leaving, surplus)
    surplus, leaving = surplus - stopped, leaving - stopped
    free = choice.room - after @ size
    if (leaving @ size > (free[stays].sum(axis=0) + surplus @ size) * _ROUNDING).any():
        return None  # not even if all room were on one host
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
    may_stop = np.minimum(after, surplus)
    may_stop[:, component] = 0
    suitable = np.flatnonzero(((free + may_stop @ size) * _ROUNDING >= size[component]).all(axis=1))
    if not len(suitable):
        return None
    host = int(suitable[0])
    for other in np.repeat(np.arange(len(size)), may_stop[host]).tolist():
        if (free[host] * _ROUNDING >= size[component]).all():
            break
        after[host, other] -= 1
        surplus[other] -= 1
        free[host] += size[other]
    return host
