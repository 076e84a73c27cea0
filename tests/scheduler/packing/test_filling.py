"""A node is filled up to its limits, and like one that was alike."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.packing.filling import Filler
from scheduler.packing.job import WorkerRules

RULES = (
    WorkerRules(heap_mb=300.0),
    WorkerRules(heap_mb=300.0, executors=3),
    WorkerRules(heap_mb=300.0, one_component=True),
    WorkerRules(heap_mb=300.0, apart=frozenset({(0, 1), (1, 0)})),
)


@pytest.mark.parametrize("seed", range(40))
def test_nodes_are_filled_within_all_limits_and_alike_ones_alike(seed):
    rng = np.random.default_rng(seed)
    n_components = int(rng.integers(1, 5))
    demand = rng.choice([0.0, 5.0, 10.0], (n_components, 2))
    heap_mb = rng.choice([50.0, 100.0, 150.0], n_components)
    rules = RULES[seed % len(RULES)]
    needs = np.column_stack([demand, heap_mb / rules.heap_mb]).tolist()
    filler = Filler(needs, heap_mb.tolist(), rules)
    groups = [list(range(0, n_components, 2)), list(range(1, n_components, 2))]
    for _ in range(12):
        rest = rng.integers(0, 6, n_components).tolist()
        room, slots = rng.choice([20.0, 40.0, 80.0], 2).tolist(), int(rng.integers(1, 4))
        greedy = bool(rng.integers(0, 2))
        found = filler.fill(rest, groups, room, slots, greedy=greedy)
        anew = Filler(needs, heap_mb.tolist(), rules).fill(rest, groups, room, slots, greedy=greedy)
        assert found == anew
        count = np.array(found, dtype=np.int64).reshape(-1, n_components)
        assert len(count) <= slots
        assert (count.sum(axis=0) <= rest).all()
        assert (count.sum(axis=0) @ demand <= np.array(room) + 1e-6).all()
        assert (count @ heap_mb <= rules.heap_mb).all()
        assert (count.sum(axis=1) <= rules.executors).all()
        for worker in count:
            kinds = set(np.flatnonzero(worker).tolist())
            assert all(rules.allow(kind, kinds - {kind}) for kind in kinds)
