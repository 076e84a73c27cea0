"""Components that should be mixed in the same workers and on the same nodes.

If components with e edges between them are mixed evenly over N groups of nodes, 1/N of the pairs of each edge
are together. So a part of the application is worth e / N, N being at least 1, and parts are merged as long as
the sum over all of them rises: agglomeration by gain, as in Newman, Fast algorithm for detecting community
structure in networks (2004), with sizes that are resources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray


def group_components(weight: FloatArray, size: FloatArray) -> list[list[int]]:
    """Group components, and put groups with edges between them next to each other.

    Args:
        weight: (n_components, n_components) weight of the edges between two components, symmetric.
        size: (n_components, n_levels) workers, nodes and so on that the executors of a component fill; a
            component with none at all is left out.

    Returns:
        The components of each group.
    """
    members = [[component] for component in range(len(size))]
    left = [component for component in range(len(size)) if size[component].any()]
    cross = np.array(weight, dtype=np.float64)
    inner = np.zeros(len(size))
    size = np.array(size, dtype=np.float64)
    while len(left) > 1:
        index = np.array(left)
        block = cross[np.ix_(index, index)]
        one, other = np.nonzero(np.triu(block))
        if not len(one):
            break
        a, b = index[one], index[other]
        merged = _worth(inner[a] + inner[b] + cross[a, b], size[a] + size[b])
        gain = merged - _worth(inner[a], size[a]) - _worth(inner[b], size[b])
        best = int(np.argmax(gain))
        if gain[best] <= 1e-12:
            break
        into, gone = int(a[best]), int(b[best])
        inner[into] += inner[gone] + cross[into, gone]
        size[into] += size[gone]
        cross[into] += cross[gone]
        cross[:, into] += cross[:, gone]
        cross[into, into] = 0.0
        cross[gone] = cross[:, gone] = 0.0
        members[into] += members[gone]
        left.remove(gone)
    return [members[group] for group in _chained(left, cross, size)]


def _worth(weight: FloatArray, size: FloatArray) -> FloatArray:
    return np.asarray((weight[:, None] / np.maximum(size, 1.0)).sum(axis=1), dtype=np.float64)


def _chained(groups: list[int], cross: FloatArray, size: FloatArray) -> list[int]:
    """Order groups: the largest first, then always the one with most edges to those before it."""
    order: list[int] = []
    left = list(groups)
    near = np.zeros(len(size))
    while left:
        following = max(left, key=lambda group: (near[group], size[group].max(), -group))
        order.append(following)
        left.remove(following)
        near += cross[following]
    return order
