"""The cheapest way to put a number of equal members into the slots of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray


def cheapest_sum(values: FloatArray, room: FloatArray | IntArray, members: int) -> FloatArray:
    """Return the least sum of values when members take slots.

    Args:
        values: (..., n_nodes) price of one slot of each node, finite where there is room.
        room: (..., n_nodes) slots of each node, broadcasting with `values`.
        members: How many slots are taken (>= 0).

    Returns:
        (...) the sum, infinite where there are too few slots.
    """
    if members == 0:
        return np.zeros(np.broadcast_shapes(values.shape, room.shape)[:-1])
    if members == 1:
        least: FloatArray = np.where(room > 0, values, np.inf).min(axis=-1)
        return least
    taken, price = _taken(values, room, members)
    enough = taken.sum(axis=-1) >= members
    return np.where(enough, (np.where(taken > 0, price, 0.0) * taken).sum(axis=-1), np.inf)


def dearest_taken(values: FloatArray, room: FloatArray | IntArray, members: int) -> FloatArray:
    """Return the least possible largest value when members take slots, arguments as `cheapest_sum`."""
    if members <= 1:
        return cheapest_sum(values, room, members)
    taken, price = _taken(values, room, members)
    enough = taken.sum(axis=-1) >= members
    return np.where(enough, np.where(taken > 0, price, -np.inf).max(axis=-1), np.inf)


def cheapest_counts(values: FloatArray, room: FloatArray | IntArray, members: int) -> IntArray:
    """Return (..., n_nodes) members per node in a least sum; lower indices first among equals."""
    order = np.argsort(np.where(room > 0, values, np.inf), axis=-1, kind="stable")
    free = np.take_along_axis(np.broadcast_to(np.minimum(room, members), values.shape), order, axis=-1)
    counts = np.zeros(values.shape, dtype=np.int64)
    taken = np.clip(members - (np.cumsum(free, axis=-1) - free), 0, free)
    np.put_along_axis(counts, order, taken.astype(np.int64), axis=-1)
    return counts


def _taken(values: FloatArray, room: FloatArray | IntArray, members: int) -> tuple[FloatArray, FloatArray]:
    """Return slots taken and their prices, nodes in ascending order of price."""
    price = np.where(room > 0, values, np.inf)
    order = np.argsort(price, axis=-1)
    price = np.take_along_axis(price, order, axis=-1)
    free = np.take_along_axis(np.broadcast_to(np.minimum(room, members), price.shape), order, axis=-1)
    taken = np.clip(members - (np.cumsum(free, axis=-1) - free), 0, free)
    return taken, price
