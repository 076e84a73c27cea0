"""Candidates choose what a look at all nodes anew would choose."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.packing.candidates import Candidates

ROUNDING = 1e-9


def _anew(nodes, needed):
    """Position of the best node and whether it takes everything, by plain loops."""
    free, kept, slots, near, rank = nodes

    def takes_all(node):
        enough = all(
            left >= need * (1 - ROUNDING) for left, need in zip(free[node], needed[:-1], strict=True)
        )
        return enough and slots[node] >= np.ceil(needed[-1] - ROUNDING)

    def room(node):
        spare = free[node] - kept[node]
        parts = [left / need for left, need in zip(spare, needed[:-1], strict=True) if need > 0] or [1.0]
        return min(max(min(parts), 0.0), slots[node] / needed[-1])

    every = range(len(slots))
    whole = [node for node in every if takes_all(node)]
    best = min(
        whole or every,
        key=lambda node: (rank[node], -near[node], room(node) if whole else -room(node), node),
    )
    return best, bool(whole)


@pytest.mark.parametrize("seed", range(40))
def test_choice_is_that_of_a_look_at_all_nodes_anew(seed):
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(1, 12))
    # few different amounts, so that many nodes are alike
    free = rng.integers(-1, 4, (n_nodes, 2)) * 10.0
    kept = rng.choice([0.0, 2.0, 15.0], free.shape)
    slots = rng.integers(1, 4, n_nodes)
    groups = [np.sort(rng.integers(0, 3, n_nodes)), np.arange(n_nodes), np.zeros(n_nodes, dtype=np.int64)]
    rank = rng.integers(0, 2, n_nodes) if seed % 2 else np.zeros(n_nodes, dtype=np.int64)
    near = rng.integers(0, 2, n_nodes).astype(np.float64)
    candidates = Candidates(
        free, kept, slots, near=near.copy(), groups=groups, rank=rank if seed % 2 else None
    )
    left = list(range(n_nodes))
    while left:
        needed = np.array([*rng.choice([0.0, 15.0, 60.0], 2), float(rng.integers(1, 4))])
        parts = [each[left] for each in (free, kept, slots, near, rank)]
        wanted, whole = _anew(parts, needed)
        assert candidates.best(needed) == (left[wanted], whole)
        node = left.pop(wanted)
        taken = bool(rng.integers(0, 2))
        candidates.close(node, taken=taken)
        for group in groups if taken else ():
            near += group == group[node]


def test_nodes_without_any_room_are_found_out():
    none = np.zeros((2, 1))
    candidates = Candidates(none, none, np.array([1, 1]), near=np.zeros(2), groups=[], rank=None)
    assert not candidates.have_room(np.array([5.0, 1.0]))
    assert candidates.have_room(np.array([0.0, 1.0]))
