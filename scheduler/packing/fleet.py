"""The nodes that jobs are packed onto, the groups that these form, and what is left of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Level:
    """Groups of nodes, such as racks: two nodes of one group are closer than two of different groups.

    Attributes:
        name: What a group is called.
        group: (n_nodes,) group of each node, from 0 on.
        step: What it costs to leave a group, where `far` does not say it.
        far: (n_groups, n_groups) what it costs to go from group to group, 0 on the diagonal; None if `step`
            is the same for all.
    """

    name: str
    group: IntArray
    step: float = 1.0
    far: FloatArray | None = None

    @cached_property
    def n_groups(self) -> int:
        """Number of groups."""
        return int(self.group.max(initial=-1)) + 1

    @cached_property
    def single(self) -> bool:
        """Whether each group is one node."""
        return self.n_groups == len(self.group)

    @cached_property
    def members(self) -> tuple[IntArray, ...]:
        """The nodes of each group, ascending."""
        order = np.argsort(self.group, kind="stable")
        ends = np.cumsum(np.bincount(self.group, minlength=self.n_groups))
        return tuple(np.split(order, ends[:-1])) if self.n_groups else ()


@dataclass(frozen=True, eq=False)
class Fleet:
    """Nodes with their capacities.

    Attributes:
        capacity: (n_nodes, n_resources) what each node offers in all, finite and >= 0.
        worker_step: What it costs to leave a worker.
        levels: Groups of nodes, the smallest first; each group lies within one of the next level. The first
            level may be the nodes themselves.
    """

    capacity: FloatArray
    worker_step: float
    levels: tuple[Level, ...]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.capacity.shape[0])

    @cached_property
    def usual(self) -> FloatArray:
        """(n_resources,) capacity of a usual node: the medians."""
        if not self.n_nodes:
            return np.zeros(self.capacity.shape[1])
        return np.asarray(np.median(self.capacity, axis=0), dtype=np.float64)


class Ledger:
    """What is left of the nodes while jobs are packed.

    Args:
        free: (n_nodes, n_resources) what is left of each node; below 0 where more runs than it offers.
        slots: (n_nodes,) free worker slots.

    Attributes:
        free: (n_nodes, n_resources) what is left now.
        slots: (n_nodes,) free worker slots now.
    """

    def __init__(self, free: FloatArray, slots: IntArray) -> None:
        self.free = np.array(free, dtype=np.float64)
        self.slots = np.array(slots, dtype=np.int64)

    def take(self, node: int, amounts: FloatArray, workers: int) -> None:
        """Take resources and slots of a node."""
        self.free[node] -= amounts
        self.slots[node] -= workers

    def copy(self) -> Ledger:
        """Return a ledger of its own with the same content."""
        return Ledger(self.free, self.slots)
