"""One job is placed: sites, racks and hosts are chosen from the outside inwards, and filled one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.packing.candidates import (
    ROUNDING,
    Candidates,
    best_of,
    least_for_all,
    nodes_for_all,
    rooms_of,
)
from scheduler.packing.grouping import group_components
from scheduler.packing.joining import join
from scheduler.packing.progress import Progress

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.packing.fleet import Fleet, Ledger
    from scheduler.packing.job import Job, Worker

# Nodes tried for a whole job whose workers cannot be filled to the brim; groups looked at closely.
_TRIED_NODES = 8
_LIKELY_GROUPS = 8


@dataclass(frozen=True)
class Manner:
    """How densely nodes are filled.

    Attributes:
        share: Part of a node's capacity up to which a job that needs several nodes fills it at first. Below 1
            it leaves something of every resource to others, instead of all of one and nothing of another.
        joining: Whether executors for which no slot is left join running workers, which restart then.
    """

    share: float = 1.0
    joining: bool = False


def place_job(fleet: Fleet, ledger: Ledger, job: Job, manner: Manner) -> list[Worker] | None:
    """Place all executors of a job.

    Args:
        fleet: The nodes.
        ledger: What is left of them; what the job takes is taken from it.
        job: The job.
        manner: How densely nodes are filled.

    Returns:
        New workers, and what joins running ones; None if not all executors found room, and then nothing is
        taken.
    """
    progress = Progress(fleet, ledger, job)
    join(ledger, job, progress, job.restarting)
    placing = _Placing(fleet, ledger, job, manner, progress)
    if progress.left and not placing.into_one_node():
        # What may go to few places goes there first, so that the others come near it.
        for part in _by_freedom(job):
            progress.turn_to(part)
            placing.into_groups()
        if progress.left:
            placing.to_the_brim()
            placing.into_groups()
        if progress.left and manner.joining:
            join(ledger, job, progress, range(len(job.running)))
    if progress.left:
        progress.give_back()
        return None
    return progress.workers


def _by_freedom(job: Job) -> list[BoolArray]:
    """Return (n_components,) masks of what to place in turn: first what may go to fewer nodes than others."""
    everything = np.ones(job.n_components, dtype=np.bool_)
    if job.permitted is None:
        return [everything]
    nodes = np.where(job.count > 0, job.permitted.sum(axis=1), job.permitted.shape[1])
    bound = nodes < nodes[job.count > 0].max(initial=0)
    return [bound, everything] if bound.any() else [everything]


class _Placing:
    """A job that is being placed."""

    def __init__(self, fleet: Fleet, ledger: Ledger, job: Job, manner: Manner, progress: Progress) -> None:
        self._fleet = fleet
        self._ledger = ledger
        self._job = job
        self._progress = progress
        self._groups = group_components(job.weight_between, self._sizes())
        self._kept = 1.0 - manner.share
        self._greedy = False

    def to_the_brim(self) -> None:
        """Leave nothing of a node to others any more, and take executors in whatever order they fit."""
        self._kept = 0.0
        self._greedy = True

    def into_one_node(self) -> bool:
        """Place the whole job on the node that it fills best, the nearest to what runs, if it fits on one."""
        nodes = np.flatnonzero(self._ledger.slots > 0)
        if self._job.permitted is not None:
            nodes = nodes[self._job.permitted[self._progress.rest > 0][:, nodes].all(axis=0)]
        needed = self._progress.needed()
        nodes = nodes[self._takes_all(nodes, needed)]
        near = self._nearness(nodes)
        for _ in range(_TRIED_NODES):
            if not len(nodes):
                break
            merit = -rooms_of(self._ledger.free[nodes], needed)
            at = best_of(merit, near, None if self._job.rank is None else self._job.rank[nodes])
            before = len(self._progress.workers)
            self._fill(int(nodes[at]), whole=True)
            if not self._progress.left:
                return True
            # Workers could not be filled to the brim: it is given back, and the next node tried.
            self._progress.give_back(before)
            nodes, near = np.delete(nodes, at), np.delete(near, at)
        return False

    def into_groups(self) -> None:
        """Place on all nodes where executors may go, by groups from the outermost level on."""
        nodes = np.flatnonzero(self._ledger.slots > 0)
        if self._job.permitted is not None and self._progress.left:
            nodes = nodes[self._job.permitted[self._progress.rest > 0][:, nodes].any(axis=0)]
        self._into_groups(nodes, len(self._fleet.levels) - 1)

    def _into_groups(self, nodes: IntArray, level: int) -> None:
        """Place on the nodes, by groups of a level from the best one on.

        Args:
            nodes: The nodes.
            level: The level; below the smallest one nodes are filled one by one.
        """
        if level < 0 or self._fleet.levels[level].single:
            self._onto(nodes)
            return
        here = self._fleet.levels[level]
        group = here.group[nodes]
        left = np.bincount(group, minlength=here.n_groups) > 0
        while self._progress.left and left.any():
            best = self._best_group(nodes, group, left, level)
            left[best] = False
            self._into_groups(nodes[group == best], level - 1)

    def _best_group(self, nodes: IntArray, group: IntArray, left: BoolArray, level: int) -> int:
        """Choose a group: near the job, else that takes the rest on fewest nodes, else the roomiest."""
        n_groups = len(left)
        needed = self._progress.needed()
        rooms = self._roominess(nodes, needed)
        total = np.bincount(group, weights=rooms, minlength=n_groups)
        near = np.zeros(n_groups)
        for inner in self._fleet.levels[: level + 1] if self._progress.seen else ():
            seen = inner.group[list(self._progress.seen)]
            if inner.far is not None and inner is self._fleet.levels[level]:
                near -= inner.far[:, seen].mean(axis=1)
            touched = np.isin(inner.group[nodes], seen)
            near += np.bincount(group[touched], minlength=n_groups) > 0
        candidates = np.flatnonzero(left & (near == near[left].max()))
        takes_all = candidates[total[candidates] >= 1.0 - ROUNDING]
        if not len(takes_all):
            return int(candidates[np.argmax(total[candidates])])
        # Where the mean node is roomy few are enough; only the most likely groups are looked at closely.
        mean = total[takes_all] / np.bincount(group, minlength=n_groups)[takes_all]
        likely = takes_all[np.argsort(-mean, kind="stable")[:_LIKELY_GROUPS]]
        return int(min(likely, key=lambda each: (nodes_for_all(rooms[group == each]), total[each], each)))

    def _onto(self, nodes: IntArray) -> None:
        """Fill nodes one by one: the tightest one that takes all that is left, else the roomiest."""
        rank = self._job.rank
        candidates = Candidates(
            self._ledger.free[nodes],
            self._kept * self._fleet.capacity[nodes],
            self._ledger.slots[nodes],
            near=self._nearness(nodes),
            groups=[level.group[nodes] for level in self._fleet.levels],
            rank=None if rank is None else rank[nodes],
        )
        for _ in range(len(nodes)):
            if not self._progress.left:
                return
            needed = self._progress.needed()
            at, whole = candidates.best(needed)
            if not (whole or self._progress.seen or candidates.have_room(needed)):
                return
            candidates.close(at, taken=self._fill(int(nodes[at]), whole=whole))

    def _nearness(self, nodes: IntArray) -> FloatArray:
        """(n_nodes,) levels at which each node shares a group with executors of the job, less distance."""
        near = np.zeros(len(nodes))
        for level in self._fleet.levels if self._progress.seen else ():
            seen = level.group[list(self._progress.seen)]
            near += np.isin(level.group[nodes], seen)
            if level.far is not None:
                near -= level.far[:, seen].mean(axis=1)[level.group[nodes]]
        return near

    def _fill(self, node: int, *, whole: bool) -> bool:
        """Put as much as fits on a node; return whether that is anything."""
        return self._progress.fill(node, self._groups, whole=whole, kept=self._kept, greedy=self._greedy)

    def _sizes(self) -> FloatArray:
        """(n_components, 2 + n_levels) workers, nodes and groups that what is left of components fills."""
        job, fleet = self._job, self._fleet
        workers = job.count * job.worker_share
        shares = np.divide(job.demand, fleet.usual, out=np.zeros_like(job.demand), where=fleet.usual > 0)
        nodes = job.count * shares.max(axis=1, initial=0.0)
        per_group = [fleet.n_nodes / max(level.n_groups, 1) for level in fleet.levels]
        return np.stack([workers, nodes, *(nodes / max(each, 1.0) for each in per_group)], axis=1)

    def _takes_all(self, nodes: IntArray, needed: FloatArray) -> BoolArray:
        least = least_for_all(needed)
        enough = (self._ledger.free[nodes] >= least[:-1]).all(axis=1)
        return np.asarray(enough & (self._ledger.slots[nodes] >= least[-1]))

    def _roominess(self, nodes: IntArray, needed: FloatArray) -> FloatArray:
        """(n_nodes,) part of what is left that each node takes, by its scarcest resource."""
        free = self._ledger.free[nodes] - self._kept * self._fleet.capacity[nodes]
        workers = self._ledger.slots[nodes] / needed[-1]
        return np.asarray(np.minimum(rooms_of(free, needed), workers), dtype=np.float64)
