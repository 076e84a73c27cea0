"""One node is filled with executors of one job, in workers."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.packing.job import WorkerRules

# Amounts are sums of many demands: what is left over by rounding must not keep an executor out.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Piece:
    """What is asked of one node, as plain lists: they are short and read very often.

    Attributes:
        rest: (n_components,) executors that may still be placed here.
        needs: (n_components, n_resources + 1) what one of them needs, and last the part of a worker that it
            takes at least.
        heap_mb: (n_components,) heap of one of them, MB.
        rules: What one worker may hold.
    """

    rest: Sequence[int]
    needs: Sequence[Sequence[float]]
    heap_mb: Sequence[float]
    rules: WorkerRules


def fill_node(
    piece: Piece, groups: Sequence[Sequence[int]], room: Sequence[float], slots: int, *, greedy: bool
) -> list[list[int]]:
    """Fill a node with groups of components, in their order.

    Of the first group that does not fit completely as much is taken as fits, in proportion to what is left of
    its components.

    Args:
        piece: What may be placed.
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
        members = [component for component in group if piece.rest[component]]
        if not members:
            continue
        # Room in workers is a resource too; how far executors fill them shows when they are put there.
        open_workers = slots - len(workers) + sum(1.0 - worker.full(piece) for worker in workers)
        part = _portion(piece, members, [*left, open_workers])
        placed = _into_workers(piece, part, slots, workers)
        for component, count in placed.items():
            for resource, amount in enumerate(piece.needs[component][:-1]):
                left[resource] -= count * amount
        if not greedy and any(placed.get(component, 0) < piece.rest[component] for component in members):
            break
    return [worker.count for worker in workers if worker.executors]


def _portion(piece: Piece, members: Sequence[int], rooms: Sequence[float]) -> dict[int, int]:
    """Return as many executors of some components as fit on a node, in proportion to what is left of them.

    Args:
        piece: What may be placed.
        members: The components.
        rooms: (n_resources + 1,) what is left of the node, workers last.
    """
    rest, needs = piece.rest, piece.needs
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


class _Open:
    """A worker that takes more executors."""

    __slots__ = ("count", "executors", "heap_mb")

    def __init__(self, n_components: int) -> None:
        self.count = [0] * n_components
        self.heap_mb = 0.0
        self.executors = 0

    def takes(self, piece: Piece, component: int) -> bool:
        rules = piece.rules
        return not self.executors or (
            self.heap_mb + piece.heap_mb[component] <= rules.heap_mb * (1 + _ROUNDING)
            and self.executors < rules.executors
            and (rules.any_kind or rules.allow(component, self.components()))
        )

    def components(self) -> list[int]:
        return [component for component, count in enumerate(self.count) if count]

    def add(self, piece: Piece, component: int) -> None:
        self.count[component] += 1
        self.heap_mb += piece.heap_mb[component]
        self.executors += 1

    def full(self, piece: Piece) -> float:
        """Part of the worker that is taken."""
        if piece.rules.one_component:
            return 1.0
        return min(max(self.heap_mb / piece.rules.heap_mb, self.executors / piece.rules.executors), 1.0)


def _into_workers(piece: Piece, part: dict[int, int], slots: int, workers: list[_Open]) -> dict[int, int]:
    """Put executors into workers, evenly mixed, each into the first that takes it.

    Args:
        piece: What may be placed.
        part: Executors by component.
        slots: Most workers.
        workers: Open workers; gets new ones.

    Returns:
        Executors that found a worker, by component.
    """
    mixed = sorted(
        ((place + 0.5) / count, component) for component, count in part.items() for place in range(count)
    )
    n_components = len(piece.rest)
    placed: dict[int, int] = {}
    # The first worker that may take another executor of a component: those before it never do again.
    first: dict[int, int] = {}
    at = max(len(workers) - 1, 0)
    for _, component in mixed:
        if at >= len(workers) or not workers[at].takes(piece, component):
            at = first.get(component, 0)
            while at < len(workers) and not workers[at].takes(piece, component):
                at += 1
            first[component] = at
            if at == len(workers):
                if len(workers) >= slots:
                    continue
                workers.append(_Open(n_components))
        workers[at].add(piece, component)
        placed[component] = placed.get(component, 0) + 1
    return placed
