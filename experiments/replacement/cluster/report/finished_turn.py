"""A finished turn, read back from its folder, with what the model says of where the chain ran."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import BaseModel

from experiments.adaptation.report.kept import ROUNDS, read_rounds
from experiments.adaptation.report.moves import find_moves
from experiments.folder_content import DONE, read_model
from experiments.lab_steps import PLACEMENT
from experiments.replacement.cluster.kept import (
    EVENTS,
    FIRST_PLACEMENT,
    INSTANCE,
    PLAN,
    ReplacementDone,
    read_lab_events,
)
from experiments.replacement.cluster.measured_moves import MEASURED, read_measured_moves
from experiments.replacement.cluster.report.tuples import read_tuples
from replay.errors import DataError
from replay.output import read_json
from scheduler.base.checks import ModelError
from scheduler.evaluation.critical_path import longest_path
from scheduler.instances.document import parse_instance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.adaptation.report.kept import PlannedRound
    from experiments.adaptation.report.moves import Move
    from experiments.replacement.cluster.kept import LabEvent
    from experiments.replacement.cluster.measured_moves import MeasuredMove
    from experiments.replacement.cluster.report.tuples import Tuples
    from scheduler.model.problem import Problem

END_S = 30.0
"""What happens at the end is the median of so many seconds."""


class _Executor(BaseModel):
    component: str
    first_task: int
    host: str


class _Placement(BaseModel):
    executors: list[_Executor]


@dataclass(frozen=True)
class Stay:
    """Where the chain ran from a moment on.

    Attributes:
        from_s: Unix time.
        hosts: Host by component; ackers are among them.
    """

    from_s: float
    hosts: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class TurnData:
    """One turn.

    Attributes:
        done: What it was.
        problem: The application and the hosts, as the model sees them.
        tuples: What came to the sink.
        events: What was done to the lab.
        rounds: The daemon's rounds, in order; none under Storm's own schedulers.
        moves: Rounds that moved executors; none under Storm's own schedulers.
        stays: Where it ran, in order; at least one.
        plan: What `stormplace plan` said at the end; None under Storm's own schedulers.
        measured: What the daemon measured of its moves.
        doubts: What contradicts that plan, one sentence each.
    """

    done: ReplacementDone
    problem: Problem
    tuples: Tuples
    events: tuple[LabEvent, ...]
    rounds: tuple[PlannedRound, ...]
    moves: tuple[Move, ...]
    stays: tuple[Stay, ...]
    plan: Mapping[str, Any] | None
    measured: tuple[MeasuredMove, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def start_s(self) -> float:
        """Unix time of the first measured tuple."""
        return float(self.tuples.emitted_s.min())

    @property
    def end_s(self) -> float:
        """Unix time of the last measured tuple."""
        return float(self.tuples.emitted_s.max())

    def event(self, kind: str) -> LabEvent | None:
        """Return the first event of a kind."""
        return next((each for each in self.events if each.kind == kind), None)

    @property
    def response_at_end_s(self) -> float | None:
        """Median response time at the end."""
        return self.tuples.median_s(self.tuples.response_s, self.end_s - END_S, self.end_s)

    @property
    def work_at_end_s(self) -> float | None:
        """Median of the operators' part of it."""
        return self.tuples.median_s(self.tuples.work_s, self.end_s - END_S, self.end_s)

    @property
    def response_mean_s(self) -> float:
        """Mean response time of all tuples, what waited for a restart included."""
        return float(self.tuples.response_s.mean())

    @property
    def availability(self) -> float | None:
        """Availability where it ran at the end, by the planner's readings; None where it did not plan."""
        metrics = {} if self.plan is None else self.plan.get("metrics", {})
        value = metrics.get("availability", {}).get("staying")
        return None if value is None else float(value)

    @cached_property
    def _price(self) -> dict[str, float]:
        return {node.name: node.cost for node in self.problem.network.nodes}

    def cost_of(self, hosts: Mapping[str, str], *, per_host: bool) -> float:
        """Return what running on hosts costs, CU/s: each host once, or once per executor."""
        used = set(hosts.values()) if per_host else list(hosts.values())
        return sum(self._price[host] for host in used)

    def mean_cost(self, *, per_host: bool) -> float:
        """Return the mean cost per second over the measured time, CU/s."""
        ends = (*(stay.from_s for stay in self.stays[1:]), self.end_s)
        spans = [
            max(min(until_s, self.end_s) - max(stay.from_s, self.start_s), 0.0)
            for stay, until_s in zip(self.stays, ends, strict=True)
        ]
        costs = [self.cost_of(stay.hosts, per_host=per_host) for stay in self.stays]
        return float(np.average(costs, weights=spans))

    def model_s(self, hosts: Mapping[str, str]) -> float:
        """Return the response time of a placement by the model, with true delays and speed-ups."""
        names = [node.name for node in self.problem.network.nodes]
        operators = self.problem.application.operators
        placement = np.array([names.index(hosts[each.name]) for each in operators], dtype=np.int64)
        return longest_path(self.problem, placement)[0] / 1000.0

    def stay_at(self, time_s: float) -> Stay:
        """Return where it ran, or was about to, at a moment."""
        return next((stay for stay in reversed(self.stays) if stay.from_s <= time_s), self.stays[0])

    def pause_s(self, move: Move) -> float:
        """Return the longest time without a result from a move on until the next one, s."""
        later = (each.time_s for each in self.moves if each.time_s > move.time_s)
        return self.tuples.silence_s(move.time_s, next(later, math.inf))


def read_turn(folder: Path) -> TurnData:
    """Read a finished turn.

    Raises:
        DataError: A kept file is missing or malformed.
    """
    done = read_model(ReplacementDone, folder / DONE)
    try:
        problem = parse_instance(read_json(folder / INSTANCE))
    except ModelError as error:
        raise DataError(f"{folder / INSTANCE}: {error}") from error
    first, last = (read_model(_Placement, folder / name) for name in (FIRST_PLACEMENT, PLACEMENT))
    component = {each.first_task: each.component for each in last.executors}
    began, ended = ({each.component: each.host for each in content.executors} for content in (first, last))
    tuples = read_tuples(folder)
    rounds = read_rounds(folder / ROUNDS)
    moves = find_moves(rounds, folder / ROUNDS) if rounds else ()
    stays = [Stay(float(tuples.emitted_s.min()), began)]
    if rounds:
        placed = [
            Stay(
                each.time_s, {component[task]: host for task, host in each.hosts.items() if host is not None}
            )
            for each in rounds
            if each.assigned
        ]
        stays = [each for each in placed if len(each.hosts) == len(component)] or stays
    doubts = [
        f"{name} ran on {host} at the end, by the planner on {stays[-1].hosts.get(name)}"
        for name, host in ended.items()
        if stays[-1].hosts.get(name) != host
    ]
    plan = read_json(folder / PLAN) if (folder / PLAN).is_file() else None
    return TurnData(
        done,
        problem,
        tuples,
        read_lab_events(folder / EVENTS),
        rounds,
        moves,
        tuple(stays),
        plan,
        read_measured_moves(folder / MEASURED),
        tuple(doubts),
    )
