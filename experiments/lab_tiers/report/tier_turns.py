"""The finished turns of the experiment over three tiers, read back from its folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from experiments.folder_content import DONE, TURNS, read_model
from experiments.lab_tiers.kept import TiersDone
from experiments.lab_tiers.planned_flows import FLOWS, PlannedFlows
from experiments.lab_tiers.report.placement_costs import costs_of
from experiments.lab_tiers.report.plan_words import planned_costs
from experiments.lab_tiers.uplinks import UPLINKS, KeptUplinks, rates, within
from experiments.response_time.report.turns import read_turns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.lab_tiers.report.placement_costs import Costs
    from experiments.lab_tiers.report.plan_words import PlannedCosts
    from experiments.lab_tiers.uplinks import Sample
    from experiments.response_time.report.turns import TurnData
    from formats.site_file import SiteFile
    from scheduler.base.arrays import FloatArray

WINDOW_S = 5.0
"""Medians over time are of so many seconds."""


@dataclass(frozen=True)
class TierTurn:
    """One turn.

    Attributes:
        turn: Its rows, places and plan.
        done: What it was.
        uplinks: What passed the uplinks.
        flows: What the daemon expected to pass them; None under Storm's own schedulers.
        costs: What the placement costs.
    """

    turn: TurnData
    done: TiersDone
    uplinks: KeptUplinks
    flows: PlannedFlows | None
    costs: Costs

    @property
    def label(self) -> str:
        """Variant and repetition."""
        return self.turn.label

    @property
    def variant(self) -> str:
        """Name of the variant."""
        return self.done.variant

    @property
    def stated_costs(self) -> PlannedCosts | None:
        """What the status line of the round that placed the query states; None if it does not."""
        return None if self.turn.planned is None else planned_costs(self.turn.planned.status)

    @cached_property
    def steady(self) -> tuple[Sample, ...]:
        """Samples of the uplinks while rows came that are measured."""
        begin_s = self.done.started_s + self.done.warm_up_rows / self.done.rate
        return within(self.uplinks.paced, begin_s, self.done.fed_s)

    @property
    def total_bytes_per_s(self) -> Mapping[str, float]:
        """What passed each uplink while rows came, by site."""
        return rates(self.steady[0], self.steady[-1])

    @property
    def background_bytes_per_s(self) -> Mapping[str, float]:
        """What passes each uplink while the query is there and no row comes, by site."""
        return rates(*self.uplinks.still)

    @property
    def idle_bytes_per_s(self) -> Mapping[str, float]:
        """What passes each uplink without the query, by site."""
        return rates(*self.uplinks.idle)

    @property
    def measured_bytes_per_s(self) -> dict[str, float]:
        """What the query's rows sent over each uplink, by site: all that passed but the background."""
        background = self.background_bytes_per_s
        return {site: total - background[site] for site, total in self.total_bytes_per_s.items()}

    @property
    def dropped(self) -> int:
        """Packets that found an uplink's queue full while rows came that are measured."""
        first, last = self.steady[0], self.steady[-1]
        return sum(last.dropped[site] - count for site, count in first.dropped.items())

    @property
    def median_ms(self) -> float:
        """Median response time end to end."""
        return float(self.turn.end_to_end_ms.median())

    @property
    def p95_ms(self) -> float:
        """95th percentile of it."""
        return float(self.turn.end_to_end_ms.quantile(0.95))

    def over_time(self) -> tuple[FloatArray, FloatArray]:
        """Return moments, s after the first measured row, and the median response time of each, ms."""
        rows = self.turn.rows
        at_s = ((rows["row_ms"] - rows["row_ms"].iloc[0]) / 1000.0).to_numpy()
        window = (at_s // WINDOW_S).astype(np.int64)
        response_ms = self.turn.end_to_end_ms.to_numpy()
        found = np.unique(window)
        medians = np.array([np.median(response_ms[window == each]) for each in found])
        return (found + 0.5) * WINDOW_S, medians

    @property
    def growth_ms_per_s(self) -> float:
        """Growth of the response time in a second, ms, from the first window's median to the last's."""
        at_s, medians = self.over_time()
        if len(at_s) < 2:
            return 0.0
        # to tenths, and without a minus before nothing
        return round(float((medians[-1] - medians[0]) / (at_s[-1] - at_s[0])), 1) + 0.0


def read_tier_turns(folder: Path, sites: SiteFile) -> tuple[TierTurn, ...]:
    """Read all finished turns, by variant and repetition.

    Raises:
        replay.errors.DataError: A file is missing or malformed, or there is no finished turn.
    """
    found = []
    for turn in read_turns(folder, sites):
        own = folder / TURNS / turn.label
        found.append(
            TierTurn(
                turn,
                read_model(TiersDone, own / DONE),
                read_model(KeptUplinks, own / UPLINKS),
                None if turn.planned is None else read_model(PlannedFlows, own / FLOWS),
                costs_of(turn.places, sites),
            )
        )
    return tuple(found)
