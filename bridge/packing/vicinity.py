"""Some supervisors of a large cluster among which a small topology can be placed executor by executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bridge.packing.grounds import Grounds
    from bridge.packing.jobs import Order
    from scheduler.base.arrays import FloatArray, IntArray


def choose_nodes(grounds: Grounds, order: Order, most: int) -> IntArray:
    """Choose supervisors for a topology: half of them at the best site, a quarter at the next one, and so on.

    The best site is the nearest to what runs or is bound by pins; without either the one with most room.

    Args:
        grounds: The supervisors.
        order: What is to be placed.
        most: Most supervisors, beside those where the topology runs.

    Returns:
        Indices of supervisors, ascending.
    """
    job = order.job
    running = np.unique(np.array([worker.node for worker in job.running], dtype=np.int64))
    # Where nothing is missing a pin is broken: all of it may have to go.
    wanted = job.count > 0 if job.count.any() else job.whole > 0
    open_nodes = grounds.slots > 0
    bound = np.zeros(len(open_nodes), dtype=np.bool_)
    if job.permitted is not None:
        per_component = job.permitted[wanted].sum(axis=1)
        tied = per_component < len(open_nodes)
        bound = open_nodes & job.permitted[wanted][tied].any(axis=0)
        open_nodes = open_nodes & job.permitted[wanted].any(axis=0)
    room = _room(grounds, job.count @ job.demand)
    tied_nodes = _roomiest(np.flatnonzero(bound), room)[: max(most // 4, 1)]
    site, far = _sites(grounds)
    homes = np.unique(site[np.concatenate([running, tied_nodes])])
    room_of_site = np.bincount(site[open_nodes], weights=room[open_nodes], minlength=len(far))
    distance = far[:, homes].mean(axis=1) if len(homes) else np.zeros(len(far))
    chosen = [running, tied_nodes]
    left = most - len(tied_nodes)
    for each in np.lexsort((-room_of_site, distance)).tolist():
        share = max(left // 2, 1)
        chosen.append(_roomiest(np.flatnonzero(open_nodes & (site == each)), room)[:share])
        left -= len(chosen[-1])
        if left <= 0:
            break
    return np.unique(np.concatenate(chosen))


def _room(grounds: Grounds, needed: FloatArray) -> FloatArray:
    """(n_supervisors,) part of what is needed that each has room for, by its scarcest resource, at most 1."""
    used = needed > 0
    if not used.any():
        return np.ones(len(grounds.slots))
    return np.asarray(np.clip((grounds.free[:, used] / needed[used]).min(axis=1), 0.0, 1.0), dtype=np.float64)


def _roomiest(nodes: IntArray, room: FloatArray) -> IntArray:
    return np.asarray(nodes[np.argsort(-room[nodes], kind="stable")], dtype=np.int64)


def _sites(grounds: Grounds) -> tuple[IntArray, FloatArray]:
    """(n_supervisors,) the site of each, and (n_sites, n_sites) what it costs to go from one to another."""
    level = next((each for each in grounds.fleet.levels if each.far is not None), None)
    if level is None or level.far is None:
        return np.zeros(len(grounds.slots), dtype=np.int64), np.zeros((1, 1))
    return level.group, level.far
