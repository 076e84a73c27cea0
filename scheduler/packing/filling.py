"""One node is filled with executors of one job, in workers."""

from __future__ import annotations

import math
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.packing.job import WorkerRules

# Free slots of a node, and what is put there: executors by component.
_Deal = tuple[int, tuple[tuple[int, int], ...]]

# Amounts are sums of many demands: what is left over by rounding must not keep an executor out.
_ROUNDING = 1e-9


class Filler:
    """Fills nodes with executors of a job.

    Args:
        needs: (n_components, n_resources + 1) what one executor needs, and last the part of a worker that it
            takes at least. Plain lists, as they are short and read very often.
        heap_mb: (n_components,) heap of one of them, MB.
        rules: What one worker may hold.
    """

    def __init__(
        self, needs: Sequence[Sequence[float]], heap_mb: Sequence[float], rules: WorkerRules
    ) -> None:
        self._needs = needs
        self._limits = _Limits(heap_mb, rules)
        # Nodes that are alike get the same again and again.
        self._dealt: dict[_Deal, tuple[tuple[_Open, ...], dict[int, int]]] = {}

    def fill(
        self,
        rest: Sequence[int],
        groups: Sequence[Sequence[int]],
        room: Sequence[float],
        slots: int,
        *,
        greedy: bool,
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

        Returns:
            Per worker (n_components,) its executors by component.
        """
        left = list(room)
        workers: list[_Open] = []
        for group in groups:
            members = [component for component in group if rest[component]]
            if not members:
                continue
            # Room in workers is a resource too; how far executors fill them shows when they are put there.
            open_workers = slots - len(workers) + sum(1.0 - worker.full(self._limits) for worker in workers)
            part = _portion(rest, self._needs, members, [*left, open_workers])
            workers, placed = self._dealt_out(part, slots, workers)
            complete = True
            for component in members:
                count = placed.get(component, 0)
                complete = complete and count == rest[component]
                for resource in range(len(left)):
                    left[resource] -= count * self._needs[component][resource]
            if not (greedy or complete):
                break
        return [worker.count for worker in workers if worker.executors]

    def _dealt_out(
        self, part: Mapping[int, int], slots: int, workers: list[_Open]
    ) -> tuple[list[_Open], dict[int, int]]:
        """Return workers with further executors, and how many these are; may change those that are given."""
        if workers:
            placed = _into_workers(self._limits, len(self._needs), part, slots, workers)
            return workers, placed
        key = slots, tuple(part.items())
        if key not in self._dealt:
            placed = _into_workers(self._limits, len(self._needs), part, slots, workers)
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
        if needed > 0 and needed > available + _ROUNDING * max(needed, 1.0):
            fraction = min(fraction, max(available, 0.0) / needed)
    if fraction == 1.0:
        return {component: rest[component] for component in members}
    cut = {component: rest[component] * fraction for component in members}
    part = {component: math.floor(amount + _ROUNDING) for component, amount in cut.items()}
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
        if need > 0 and need > available + _ROUNDING:
            return False
    return True


class _Limits:
    """What workers may hold: the rules, and the heap of one executor of each component, MB."""

    def __init__(self, heap_mb: Sequence[float], rules: WorkerRules) -> None:
        self.heap_mb = heap_mb
        self.rules = rules
        self.most_mb = rules.heap_mb * (1 + _ROUNDING)
        self.any_kind = not (rules.one_component or rules.apart)


class _Open:
    """A worker that takes more executors."""

    __slots__ = ("count", "executors", "heap_mb")

    def __init__(self, count: list[int], heap_mb: float = 0.0, executors: int = 0) -> None:
        self.count = count
        self.heap_mb = heap_mb
        self.executors = executors

    def copy(self) -> _Open:
        return _Open(self.count[:], self.heap_mb, self.executors)

    def takes(self, limits: _Limits, component: int) -> bool:
        return not self.executors or (
            self.heap_mb + limits.heap_mb[component] <= limits.most_mb
            and self.executors < limits.rules.executors
            and (limits.any_kind or limits.rules.allow(component, self._components()))
        )

    def _components(self) -> list[int]:
        return [component for component, count in enumerate(self.count) if count]

    def add(self, limits: _Limits, component: int) -> None:
        self.count[component] += 1
        self.heap_mb += limits.heap_mb[component]
        self.executors += 1

    def full(self, limits: _Limits) -> float:
        """Part of the worker that is taken."""
        rules = limits.rules
        if rules.one_component:
            return 1.0
        return min(max(self.heap_mb / rules.heap_mb, self.executors / rules.executors), 1.0)


def _into_workers(
    limits: _Limits, n_components: int, part: Mapping[int, int], slots: int, workers: list[_Open]
) -> dict[int, int]:
    """Put executors into workers, evenly mixed, each into the first that takes it.

    Args:
        limits: What workers may hold.
        n_components: Number of components.
        part: Executors by component.
        slots: Most workers; executors that find none are left out.
        workers: Open workers; gets new ones.

    Returns:
        Executors that found a worker, by component.
    """
    mixed = sorted(
        ((place + 0.5) / count, component) for component, count in part.items() for place in range(count)
    )
    placed: dict[int, int] = {}
    # The first worker that may take another executor of a component: those before it never do again.
    first: dict[int, int] = {}
    at = max(len(workers) - 1, 0)
    for _, component in mixed:
        if at >= len(workers) or not workers[at].takes(limits, component):
            at = first.get(component, 0)
            while at < len(workers) and not workers[at].takes(limits, component):
                at += 1
            first[component] = at
            if at == len(workers):
                if len(workers) >= slots:
                    continue
                workers.append(_Open([0] * n_components))
        workers[at].add(limits, component)
        placed[component] = placed.get(component, 0) + 1
    return placed
