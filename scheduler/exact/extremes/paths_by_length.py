"""The paths of the application, those first that may take longest; of several graphs, one path through each.

The sweep takes, per node, the most over the places of the class behind: its operators are not placed, as they
are in `scheduler.model.levels`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.exact.form.class_form import ROUNDING, ClassForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scheduler.base.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class _Partial:
    """A path from a source on.

    Attributes:
        classes: On the way.
        until_ms: (n_nodes,) what it takes at most if its last operator is on each node, that one included.
    """

    classes: tuple[int, ...]
    until_ms: FloatArray


def paths_by_length(form: ClassForm) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield the paths from sources to sinks in descending order of the most that they can take.

    Of several graphs a path leads through one after the other, at no delay between them: what it takes is the
    sum of a path of each.

    Operators may be anywhere they are allowed, capacities left out. Members of a class make equal paths:
    the first of each stands for all. No path is made before it is asked for.

    Complexity: O(n_edges x n_nodes^2), and O(n_nodes^2) per extension of a path.

    Args:
        form: A problem with response time in its objective.

    Yields:
        The operators of a path, and the longest that it can take in ms.
    """
    onward, order = _onward(form)
    graph = form.graphs.member
    execution = np.where(form.slots > 0, form.execution_ms, -np.inf)
    behind = _behind(form, onward, order, execution)
    inner = {following for each in onward.values() for following in each}
    # the lengths that a heap sorts by are those of the longest whole paths to come, but for rounding
    found = [
        _entry(_Partial((c,), execution[c]), behind, np.inf) for c in range(form.n_classes) if c not in inner
    ]
    heapq.heapify(found)
    while found:
        negative, _, partial = heapq.heappop(found)
        ahead = onward[partial.classes[-1]]
        if not ahead:
            yield tuple(int(form.classes[c][0]) for c in partial.classes), -negative
        reach = (partial.until_ms[:, None] + form.delay_ms).max(axis=0)
        for c in ahead:
            next_graph = graph[c] != graph[partial.classes[-1]]
            begin = partial.until_ms.max() if next_graph else reach
            longer = _Partial((*partial.classes, c), begin + execution[c])
            heapq.heappush(found, _entry(longer, behind, -negative))


def _onward(form: ClassForm) -> tuple[dict[int, list[int]], list[int]]:
    """Return what follows each class, from the sinks of a graph on the sources of the next, and an order."""
    onward: dict[int, list[int]] = {c: [] for c in range(form.n_classes)}
    for edge in form.edges:
        if edge.critical:
            onward[edge.source].append(edge.target)
    graph = form.graphs.member
    order = sorted(form.order, key=lambda c: int(graph[c]))
    inner = {following for each in onward.values() for following in each}
    sinks = [c for c in order if not onward[c]]
    for c in sinks:
        onward[c] = [d for d in order if graph[d] == graph[c] + 1 and d not in inner]
    return onward, order


def _behind(
    form: ClassForm, onward: Mapping[int, Sequence[int]], order: Sequence[int], execution: FloatArray
) -> FloatArray:
    """Return (n_classes, n_nodes) the longest way on from each class on each node, its own time excluded."""
    behind, graph = np.zeros(execution.shape), form.graphs.member
    for c in reversed(order):
        for following in onward[c]:
            way = execution[following] + behind[following]
            reach = way.max() if graph[following] != graph[c] else (form.delay_ms + way).max(axis=1)
            behind[c] = np.maximum(behind[c], reach)
    return behind


def _entry(partial: _Partial, behind: FloatArray, most_ms: float) -> tuple[float, tuple[int, ...], _Partial]:
    """Return an entry of the heap; no two have the same classes, so partial paths are never compared.

    What differs by rounding only from `most_ms`, that of the path one operator shorter, counts as equal.
    Otherwise, among many paths of one length, a sum that is off in its last bit would put all shorter ones
    before the first whole one.
    """
    longest = float((partial.until_ms + behind[partial.classes[-1]]).max())
    if longest >= most_ms * (1.0 - ROUNDING * len(behind)):
        longest = most_ms
    return -longest, partial.classes, partial
