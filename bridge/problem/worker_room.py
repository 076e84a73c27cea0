"""Worker slots as a resource: what executors take of them, and what hosts have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.network.cluster import UNLIMITED
from bridge.problem.assignment import executors_by_slot

if TYPE_CHECKING:
    from bridge.problem.occupancy import RoundState
    from bridge.problem.workers import WorkerNeeds
    from scheduler.base.arrays import FloatArray


def workers_name(needs: WorkerNeeds) -> str:
    """Name of the resource in problems in which slots can run out, with the constraint that takes them up.

    Args:
        needs: What decides which executors share a worker.
    """
    return "workers (incompatibleComponents)" if needs.rules.apart else "workers"


def worker_shares(state: RoundState, topology: int, needs: WorkerNeeds) -> FloatArray:
    """(n_executors,) part of a worker that each executor takes; those of one that runs take it at most.

    Args:
        state: The cluster so far.
        topology: Index of the topology.
        needs: What decides which executors share a worker.
    """
    share = np.array(needs.share)
    for executors in executors_by_slot(state.assignment(topology)).values():
        members = list(executors)
        share[members] /= max(float(share[members].sum()), 1.0)
    return share


def worker_room(state: RoundState, needs: WorkerNeeds, slots: FloatArray, overload: float) -> FloatArray:
    """(n_hosts,) workers that each host has room for; more where heap may be exceeded.

    Args:
        state: The cluster so far.
        needs: What decides which executors share a worker.
        slots: (n_hosts,) slots that are open to the topology.
        overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.
    """
    if needs.firm or np.isfinite(needs.per_worker) or state.limits == "strict":
        return slots
    return slots * (1.0 + overload) if state.limits == "soft" else np.full_like(slots, UNLIMITED)


def heap_stretches(state: RoundState, needs: WorkerNeeds) -> bool:
    """Whether heap limits the workers of a topology and may be exceeded."""
    return state.limits == "soft" and not needs.firm and bool(needs.loose.share.any())
