"""Nodes to fill one after the other: the tightest that takes all that is left, else the roomiest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

# Amounts are sums of many demands: rounding must not make a node too small.
ROUNDING = 1e-9


class Candidates:
    """Nodes that are still to be filled.

    A node changes only by being filled, and then it is none of them any more: what the others offer is read
    once. A step is linear in the nodes.

    Args:
        free: (n_nodes, n_resources) what is left of each.
        kept: (n_nodes, n_resources) part of it that stays for others where a job needs several nodes.
        slots: (n_nodes,) free worker slots, 1 or more.
        near: (n_nodes,) at how many levels each shares a group with executors of the job; kept up to date.
        groups: (n_nodes,) group of each, by level.
        rank: (n_nodes,) nodes of a lower rank are filled first; None if all are alike.
    """

    def __init__(
        self,
        free: FloatArray,
        kept: FloatArray,
        slots: IntArray,
        *,
        near: FloatArray,
        groups: list[IntArray],
        rank: IntArray | None,
    ) -> None:
        # A row per resource, workers last: so the least of each node is found along whole rows.
        self._offer = np.vstack([free.T, slots])
        self._spare = np.vstack([(free - kept).T, slots])
        self._most = self._offer.max(axis=1, initial=0.0)
        self._near = near
        # To be beside all of them, or beside none, makes no difference between them.
        self._groups = [group for group in groups if 1 < len(np.unique(group)) < len(group)]
        self._rank = rank

    def best(self, needed: FloatArray) -> tuple[int, bool]:
        """Choose the node to fill next; at least one must be left.

        Args:
            needed: (n_resources + 1,) what is left to place needs, workers last, 1 or more of these.

        Returns:
            Its position, and whether it takes everything.
        """
        rooms = self._rooms(needed)
        least = least_for_all(needed)
        if (least <= self._most).all():
            fits = (self._offer >= least[:, None]).all(axis=0)
            if fits.any():
                return best_of(np.where(fits, -rooms, -np.inf), self._near, self._rank), True
        if self._rank is None:
            return int(np.argmax(np.where(self._near == self._near.max(), rooms, -np.inf))), False
        return best_of(np.where(self._near > -np.inf, rooms, -np.inf), self._near, self._rank), False

    def have_room(self, needed: FloatArray) -> bool:
        """Whether any node takes part of what is left to place."""
        return bool(self._rooms(needed).any())

    def close(self, at: int, *, taken: bool) -> None:
        """Take a node out.

        Args:
            at: Its position.
            taken: Whether it got executors: the nodes beside it are nearer then.
        """
        self._offer[:, at] = self._spare[:, at] = 0.0
        for group in self._groups if taken else ():
            self._near += group == group[at]
        self._near[at] = -np.inf

    def _rooms(self, needed: FloatArray) -> FloatArray:
        """(n_nodes,) part of what is left that each node takes, by its scarcest resource."""
        if needed.all():
            rooms = (self._spare / needed[:, None]).min(axis=0)
        else:
            wanted = needed > 0
            rooms = (self._spare[wanted] / needed[wanted, None]).min(axis=0)
            if not wanted[:-1].any():
                rooms = np.minimum(rooms, 1.0)
        return np.asarray(np.maximum(rooms, 0.0), dtype=np.float64)


def least_for_all(needed: FloatArray) -> FloatArray:
    """(n_resources + 1,) what a node has to offer to take everything, workers last."""
    least = needed * (1.0 - ROUNDING)
    least[-1] = math.ceil(needed[-1] - ROUNDING)
    return least


def best_of(merit: FloatArray, near: FloatArray, rank: IntArray | None) -> int:
    """Position of the node of least rank, nearest to the job, of most merit; of equals the first.

    Args:
        merit: (n_nodes,) what is chosen by; -inf where a node is out of the question, not for all of them.
        near: (n_nodes,) at how many levels each shares a group with executors of the job.
        rank: (n_nodes,) rank of each; None if all are alike.
    """
    open_to = merit > -np.inf
    if rank is not None:
        open_to &= rank == rank[open_to].min()
    open_to &= near == near[open_to].max()
    return int(np.argmax(np.where(open_to, merit, -np.inf)))


def nodes_for_all(rooms: FloatArray) -> int:
    """Number of nodes, the roomiest first, that take everything."""
    return int(np.searchsorted(np.cumsum(np.sort(rooms)[::-1]), 1.0 - ROUNDING)) + 1


def rooms_of(free: FloatArray, needed: FloatArray) -> FloatArray:
    """(n_nodes,) the least share of a needed resource that each node has."""
    wanted: list[int] = np.flatnonzero(needed[:-1] > 0).tolist()
    if not wanted:
        return np.ones(len(free))
    return np.asarray(np.maximum((free[:, wanted] / needed[wanted]).min(axis=1), 0.0), dtype=np.float64)
