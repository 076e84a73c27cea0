"""The phases of a scenario, each from one change of the network to the next: how the query took it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.adaptation.report.levels import calm_ms, expected_ms
from experiments.adaptation.report.recovery import (
    NOT_BACK,
    TOLERANCE,
    longest_silence_s,
    recovery,
    settled_ms,
)
from experiments.adaptation.report.true_network import seen_after_s

if TYPE_CHECKING:
    from experiments.adaptation.report.finished_scenario import ScenarioData
    from experiments.adaptation.report.kept import Event
    from experiments.adaptation.report.moves import Move
    from experiments.adaptation.report.true_network import Change
    from formats.site_file import SiteFile


@dataclass(frozen=True)
class Phase:
    """From one change of the network to the next one or the end.

    Attributes:
        event: The change.
        end_s: Its end, unix time.
        before_ms: Settled response time before the change; None if it had not settled.
        during_ms: Median of the rows that came between the change and the recovery, or in the whole phase
            without one; infinite if half of them have no result, None if there are none.
        longest_ms: Longest response time of a row with result, None if there is none.
        settled_ms: Median of the last 30 s, None if not settled.
        expected_ms: What it should come to (`levels`), None if that is not known.
        silence_s: Longest time without any result.
        lost: Rows without result.
        recovered_s: From the change to the recovery (`recovery`). None if the response time did not come
            back; if it settled above 1.2 times what was expected, or above 1.2 times the one
            before without a move; and where it is not known.
        first_back_s: From the change to the first time that it was back for half a minute, None likewise.
        seen_s: From the change to the first round whose data show it, None if none does.
        known: Whether it is known if the response time came back: not if it settled and it is open
            whether that is as good as was expected.
        moves: Moves of the phase.
    """

    event: Event
    end_s: float
    before_ms: float | None
    during_ms: float | None
    longest_ms: float | None
    settled_ms: float | None
    expected_ms: float | None
    silence_s: float
    lost: int
    recovered_s: float | None
    first_back_s: float | None
    seen_s: float | None
    known: bool
    moves: tuple[Move, ...]

    @property
    def moved_s(self) -> float | None:
        """From the change to the first move."""
        return self.moves[0].time_s - self.event.time_s if self.moves else None


def find_phases(scenario: ScenarioData, sites: SiteFile) -> tuple[Phase, ...]:
    """Return the phases of a scenario, in order."""
    found: list[Phase] = []
    before_ms = calm_ms(scenario)
    for change in scenario.changes:
        found.append(_phase(scenario, change, before_ms, sites))
        before_ms = found[-1].settled_ms
    return tuple(found)


def _phase(scenario: ScenarioData, change: Change, before_ms: float | None, sites: SiteFile) -> Phase:
    rows, start_s, end_s = scenario.rows, change.event.time_s, change.end_s
    inside = (rows.available_s >= start_s) & (rows.available_s < end_s)
    moves = tuple(move for move in scenario.moves if start_s <= move.time_s < end_s)
    level_ms = settled_ms(rows, start_s, end_s)
    last_s = moves[-1].time_s if moves else start_s
    found = recovery(rows, scenario.medians_ms, start_s, end_s, scenario.done.rate, moved_s=last_s)
    level_to_reach_ms = expected_ms(scenario, change, sites)
    known = True
    # a query that stays, or moves in vain, settles too, at the response time that the change has brought
    if found.back_s is not None and level_ms is not None:
        if not moves and before_ms is not None and level_ms > TOLERANCE * before_ms:
            found = NOT_BACK
        elif level_to_reach_ms is None:
            found, known = NOT_BACK, False
        elif level_ms > TOLERANCE * level_to_reach_ms:
            found = NOT_BACK
    disturbed = inside & (rows.available_s < (end_s if found.back_s is None else start_s + found.back_s))
    answered = rows.response_ms[inside & np.isfinite(rows.response_ms)]
    return Phase(
        event=change.event,
        end_s=end_s,
        before_ms=before_ms,
        during_ms=float(np.median(rows.response_ms[disturbed])) if disturbed.any() else None,
        longest_ms=float(answered.max()) if len(answered) else None,
        settled_ms=level_ms,
        expected_ms=level_to_reach_ms,
        silence_s=longest_silence_s(rows, start_s, end_s),
        lost=int(np.count_nonzero(inside & np.isinf(rows.response_ms))),
        recovered_s=found.back_s,
        first_back_s=found.first_s,
        seen_s=seen_after_s(change, scenario.rounds, sites),
        known=known,
        moves=moves,
    )
