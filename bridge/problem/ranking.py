"""The order in which topologies are served, and which of them give way to which.

Where users have guarantees (`resource.aware.scheduler.user.pools`), the order is that of Storm's
resource-aware scheduler (DefaultSchedulingPriorityStrategy of Storm 2.8.3): all topologies are handed out
anew in thought, the next one is always that of the user who has least beyond their guarantee, as a part of
what is left of the cluster. So users below their guarantees come before all others, and priorities count
among the topologies of a user. Without guarantees users do not count, and priorities are those of the whole
cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bridge.wishes.wishes import by_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.wire.messages import PlanRequest, Topology
    from bridge.wishes.cluster_settings import ClusterSettings
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True)
class Ranking:
    """Who comes first.

    Attributes:
        order: Positions of topologies in the request, the first one first.
        within: Topologies that their users' guarantees cover, at this place in the order.
        owners: User of each topology, by position; empty where it is not known.
        priorities: Priority of each topology, by position; lower ones come first.
    """

    order: tuple[int, ...]
    within: frozenset[int]
    owners: tuple[str, ...]
    priorities: tuple[int, ...]

    @cached_property
    def place(self) -> dict[int, int]:
        """Place of each topology in the order."""
        return {index: place for place, index in enumerate(self.order)}

    def gives_way(self, index: int, to: int) -> bool:
        """Whether a topology may be evicted for another one.

        What a guarantee covers gives way to nothing but the same user's topologies of higher priority, and
        what no guarantee covers gives way to all that one covers. Otherwise priority decides; nothing gives
        way to an equal.

        Args:
            index: Position of the topology that would be evicted.
            to: Position of the one that needs room.
        """
        if self.place[index] <= self.place[to]:
            return False
        if (index in self.within) != (to in self.within):
            return to in self.within
        if index in self.within and self.owners[index] != self.owners[to]:
            return False
        return self.priorities[index] > self.priorities[to]


def rank(request: PlanRequest, wishes: Sequence[Wishes], cluster: ClusterSettings) -> Ranking:
    """Put topologies into the order in which they are served.

    Args:
        request: The round.
        wishes: What each topology asks for.
        cluster: What users are guaranteed.
    """
    topologies = request.topologies
    order = by_rank(topologies, wishes)
    within: list[int] = []
    if cluster.guarantees:
        order = _by_guarantees(request, order, cluster, within)
    return Ranking(
        tuple(order),
        frozenset(within),
        tuple(topology.owner or "" for topology in topologies),
        tuple(each.storm.priority for each in wishes),
    )


def _by_guarantees(
    request: PlanRequest, by_priority: Sequence[int], cluster: ClusterSettings, within: list[int]
) -> list[int]:
    """Return the order; topologies that a guarantee covers are added to `within`."""
    waiting: dict[str, list[int]] = {}
    for index in reversed(by_priority):
        waiting.setdefault(request.topologies[index].owner or "", []).append(index)
    place = {index: each for each, index in enumerate(by_priority)}
    users = list(waiting)
    pools = [cluster.guarantees.get(user) for user in users]
    # (n_users, 2) CPU and memory that a user would have with his next topology, beyond his guarantee.
    beyond = np.array([(0.0, 0.0) if pool is None else (-pool.cpu, -pool.memory) for pool in pools])
    beyond += [_demand(request.topologies[waiting[user][-1]]) for user in users]
    left = np.sum([_amounts(each.cpu_percent, each.memory_mb) for each in request.supervisors], axis=0)
    done = np.zeros(len(users), dtype=np.bool_)
    order: list[int] = []
    while not done.all() and np.all(left > 0):
        score = np.where(done, np.inf, (beyond / left).max(axis=1))
        least = np.flatnonzero(score == score.min()).tolist()
        # Of equals the one whose topology comes first without guarantees.
        user = min(least, key=lambda each: place[waiting[users[each]][-1]])
        own = waiting[users[user]]
        index = own.pop()
        if score[user] <= 0:
            within.append(index)
        order.append(index)
        left = left - _demand(request.topologies[index])
        done[user] = not own
        if own:
            beyond[user] += _demand(request.topologies[own[-1]])
    # Where nothing is left no user has more than another.
    return [*order, *sorted((index for own in waiting.values() for index in own), key=place.__getitem__)]


def _demand(topology: Topology) -> FloatArray:
    """(2,) CPU and memory of all executors of a topology."""
    own = _amounts(topology.executor_cpu_percent, topology.executor_memory_mb)
    return own + _amounts(0.0, topology.shared_mb or 0.0)


def _amounts(cpu_percent: Sequence[float] | float, memory_mb: Sequence[float] | float) -> FloatArray:
    """(2,) sums of amounts that are sound."""
    sums = [np.maximum(np.nan_to_num(each), 0.0).sum() for each in (cpu_percent, memory_mb)]
    return np.array(sums, dtype=np.float64)
