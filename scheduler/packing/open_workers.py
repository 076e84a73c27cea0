"""Workers of one node while executors come into them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scheduler.packing.job import WorkerRules
    from scheduler.packing.shared import Shared

# Amounts are sums of many demands: what is left over by rounding must not keep an executor out.
ROUNDING = 1e-9


class Limits:
    """What workers may hold.

    Args:
        heap_mb: (n_components,) heap of one executor, MB.
        rules: What one worker may hold.
        shared: Memory that components share; None if they share none.
    """

    def __init__(self, heap_mb: Sequence[float], rules: WorkerRules, shared: Shared | None) -> None:
        self.heap_mb = heap_mb
        self.rules = rules
        self.shared = shared
        self.most_mb = rules.heap_mb * (1 + ROUNDING)
        self.any_kind = not (rules.one_component or rules.apart)


class OpenWorker:
    """A worker that takes more executors.

    Attributes:
        count: (n_components,) its executors.
        heap_mb: Their heap.
        executors: Their number.
        pieces: Pieces of shared memory that they use.
    """

    __slots__ = ("count", "executors", "heap_mb", "pieces")

    def __init__(
        self,
        count: list[int],
        heap_mb: float = 0.0,
        executors: int = 0,
        pieces: frozenset[int] = frozenset(),
    ) -> None:
        self.count = count
        self.heap_mb = heap_mb
        self.executors = executors
        self.pieces = pieces

    def copy(self) -> OpenWorker:
        """Return a worker of its own with the same content."""
        return OpenWorker(self.count[:], self.heap_mb, self.executors, self.pieces)

    def takes(self, limits: Limits, component: int) -> bool:
        """Whether another executor may join."""
        return not self.executors or (
            self.heap_mb + self._heap(limits, component) <= limits.most_mb
            and self.executors < limits.rules.executors
            and (limits.any_kind or limits.rules.allow(component, self._components()))
        )

    def add(self, limits: Limits, component: int) -> None:
        """Take an executor."""
        self.count[component] += 1
        self.heap_mb += self._heap(limits, component)
        self.executors += 1
        if limits.shared is not None:
            self.pieces = self.pieces.union(limits.shared.of_component[component])

    def full(self, limits: Limits) -> float:
        """Part of the worker that is taken."""
        rules = limits.rules
        if rules.one_component:
            return 1.0
        return min(max(self.heap_mb / rules.heap_mb, self.executors / rules.executors), 1.0)

    def _heap(self, limits: Limits, component: int) -> float:
        """Heap that another executor takes, with what it shares with none of the worker yet."""
        heap_mb = limits.heap_mb[component]
        if limits.shared is not None:
            new = (each for each in limits.shared.of_component[component] if each not in self.pieces)
            heap_mb += sum(float(limits.shared.heap_mb[each]) for each in new)
        return heap_mb

    def _components(self) -> list[int]:
        return [component for component, count in enumerate(self.count) if count]


class Sharing:
    """What is left of a node while executors that share memory come there one by one.

    Args:
        shared: The memory that they share.
        needs: (n_components, n_resources + 1) what one executor needs, the last of which is not of the node.
        here: Pieces that are on the node already.
        left: (n_resources,) what the node offers; what executors take is taken from it.
    """

    def __init__(
        self, shared: Shared, needs: Sequence[Sequence[float]], here: frozenset[int], left: list[float]
    ) -> None:
        self._shared = shared
        self._needs = needs
        self._here = set(here)
        self._left = left

    def take(self, component: int, worker: OpenWorker) -> bool:
        """Take what an executor needs if the node has it, with the memory that is not there yet."""
        amounts = list(self._needs[component][:-1])
        pieces, shared = self._shared.of_component[component], self._shared
        amounts[shared.resource] += sum(
            float(shared.worker_mb[each]) for each in pieces if each not in worker.pieces
        ) + sum(float(shared.node_mb[each]) for each in pieces if each not in self._here)
        if any(
            need > available + ROUNDING * max(need, 1.0)
            for need, available in zip(amounts, self._left, strict=True)
            if need > 0
        ):
            return False
        for resource, need in enumerate(amounts):
            self._left[resource] -= need
        self._here.update(pieces)
        return True


def into_workers(
    limits: Limits, part: Mapping[int, int], slots: int, workers: list[OpenWorker], sharing: Sharing | None
) -> dict[int, int]:
    """Put executors into workers, evenly mixed, each into the first that takes it.

    Args:
        limits: What workers may hold.
        part: Executors by component.
        slots: Most workers.
        workers: Open workers; gets new ones.
        sharing: What is left of the node, if executors share memory; what is taken is taken from it.

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
            if at == len(workers) >= slots:
                continue
        worker = workers[at] if at < len(workers) else OpenWorker([0] * len(limits.heap_mb))
        if sharing is not None and not sharing.take(component, worker):
            continue
        if at == len(workers):
            workers.append(worker)
        worker.add(limits, component)
        placed[component] = placed.get(component, 0) + 1
    return placed
