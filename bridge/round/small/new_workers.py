"""Executors that come to a host are put into new workers, those together that exchange tuples."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.filling import Filler
from scheduler.packing.grouping import group_components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.workers import WorkerNeeds


def pack_workers(
    needs: WorkerNeeds, executors: Sequence[int], slots: int, least: int = 1
) -> tuple[list[list[int]], list[int]]:
    """Put executors into as few workers as their rules allow, but not fewer than are wanted.

    Args:
        needs: What decides which executors share a worker.
        executors: The executors, ascending.
        slots: Most workers.
        least: Workers that are wanted, at most as many as slots and executors.

    Returns:
        The executors of each worker, and those for which there is none.
    """
    if not executors or not slots:
        return [], list(executors)
    if least == 1 and _together(needs, executors):
        return [list(executors)], []
    even = -(-len(executors) // least)
    capped = replace(needs.rules, executors=min(needs.rules.executors, even))
    for rules in (capped, needs.rules):
        share = rules.shares(needs.heap_mb)
        rest = np.bincount(needs.component[list(executors)], minlength=len(needs.heap_mb))
        filler = Filler(share[:, None].tolist(), needs.heap_mb.tolist(), rules)
        groups = group_components(needs.weight, (rest * share)[:, None])
        found = filler.fill(rest.tolist(), groups, (), slots, greedy=True)
        if sum(map(sum, found)) == len(executors):
            break
    waiting: dict[int, list[int]] = {}
    for executor in reversed(executors):
        waiting.setdefault(int(needs.component[executor]), []).append(executor)
    # In the order of groups: a worker that is split leaves those together that exchange tuples.
    order = [component for group in groups for component in group]
    workers = [
        [waiting[component].pop() for component in order for _ in range(count[component])] for count in found
    ]
    while len(workers) < least:
        largest = max(workers, key=len)
        workers.append(largest[(len(largest) + 1) // 2 :])
        del largest[(len(largest) + 1) // 2 :]
    return workers, sorted(executor for left in waiting.values() for executor in left)


def _together(needs: WorkerNeeds, executors: Sequence[int]) -> bool:
    """Whether one worker may hold all of some executors."""
    components = needs.component[list(executors)]
    kinds = set(components.tolist())
    return (
        len(executors) <= needs.rules.executors
        and float(needs.heap_mb[components].sum()) <= needs.rules.heap_mb
        and all(needs.rules.allow(each, kinds - {each}) for each in kinds)
    )
