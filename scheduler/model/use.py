"""Nodes in use: those with at least one operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


def nodes_in_use(placements: IntArray, n_nodes: int) -> BoolArray:
    """Return (n_nodes,) or, of placements as columns, (n_nodes, n_placements) which nodes are in use.

    Args:
        placements: (n_ops,) or (n_ops, n_placements); operators may be `UNPLACED`.
        n_nodes: Number of nodes.
    """
    # what is placed nowhere marks a row that is left out
    used = np.zeros((n_nodes + 1, *placements.shape[1:]), dtype=np.bool_)
    np.put_along_axis(used, np.where(placements < 0, n_nodes, placements), values=True, axis=0)
    return used[:n_nodes]


def use_changes(charges: FloatArray, placement: IntArray, first: int, last: int) -> FloatArray:
    """Return (last - first, n_nodes) how a sum of charges changes if one operator moves to a node.

    Args:
        charges: (n_nodes,) of nodes in use.
        placement: (n_ops,) node of each operator.
        first: First operator.
        last: The one after the last.
    """
    count = np.bincount(placement, minlength=len(charges))
    here = placement[first:last]
    begun, ended = np.where(count == 0, charges, 0.0), np.where(count == 1, charges, 0.0)
    changes: FloatArray = begun - ended[here, None]
    changes[np.arange(len(here)), here] = 0.0
    return changes
