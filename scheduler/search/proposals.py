"""Random changes of many placements at once, one placement per column (the moves of `ils`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.construct.near_nodes import candidate_lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import BoolArray, IntArray
    from scheduler.evaluation.batch import BatchConstraints
    from scheduler.model.problem import Problem

    Proposal = tuple[IntArray, BoolArray]
    Move = Callable[[IntArray], Proposal]

PATHS = 64
"""Random paths whose operators change places together."""
SNAP = 0.8
"""Chance that a segment of a path begins and ends where the node changes."""


class Proposals:
    """Draws changes of a problem's placements.

    Every draw applies one kind of move to all columns, each with operators and nodes of its own. Proposals
    keep all constraints; a column without a feasible change is marked as such.
    """

    def __init__(self, problem: Problem, constraints: BatchConstraints, random: np.random.Generator) -> None:
        self._problem = problem
        self._constraints = constraints
        self._random = random
        self._movable = np.flatnonzero(problem.movable)
        self._near = candidate_lists(problem)
        self._reach = max(4.0, problem.n_nodes / 20.0)
        self._partners = _communicating(problem)
        self._paths = _movable_paths(problem, random)
        kinds: list[tuple[Move, float]] = [
            (self._relocate, 0.35),
            (self._exchange, 0.2),
            (self._swap_contents, 0.2),
        ]
        if self._paths:
            kinds += [(self._reverse, 0.15), (self._shift, 0.1), (self._insert, 0.2)]
        blocks = problem.rules.together
        if blocks:
            self._blocks = np.zeros((len(blocks), problem.n_ops), dtype=np.bool_)
            for k, members in enumerate(blocks):
                self._blocks[k, members] = True
            # the constraints take pinned operators to be where they belong
            self._open = np.stack([problem.allowed[members].all(axis=0) for members in blocks])
            kinds.append((self._move_block, 0.2))
        self._kinds = [kind for kind, _ in kinds]
        self._chances = np.cumsum([chance for _, chance in kinds]) / sum(chance for _, chance in kinds)

    def draw(self, placements: IntArray) -> Proposal:
        """Return changed placements (n_ops, n_placements) and (n_placements,) which of them count."""
        kind = int(np.searchsorted(self._chances, self._random.random(), side="right"))
        return self._kinds[kind](placements)

    def _operators(self, count: int) -> IntArray:
        return self._movable[self._random.integers(len(self._movable), size=count)]

    def _nodes_near(self, anchors: IntArray) -> IntArray:
        """Return a node for each anchor: mostly one of the first of its candidate list, sometimes any."""
        count = len(anchors)
        if self._random.random() < 0.2:
            return self._random.integers(self._problem.n_nodes, size=count)
        place = self._random.exponential(self._reach, count).astype(np.int64)
        near: IntArray = self._near[anchors, np.minimum(place, self._near.shape[1] - 1)]
        return near

    def _partner_nodes(self, placements: IntArray, operators: IntArray, columns: IntArray) -> IntArray:
        """Return the node of an operator that communicates with each of the given ones."""
        drawn = self._random.integers(self._partners.shape[1], size=len(operators))
        return placements[self._partners[operators, drawn], columns]

    def _relocate(self, placements: IntArray) -> Proposal:
        """Move an operator near one it has a stream with; without room, one from there takes its place."""
        columns = np.arange(placements.shape[1])
        operators = self._operators(len(columns))
        origin = placements[operators, columns]
        nodes = self._nodes_near(self._partner_nodes(placements, operators, columns))
        full = ~self._constraints.has_room(placements, operators, nodes)
        there = placements[self._movable] == nodes
        chosen = (there * self._random.random((len(self._movable), 1))).argmax(axis=0)
        trading = np.flatnonzero(full & there.any(axis=0))
        changed = placements.copy()
        changed[operators, columns] = nodes
        changed[self._movable[chosen[trading]], trading] = origin[trading]
        valid = origin != nodes
        if self._constraints.interchangeable:
            valid &= ~full | there.any(axis=0)
        else:
            valid &= self._constraints.met(changed)
        return changed, valid

    def _move_block(self, placements: IntArray) -> Proposal:
        """Move operators that a rule keeps on one node near one that a member has a stream with."""
        columns = np.arange(placements.shape[1])
        chosen = self._random.integers(len(self._blocks), size=len(columns))
        block = self._blocks[chosen]
        member = (block * self._random.random(block.shape)).argmax(axis=1)
        nodes = self._nodes_near(self._partner_nodes(placements, member, columns))
        changed = np.where(block.T, nodes, placements)
        valid = self._open[chosen, nodes] & self._constraints.met(changed)
        return changed, valid & (changed != placements).any(axis=0)

    def _exchange(self, placements: IntArray) -> Proposal:
        """Let two operators on distinct nodes trade places."""
        columns = np.arange(placements.shape[1])
        first, second = self._operators(len(columns)), self._operators(len(columns))
        here, there = placements[first, columns], placements[second, columns]
        changed = placements.copy()
        changed[first, columns] = there
        changed[second, columns] = here
        return changed, self._traded(changed) & (here != there)

    def _traded(self, changed: IntArray) -> BoolArray:
        """Return which placements are feasible after operators have traded places."""
        if self._constraints.interchangeable:
            return np.ones(changed.shape[1], dtype=np.bool_)
        return self._constraints.met(changed)

    def _swap_contents(self, placements: IntArray) -> Proposal:
        """Let two nodes trade all their operators; the other node may be empty."""
        columns = np.arange(placements.shape[1])
        operators = self._operators(len(columns))
        here = placements[operators, columns]
        beside = self._partner_nodes(placements, operators, columns)
        there = self._nodes_near(np.where(self._random.random(len(columns)) < 0.5, here, beside))
        moving = placements[self._movable]
        changed = placements.copy()
        changed[self._movable] = np.where(moving == here, there, np.where(moving == there, here, moving))
        return changed, self._constraints.met(changed) & (here != there)

    def _cuts(self, path: IntArray, placements: IntArray) -> IntArray:
        """Return (3, n_placements) positions on a path, ascending: mostly where the node changes."""
        length, count = len(path), placements.shape[1]
        drawn = self._random.integers(length + 1, size=(3, count))
        if self._random.random() < SNAP:
            along = placements[path]
            begins = np.zeros((length + 1, count), dtype=np.int64)
            positions = np.arange(length + 1)[:, None]
            begins[1:length] = np.where(along[1:] != along[:-1], positions[1:length], 0)
            begins[length] = length
            last_begin = np.maximum.accumulate(begins, axis=0)
            drawn = last_begin[drawn, np.arange(count)]
        return np.sort(drawn, axis=0)

    def _path(self) -> IntArray:
        return self._paths[int(self._random.integers(len(self._paths)))]

    def _reverse(self, placements: IntArray) -> Proposal:
        """Reverse the nodes along a segment of a path."""
        path = self._path()
        first, _, last = self._cuts(path, placements)
        position = np.arange(len(path))[:, None]
        inside = (position >= first) & (position < last)
        return self._permuted(placements, path, np.where(inside, first + last - 1 - position, position))

    def _shift(self, placements: IntArray) -> Proposal:
        """Let two adjacent segments of a path trade places."""
        path = self._path()
        return self._permuted(placements, path, self._shifted(path, *self._cuts(path, placements)))

    @staticmethod
    def _shifted(path: IntArray, first: IntArray, middle: IntArray, last: IntArray) -> IntArray:
        """Return (len(path), n_placements) from where each position takes its node."""
        position = np.arange(len(path))[:, None]
        moved = np.where(
            position < first + last - middle, position + middle - first, position + middle - last
        )
        inside = (position >= first) & (position < last)
        return np.where(inside, moved, position)

    def _permuted(self, placements: IntArray, path: IntArray, taken: IntArray) -> Proposal:
        changed = placements.copy()
        changed[path] = np.take_along_axis(placements[path], taken, axis=0)
        return changed, self._traded(changed) & (changed != placements).any(axis=0)

    def _insert(self, placements: IntArray) -> Proposal:
        """Take a segment of a path out, close the gap, and put it elsewhere, on a node near its neighbour."""
        path = self._path()
        first, middle, last = self._cuts(path, placements)
        columns, length = np.arange(placements.shape[1]), len(path)
        along = np.take_along_axis(placements[path], self._shifted(path, first, middle, last), axis=0)
        forward = self._random.random() < 0.5
        # forward: the first segment has come to the end; else the second has come to the front
        begin, end = (first + last - middle, last) if forward else (first, first + last - middle)
        neighbour = np.where(begin > 0, begin - 1, np.minimum(end, length - 1))
        position = np.arange(length)[:, None]
        inside = (position >= begin) & (position < end)
        nodes = self._nodes_near(along[neighbour, columns])
        changed = placements.copy()
        changed[path] = np.where(inside, nodes, along)
        return changed, self._constraints.met(changed) & (changed != placements).any(axis=0)


def _communicating(problem: Problem) -> IntArray:
    """Return (n_ops, k) operators that each has streams with, repeated to one length; else itself."""
    partners: list[list[int]] = [[] for _ in range(problem.n_ops)]
    for source, target in problem.application.edges():
        if source != target:
            partners[source].append(target)
            partners[target].append(source)
    width = 2 * max(1, *(len(each) for each in partners))
    return np.array(
        [np.resize(np.array(each or [i], dtype=np.int64), width) for i, each in enumerate(partners)]
    )


def _movable_paths(problem: Problem, random: np.random.Generator) -> list[IntArray]:
    """Return random walks along critical streams, without pinned operators, of at least three operators."""
    followers: list[list[int]] = [[] for _ in range(problem.n_ops)]
    starts = set(range(problem.n_ops))
    for source, target in problem.application.critical_edges():
        followers[source].append(target)
        starts.discard(target)
    roots = sorted(starts)
    paths = []
    for _ in range(PATHS):
        walk = [roots[int(random.integers(len(roots)))]]
        while followers[walk[-1]]:
            walk.append(followers[walk[-1]][int(random.integers(len(followers[walk[-1]])))])
        inner = [i for i in walk if problem.movable[i]]
        if len(inner) > 2:
            paths.append(np.array(inner, dtype=np.int64))
    return paths
