"""Memory that components share: it is there once in a worker or on a node, however many executors use it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Shared:
    """Pieces of memory that components of one job share, as Storm's `SharedMemory` has them.

    Attributes:
        users: (n_pieces, n_components) which components use each piece.
        heap_mb: (n_pieces,) its part in the heap of each worker with a user, MB.
        worker_mb: (n_pieces,) memory that it takes in each worker with a user, heap included, MB.
        node_mb: (n_pieces,) memory that it takes once on each node with a user, MB.
        resource: Which resource of nodes memory is.
    """

    users: BoolArray
    heap_mb: FloatArray
    worker_mb: FloatArray
    node_mb: FloatArray
    resource: int

    @cached_property
    def of_component(self) -> tuple[tuple[int, ...], ...]:
        """The pieces that each component uses."""
        return tuple(tuple(np.flatnonzero(column).tolist()) for column in self.users.T)

    @cached_property
    def alone(self) -> FloatArray:
        """(n_components,) memory that the pieces of each component take where it is by itself, MB."""
        return np.asarray((self.worker_mb + self.node_mb) @ self.users, dtype=np.float64)

    def used(self, count: IntArray) -> frozenset[int]:
        """Return the pieces that executors use.

        Args:
            count: (n_components,) the executors.
        """
        return frozenset(np.flatnonzero(self._used(count)).tolist())

    def in_worker(self, count: IntArray) -> float:
        """Memory that all pieces take in a worker, MB.

        Args:
            count: (n_components,) executors of the worker.
        """
        return float(self._used(count) @ self.worker_mb)

    def on_node(self, count: IntArray) -> float:
        """Memory that all pieces take on a node beside its workers, MB.

        Args:
            count: (n_components,) executors of all its workers.
        """
        return float(self._used(count) @ self.node_mb)

    def needed(self, count: IntArray) -> float:
        """Least memory that all pieces take, MB, wherever the executors are.

        Args:
            count: (n_components,) executors.
        """
        return self.in_worker(count) + self.on_node(count)

    def usage(self, component: IntArray, node: IntArray, port: IntArray, n_nodes: int) -> FloatArray:
        """(n_nodes,) memory that all pieces take on each node, MB.

        Args:
            component: (n_executors,) component of each executor.
            node: (n_executors,) its node.
            port: (n_executors,) what sets its worker apart from others of the node.
            n_nodes: Number of nodes.
        """
        total = np.zeros(n_nodes)
        spots, worker = np.unique(np.stack([node, port]), axis=1, return_inverse=True)
        in_workers, on_nodes = (
            np.zeros((size, self.users.shape[1]), dtype=np.bool_) for size in (spots.shape[1], n_nodes)
        )
        in_workers[worker.ravel(), component] = True
        on_nodes[node, component] = True
        np.add.at(total, spots[0], _used(in_workers, self.users) @ self.worker_mb)
        return np.asarray(total + _used(on_nodes, self.users) @ self.node_mb, dtype=np.float64)

    def _used(self, count: IntArray) -> BoolArray:
        return np.asarray((self.users & (count > 0)).any(axis=1), dtype=np.bool_)


def _used(held: BoolArray, users: BoolArray) -> BoolArray:
    """(n_groups, n_pieces) which pieces groups of executors use, from the components of each group."""
    return np.asarray(held.astype(np.int64) @ users.T.astype(np.int64) > 0, dtype=np.bool_)
