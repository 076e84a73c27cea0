"""Memory that components of a topology share, as the request describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.shared import Shared

if TYPE_CHECKING:
    from bridge.wire.messages import Topology


def shared_of(topology: Topology, resource: int) -> Shared | None:
    """Return the memory that a topology's components share; None if they share none.

    Args:
        topology: The topology.
        resource: Which resource of nodes memory is.
    """
    if not topology.shared_component or not topology.shared_piece or not topology.shared_mb:
        return None
    amounts = np.array(topology.shared_mb, dtype=np.float64).reshape(-1, 3)
    users = np.zeros((len(amounts), len(topology.component_names)), dtype=np.bool_)
    users[list(topology.shared_piece), list(topology.shared_component)] = True
    heap, beside, node = amounts.T
    return Shared(users, heap, heap + beside, node, resource)
