"""One node is filled with executors of one job, in workers."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

from scheduler.packing.open_workers import ROUNDING, Limits, OpenWorker, Sharing, into_workers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.packing.job import WorkerRules
    from scheduler.packing.shared import Shared

# Free slots of a node, and what is put there: executors by component.
_Deal = tuple[int, tuple[tuple[int, int], ...]]


class Filler:
    """Fills nodes with executors of a job.

    Args:
        needs: (n_components, n_resources + 1) what one executor needs, and last the part of a worker that it
            takes at least. Plain lists, as they are short and read very often.
        heap_mb: (n_components,) heap of one of them, MB.
        rules: What one worker may hold.
        shared: Memory that components share; None if they share none.
    """

    def __init__(
        self,
        needs: Sequence[Sequence[float]],
        heap_mb: Sequence[float],
        rules: WorkerRules,
        shared: Shared | None = None,
    ) -> None:
        self._needs = needs
        self._limits = Limits(heap_mb, rules, shared)
        # Nodes that are alike get the same again and again.
        self._dealt: dict[_Deal, tuple[tuple[OpenWorker, ...], dict[int, int]]] = {}

    def fill(
        self,
        rest: Sequence[int],
        groups: Sequence[Sequence[int]],
        room: Sequence[float],
        slots: int,
        *,
        greedy: bool,
        here: frozenset[int] = frozenset(),
    ) -> list[list[int]]:
        """Fill a node with groups of components, in their order.

        Of the first group that does not fit completely as much is taken as fits, in proportion to what is
        left of its components.

        Args:
            rest: (n_components,) executors that may still be placed here.
            groups: Components that are mixed with each other.
            room: (n_resources,) what the node offers.
            slots: Workers that it offers.
            greedy: Go on with the groups behind one that did not fit.
            here: Pieces of shared memory that are on the node already.

        Returns:
            Per worker (n_components,) its executors by component.
        """
        left = list(room)
        workers: list[OpenWorker] = []
        shared = self._limits.shared
        sharing = None if shared is None else Sharing(shared, self._needs, here, left)
        for group in groups:
            members = [component for component in group if rest[component]]
            if not members:
                continue
            # Room in workers is a resource too; how far executors fill them shows when they are put there.
            open_workers = slots - len(workers) + sum(1.0 - worker.full(self._limits) for worker in workers)
            part = _portion(rest, self._needs, members, [*left, open_workers])
            workers, placed = self._dealt_out(part, slots, workers, sharing)
            complete = True
            for component in members:
                count = placed.get(component, 0)
                complete = complete and count == rest[component]
                for resource in range(len(left)) if sharing is None else ():
                    left[resource] -= count * self._needs[component][resource]
            if not (greedy or complete):
                break
        return [worker.count for worker in workers if worker.executors]

    def _dealt_out(
        self, part: Mapping[int, int], slots: int, workers: list[OpenWorker], sharing: Sharing | None
    ) -> tuple[list[OpenWorker], dict[int, int]]:
        """Return workers with further executors, and how many these are; may change those that are given."""
        # What is on a node already matters where memory is shared.
        if workers or sharing is not None:
            return workers, into_workers(self._limits, part, slots, workers, sharing)
        key = slots, tuple(part.items())
        if key not in self._dealt:
            placed = into_workers(self._limits, part, slots, workers, None)
            self._dealt[key] = tuple(workers), placed
        known, placed = self._dealt[key]
        return [worker.copy() for worker in known], placed


def _portion(
    rest: Sequence[int], needs: Sequence[Sequence[float]], members: Sequence[int], rooms: Sequence[float]
) -> dict[int, int]:
    """Return as many executors of some components as fit on a node, in proportion to what is left of them.

    Args:
        rest: (n_components,) executors that may still be placed.
        needs: (n_components, n_resources + 1) what one of them needs, workers last.
        members: The components.
        rooms: (n_resources + 1,) what is left of the node, workers last.
    """
    fraction = 1.0
    for resource, available in enumerate(rooms):
        needed = 0.0
        for component in members:
            needed += rest[component] * needs[component][resource]
        if needed > 0 and needed > available + ROUNDING * max(needed, 1.0):
            fraction = min(fraction, max(available, 0.0) / needed)
    if fraction == 1.0:
        return {component: rest[component] for component in members}
    cut = {component: rest[component] * fraction for component in members}
    part = {component: math.floor(amount + ROUNDING) for component, amount in cut.items()}
    left = []
    for resource, available in enumerate(rooms):
        taken = 0.0
        for component in members:
            taken += part[component] * needs[component][resource]
        left.append(available - taken)
    # Rounding down leaves room for single ones: those first of which most was cut off.
    waiting = deque(sorted(members, key=lambda each: (part[each] - cut[each], each)))
    while waiting:
        component = waiting.popleft()
        # One that does not fit now never does again.
        if part[component] < rest[component] and _fits(needs[component], left):
            part[component] += 1
            left = [available - need for need, available in zip(needs[component], left, strict=True)]
            waiting.append(component)
    return part


def _fits(needs: Sequence[float], left: Sequence[float]) -> bool:
    for need, available in zip(needs, left, strict=True):
        if need > 0 and need > available + ROUNDING:
            return False
    return True
