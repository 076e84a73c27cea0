"""Response time as a table over the places of two classes, all other classes being fixed.

The values of a class are a single one, a row, a column or a table, which broadcast; for the sweeps of
`scheduler.model.levels` all would be tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm


def pair_response_times(form: ClassForm, base: IntArray, rows: int, columns: int | None) -> FloatArray:
    """Return R when one class is on the row's node and another on the column's.

    No path meets two members of one class, as their neighbours are the same and streams form no cycle. So
    R of any placement is the largest entry over the nodes that the two classes use.

    Complexity: O(n_edges x n_nodes^2).

    Args:
        form: The problem.
        base: (n_classes, n_nodes) counts of the fixed classes, all members of a class on one node.
        rows: Class whose node is the row.
        columns: Class whose node is the column; None if there is none, and all columns are equal.

    Returns:
        (n_nodes, n_nodes) in ms.
    """
    nodes = np.arange(form.n_nodes)
    where: list[IntArray] = [base[c].argmax().reshape(1, 1) for c in range(form.n_classes)]
    where[rows] = nodes[:, None]
    if columns is not None:
        where[columns] = nodes[None, :]
    finish: dict[int, FloatArray] = {}
    longest = np.zeros((form.n_nodes, form.n_nodes))
    for c in form.order:
        begin = np.zeros((1, 1))
        for edge in form.edges:
            if edge.critical and edge.target == c:
                hop = form.delay_ms[where[edge.source], where[c]]
                begin = np.maximum(begin, finish[edge.source] + hop)
        finish[c] = begin + form.execution_ms[c][where[c]]
        longest = np.maximum(longest, finish[c])
    return longest
