"""A problem with two free classes of operators in costs: the smaller class leads, the larger follows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.model.capacity import most_members

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.exact.form.class_form import ClassForm


@dataclass(frozen=True, eq=False)
class LeaderTables:
    """The problem in costs; u is a node of a follower, v one of a leader.

    Attributes:
        leader: Class that is branched on; None if there is none.
        follower: Class that takes the cheapest slots.
        base: (n_classes, n_nodes) counts of the fixed classes.
        constant: F of the fixed classes alone, without response time.
        cost: (n_nodes,) of a follower at u, without leaders.
        leader_cost: (n_nodes,) of a leader at v.
        pair: (n_nodes, n_nodes) what a follower at u and a leader at v add together.
        response: (n_nodes, n_nodes) response time in F of a follower at u and a leader at v, w_r R scaled.
        room: (n_nodes, leaders + 1) followers that u takes beside so many leaders.
        slots: (n_nodes,) leaders that v takes.
        beside: (n_nodes,) leaders that leave room for a follower at u.
        left: (n_nodes, n_resources) capacity beside the fixed classes.
        follower_demand: (n_resources,) of a follower.
        leader_demand: (n_resources,) of a leader.
        followers: Members of the class of followers.
        leaders: Members of the class of leaders.
    """

    leader: int | None
    follower: int
    base: IntArray
    constant: float
    cost: FloatArray
    leader_cost: FloatArray
    pair: FloatArray
    response: FloatArray
    room: IntArray
    slots: IntArray
    beside: IntArray
    left: FloatArray
    follower_demand: FloatArray
    leader_demand: FloatArray
    followers: int
    leaders: int


def leader_tables(form: ClassForm, fixed: list[int], leader: int | None, follower: int) -> LeaderTables:
    """Return the tables of a problem in which at most two classes are free.

    Args:
        form: The problem.
        fixed: Classes with one node each.
        leader: The smaller free class, or None.
        follower: The other.
    """
    n = form.n_nodes
    base = np.zeros((form.n_classes, n), dtype=np.int64)
    for c in fixed:
        base[c, form.slots[c].argmax()] = form.size[c]
    constant = form.constant + float((form.unary * base).sum())
    cost = {c: form.unary[c].copy() for c in (follower, leader) if c is not None}
    pair = np.zeros((n, n))
    for edge in form.edges:
        if edge.cost is None:
            continue
        ends = (edge.source, edge.target)
        if all(c in cost for c in ends):
            pair += edge.cost if edge.source == follower else edge.cost.T
        elif edge.source in cost:
            cost[edge.source] += edge.cost @ base[edge.target]
        elif edge.target in cost:
            cost[edge.target] += base[edge.source] @ edge.cost
        else:
            constant += float(base[edge.source] @ edge.cost @ base[edge.target])
    left = form.capacity - base.T.astype(np.float64) @ form.demand
    size = int(form.size[follower])
    leaders = 0 if leader is None else int(form.size[leader])
    each = np.zeros(form.demand.shape[1]) if leader is None else form.demand[leader]
    beside = left[:, None, :] - np.arange(leaders + 1)[None, :, None] * each
    room = np.minimum(most_members(form.demand[follower], beside), size)
    room[form.slots[follower] == 0] = 0
    slots = np.zeros(n, dtype=np.int64)
    if leader is not None:
        most = np.minimum(most_members(each, left), leaders)
        slots = np.where(form.slots[leader] > 0, most, 0).astype(np.int64)
    return LeaderTables(
        leader=leader,
        follower=follower,
        base=base,
        constant=constant,
        cost=cost[follower],
        leader_cost=np.zeros(n) if leader is None else cost[leader],
        pair=pair,
        response=form.response_factor * pair_response_times(form, base, follower, leader),
        room=room.astype(np.int64),
        slots=slots,
        beside=np.maximum((room > 0).sum(axis=1) - 1, 0),
        left=left,
        follower_demand=form.demand[follower],
        leader_demand=each,
        followers=size,
        leaders=leaders,
    )


def pair_response_times(form: ClassForm, base: IntArray, rows: int, columns: int | None) -> FloatArray:
    """Return R when one class is on the row's node and another on the column's.

    The values of a class are a single one, a row, a column or a table, which broadcast; for the sweeps of
    `scheduler.model.levels` all would be tables.

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
