"""A finished scenario, read back from its folder, and its phases from event to event."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from experiments.adaptation.report.deliveries import read_deliveries
from experiments.adaptation.report.kept import EVENTS, ROUNDS, ScenarioDone, read_events, read_rounds
from experiments.adaptation.report.moves import LONGEST_PAUSE_S, find_moves, longest_pause_s
from experiments.adaptation.report.recovery import rolling_median_ms
from experiments.adaptation.report.true_network import Change, epochs
from experiments.folder_content import DONE, KeptVerdict, read_model
from replay.analysis.placement import read_placement
from replay.errors import DataError
from replay.pipeline import VERDICT

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.adaptation.report.deliveries import Deliveries
    from experiments.adaptation.report.kept import Event, PlannedRound
    from experiments.adaptation.report.moves import Move
    from experiments.adaptation.report.true_network import Epoch
    from formats.site_file import SiteFile
    from replay.analysis.placement import ExecutorPlace
    from scheduler.base.arrays import FloatArray

CHANGES = ("delay", "isolate", "rejoin")
"""Kinds of events that a phase begins with; the delays' noise and putting things back begin none."""


@dataclass(frozen=True)
class Answers:
    """What is known of a scenario's answers.

    Attributes:
        equal: Whether all of them are the expected ones; None if they have not been compared.
        sentence: The same in words, with the first difference.
    """

    equal: bool | None
    sentence: str


@dataclass(frozen=True, eq=False)
class ScenarioData:
    """One scenario.

    Attributes:
        done: What it was.
        rows: Its rows.
        rounds: The daemon's rounds, in order.
        moves: Those that moved the query, from its first placement to the last round.
        events: What was done to the network, in order.
        epochs: The network before the first event and after each.
        places: Where the executors ran in the end.
        answers: What is known of the answers.
    """

    done: ScenarioDone
    rows: Deliveries
    rounds: tuple[PlannedRound, ...]
    moves: tuple[Move, ...]
    events: tuple[Event, ...]
    epochs: tuple[Epoch, ...]
    places: tuple[ExecutorPlace, ...]
    answers: Answers

    @cached_property
    def medians_ms(self) -> FloatArray:
        """(n_rows,) rolling median of the response times."""
        return rolling_median_ms(self.rows)

    @property
    def start_s(self) -> float:
        """Unix time at which the paced rows began."""
        return self.done.started_s

    @property
    def end_s(self) -> float:
        """Unix time at which they ended: the command that feeds them may take longer."""
        return min(self.done.ended_s, self.done.started_s + self.done.paced_rows / self.done.rate)

    @property
    def measured_moves(self) -> tuple[Move, ...]:
        """Moves while paced rows came."""
        return tuple(move for move in self.moves if self.start_s <= move.time_s <= self.end_s)

    @property
    def longest_pause_s(self) -> float:
        """Longest time without a round while paced rows came, s."""
        return longest_pause_s(self.rounds, self.start_s, self.end_s)

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Events that begin a phase, with the network around each."""
        chosen = [
            (number, event)
            for number, event in enumerate(self.events)
            if event.kind in CHANGES and self.start_s <= event.time_s < self.end_s
        ]
        ends = [*(event.time_s for _, event in chosen), self.end_s][1:]
        return tuple(
            Change(event, self.epochs[number], self.epochs[number + 1], end_s)
            for (number, event), end_s in zip(chosen, ends, strict=True)
        )

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why moves may be incomplete, one sentence each."""
        found = []
        if self.longest_pause_s > LONGEST_PAUSE_S:
            found.append(f"{self.longest_pause_s:.0f} s without a round of the daemon: a move may be missing")
        unplanned = sum(each.executors_moved > 0 and not each.assigned for each in self.rounds)
        if unplanned:
            found.append(f"rounds in which executors had hosts that no plan gave them: {unplanned}")
        # Nimbus was asked some time after the last row, before or after one of these rounds
        before = sum(each.time_s <= self.end_s for each in self.rounds)
        last = self.rounds[max(before - 1, 0) :]
        elsewhere = [
            f"{place.component} on {place.host}"
            for place in self.places
            if all(each.hosts.get(place.first_task) != place.host for each in last)
        ]
        if elsewhere:
            found.append(
                f"in the end executors ran elsewhere than the last rounds say: {', '.join(elsewhere)}"
            )
        return tuple(found)


def read_scenario(turn: Path, sites: SiteFile, expected: Path) -> ScenarioData:
    """Read a finished scenario.

    Args:
        turn: Its folder.
        sites: The site file.
        expected: Folder of the expected answers; it may be missing.

    Raises:
        DataError: A file is missing or malformed.
    """
    done = read_model(ScenarioDone, turn / DONE)
    if done.ended_s <= done.started_s:
        raise DataError(f"{turn / DONE}: ended_s: not after started_s")
    rows = read_deliveries(turn, done, expected)
    events = read_events(turn / EVENTS)
    rounds = read_rounds(turn / ROUNDS)
    moves = find_moves(rounds, turn / ROUNDS)
    if any(after.time_s < before.time_s for before, after in pairwise(rounds)):
        raise DataError(f"{turn / ROUNDS}: rounds are out of order")
    first_move_s = min((move.time_s for move in moves if move.time_s >= done.started_s), default=None)
    before_move = rows.numbers if first_move_s is None else rows.numbers[rows.result_s < first_move_s]
    return ScenarioData(
        done=done,
        rows=rows,
        rounds=rounds,
        moves=moves,
        events=events,
        epochs=epochs(events, sites, turn / EVENTS),
        places=read_placement(turn, sites),
        answers=_answers(turn / VERDICT, int(np.max(before_move, initial=0))),
    )


def _answers(path: Path, last_row: int) -> Answers:
    """Return how the answers compare with the expected ones; `last_row` is the last before the first move."""
    if not path.is_file():
        return Answers(equal=None, sentence="not compared with the expected ones")
    verdict = read_model(KeptVerdict, path)
    first = verdict.first
    if first is None:
        return Answers(equal=True, sentence="as expected")
    rows = [each.row for each in verdict.differences if each.row is not None]
    if rows and min(rows) > last_row:
        first = f"as expected up to the first move (row {last_row}), and then: {first}"
    return Answers(equal=False, sentence=first)
