"""Groups of nodes between which the link penalty is low (paper 000, sections 5.1 and 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray

ATTEMPTS = 4
"""Clusterings from different seeds, of which the best counts."""
MOST_ITERATIONS = 100
"""Iterations of one clustering; it usually settles within ten."""


def between(penalty: FloatArray) -> FloatArray:
    """Return the penalty of every unordered pair, (n, n): the mean of both directions, 0 on the diagonal.

    Args:
        penalty: (n, n) delta, which may be asymmetric.
    """
    mean: FloatArray = (penalty + penalty.T) / 2.0
    np.fill_diagonal(mean, 0.0)
    return mean


def clusters(distance: FloatArray, count: int, random: np.random.Generator) -> IntArray:
    """Return the group of each of n entities, (n,), so that pairs within a group have little distance.

    k-means for entities of which only the distances are known: the centre of a group is the member with
    the least sum of distances to the others (a medoid). The first centres are drawn with a probability that
    grows with the square of the distance to the nearest centre so far. Of several clusterings
    the one with the least mean distance of pairs within groups counts. No group is empty.

    Complexity: O(n x count + sum of squared sizes of groups) per iteration, O(n^2) in memory.

    Args:
        distance: (n, n) symmetric, >= 0, diagonal 0.
        count: Number of groups, 1 to n.
        random: Draws the first centres.
    """
    found = [_settled(distance, _first_centres(distance, count, random)) for _ in range(ATTEMPTS)]
    return min(found, key=lambda group: _mean_within(distance, group))


def _first_centres(distance: FloatArray, count: int, random: np.random.Generator) -> IntArray:
    size = len(distance)
    centres = [int(random.integers(size))]
    nearest = distance[centres[0]].copy()
    for _ in range(count - 1):
        squares = nearest**2
        squares[centres] = 0.0
        total = squares.sum()
        if total > 0:
            centre = int(random.choice(size, p=squares / total))
        else:  # all others lie on a centre
            centre = int(np.setdiff1d(np.arange(size), centres)[0])
        centres.append(centre)
        np.minimum(nearest, distance[centre], out=nearest)
    return np.sort(np.array(centres))


def _settled(distance: FloatArray, centres: IntArray) -> IntArray:
    """Assign every entity to its nearest centre and recentre the groups until nothing changes."""
    for _ in range(MOST_ITERATIONS):
        group: IntArray = distance[:, centres].argmin(axis=1)
        group[centres] = np.arange(
            len(centres)
        )  # a centre whose distance to another one is 0 keeps its group
        moved = centres.copy()
        for k in range(len(centres)):
            members = np.flatnonzero(group == k)
            moved[k] = members[distance[np.ix_(members, members)].sum(axis=1).argmin()]
        if (moved == centres).all():
            break
        centres = moved
    return group


def _mean_within(distance: FloatArray, group: IntArray) -> float:
    same = group[:, None] == group
    pairs = same.sum() - len(group)
    return float(distance[same].sum() / pairs) if pairs else 0.0


def nested_sets(distance: FloatArray) -> tuple[IntArray, ...]:
    """Return sets of entities of which each contains others or is disjoint from them, smallest first.

    Pass by pass all sets, at first the single entities, are joined in pairs: first the two whose
    union has the least sum of distances over its pairs, then the next two of the rest, and so on; one
    without a partner waits for the next pass. So sizes double and the last set contains all.

    Complexity: O(n^2 log n) in time, O(n^2) in memory.

    Args:
        distance: (n, n) symmetric, >= 0.

    Returns:
        Ascending indices of each joined set (at least two entities; none for a single entity).
    """
    sets = [np.array([u]) for u in range(len(distance))]
    across = distance  # sum of distances over the pairs between two sets
    inside = np.zeros(len(distance))
    found: list[IntArray] = []
    while len(sets) > 1:
        union = inside[:, None] + inside + across
        pairs = _joined(union)
        inside = np.array([union[a, b] if b is not None else inside[a] for a, b in pairs])
        member = np.zeros((len(pairs), len(sets)))
        for row, (a, b) in enumerate(pairs):
            member[row, [a] if b is None else [a, b]] = 1.0
        across = member @ across @ member.T
        sets = [sets[a] if b is None else np.sort(np.concatenate([sets[a], sets[b]])) for a, b in pairs]
        found += [each for each, (_, b) in zip(sets, pairs, strict=True) if b is not None]
    return tuple(sorted(found, key=len))


def _joined(union: FloatArray) -> list[tuple[int, int | None]]:
    """Return disjoint pairs in the order of their sums, then the one that is left over, if any."""
    first, second = np.triu_indices(len(union), 1)
    order = np.argsort(union[first, second], kind="stable")
    free = set(range(len(union)))
    pairs: list[tuple[int, int | None]] = []
    for a, b in zip(first[order].tolist(), second[order].tolist(), strict=True):
        if a in free and b in free:
            free -= {a, b}
            pairs.append((a, b))
    return pairs + [(a, None) for a in free]
