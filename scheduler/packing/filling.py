"""One node is filled with executors of one job, in workers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.packing.job import WorkerRules
    from scheduler.packing.shared import Shared

# Amounts are sums of many demands: what is left over by rounding must not keep an executor out.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Piece:
    """What is asked of one node, as plain lists: they are short and read very often.

    Attributes:
        rest: (n_components,) executors that may still be placed here.
        demand: (n_components, n_resources) what one of them needs.
        heap_mb: (n_components,) heap of one of them, MB.
        share: (n_components,) part of a worker that one of them takes at least.
        rules: What one worker may hold.
        shared: Memory that components share; None if they share none.
        here: Pieces of it that are on the node already.
    """

    rest: Sequence[int]
    demand: Sequence[Sequence[float]]
    heap_mb: Sequence[float]
    share: Sequence[float]
    rules: WorkerRules
    shared: Shared | None = None
    here: frozenset[int] = frozenset()


def fill_node(
    piece: Piece, groups: Sequence[Sequence[int]], room: Sequence[float], slots: int, *, greedy: bool
) -> list[dict[int, int]]:
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
        Executors by component, per worker.
    """
    left = list(room)
    workers: list[_Open] = []
    sharing = None if piece.shared is None else _Sharing(piece, piece.shared, left)
    for group in groups:
        members = [component for component in group if piece.rest[component]]
        if not members:
            continue
        part = _portion(piece, members, left, slots, workers)
        placed = _into_workers(piece, part, slots, workers, sharing)
        for component, count in placed.items() if sharing is None else ():
            for resource, amount in enumerate(piece.demand[component]):
                left[resource] -= count * amount
        if not greedy and any(placed.get(component, 0) < piece.rest[component] for component in members):
            break
    return [worker.count for worker in workers if worker.count]


def _portion(
    piece: Piece, members: Sequence[int], room: Sequence[float], slots: int, workers: Sequence[_Open]
) -> dict[int, int]:
    """Return as many executors of some components as fit on a node, in proportion to what is left of them."""
    # Room in workers is a resource too; how far executors fill them shows when they are put there.
    open_workers = slots - len(workers) + sum(1.0 - worker.full(piece) for worker in workers)
    rooms = [*room, open_workers]
    needs = {component: [*piece.demand[component], piece.share[component]] for component in members}
    fraction = 1.0
    for resource, available in enumerate(rooms):
        needed = sum(piece.rest[component] * needs[component][resource] for component in members)
        if needed > 0 and needed > available + _ROUNDING * max(needed, 1.0):
            fraction = min(fraction, max(available, 0.0) / needed)
    if fraction == 1.0:
        return {component: piece.rest[component] for component in members}
    wanted = {component: piece.rest[component] * fraction for component in members}
    part = {component: math.floor(amount + _ROUNDING) for component, amount in wanted.items()}
    left = [
        available - sum(part[component] * needs[component][resource] for component in members)
        for resource, available in enumerate(rooms)
    ]
    # Rounding down leaves room for single ones: those first of which most was cut off.
    order = sorted(members, key=lambda each: (part[each] - wanted[each], each))
    while order:
        order = [
            component
            for component in order
            if part[component] < piece.rest[component]
            and all(
                need <= 0 or need <= available + _ROUNDING
                for need, available in zip(needs[component], left, strict=True)
            )
        ]
        for component in order[:1]:
            part[component] += 1
            left = [available - need for need, available in zip(needs[component], left, strict=True)]
            order = [*order[1:], component]
    return part


class _Open:
    """A worker that takes more executors."""

    def __init__(self) -> None:
        self.count: dict[int, int] = {}
        self.heap_mb = 0.0
        self.executors = 0
        self.pieces: set[int] = set()

    def takes(self, piece: Piece, component: int) -> bool:
        rules = piece.rules
        return not self.executors or (
            self.heap_mb + self._heap(piece, component) <= rules.heap_mb * (1 + _ROUNDING)
            and self.executors < rules.executors
            and rules.allow(component, self.count)
        )

    def add(self, piece: Piece, component: int) -> None:
        self.count[component] = self.count.get(component, 0) + 1
        self.heap_mb += self._heap(piece, component)
        self.executors += 1
        if piece.shared is not None:
            self.pieces.update(piece.shared.of_component[component])

    def _heap(self, piece: Piece, component: int) -> float:
        """Heap that another executor takes, with what it shares with none of the worker yet."""
        heap_mb = piece.heap_mb[component]
        if piece.shared is not None:
            new = (each for each in piece.shared.of_component[component] if each not in self.pieces)
            heap_mb += sum(float(piece.shared.heap_mb[each]) for each in new)
        return heap_mb

    def full(self, piece: Piece) -> float:
        """Part of the worker that is taken."""
        if piece.rules.one_component:
            return 1.0
        return min(max(self.heap_mb / piece.rules.heap_mb, self.executors / piece.rules.executors), 1.0)


class _Sharing:
    """What is left of a node while executors that share memory come there one by one."""

    def __init__(self, piece: Piece, shared: Shared, left: list[float]) -> None:
        self._piece = piece
        self._shared = shared
        self._here = set(piece.here)
        self._left = left

    def take(self, component: int, worker: _Open) -> bool:
        """Take what an executor needs if the node has it, with the memory that is not there yet."""
        amounts = list(self._piece.demand[component])
        pieces, shared = self._shared.of_component[component], self._shared
        amounts[shared.resource] += sum(
            float(shared.worker_mb[each]) for each in pieces if each not in worker.pieces
        ) + sum(float(shared.node_mb[each]) for each in pieces if each not in self._here)
        if any(
            need > available + _ROUNDING * max(need, 1.0)
            for need, available in zip(amounts, self._left, strict=True)
            if need > 0
        ):
            return False
        for resource, need in enumerate(amounts):
            self._left[resource] -= need
        self._here.update(pieces)
        return True


def _into_workers(
    piece: Piece, part: dict[int, int], slots: int, workers: list[_Open], sharing: _Sharing | None
) -> dict[int, int]:
    """Put executors into workers, evenly mixed, each into the first that takes it.

    Args:
        piece: What may be placed.
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
        if at >= len(workers) or not workers[at].takes(piece, component):
            at = first.get(component, 0)
            while at < len(workers) and not workers[at].takes(piece, component):
                at += 1
            first[component] = at
            if at == len(workers) >= slots:
                continue
        worker = workers[at] if at < len(workers) else _Open()
        if sharing is not None and not sharing.take(component, worker):
            continue
        if at == len(workers):
            workers.append(worker)
        worker.add(piece, component)
        placed[component] = placed.get(component, 0) + 1
    return placed
