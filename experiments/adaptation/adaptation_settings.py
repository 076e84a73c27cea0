"""How the scenarios run; kept in the experiment's folder, so that it goes on as it began."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, get_args

from experiments import folder
from experiments.adaptation.report.kept import Scenario
from experiments.adaptation.schedule import CHANGE_PHASES
from experiments.errors import ExperimentError
from experiments.folder_content import ADAPTATION, KIND

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import JsonValue

SCENARIOS: tuple[Scenario, ...] = get_args(Scenario)


@dataclass(frozen=True)
class AdaptationSettings:
    """How every scenario runs.

    Attributes:
        data: Taxi rows, 17 columns, CSV or CSV.gz.
        sites: Site file of the emulated wide area.
        strategy: Strategy of the scheduler stormplace.
        rate: Rows per second while the network changes.
        steady_rate: Rows per second in the other scenarios.
        calm_s: Seconds from the first paced row to the first change.
        phase_s: Seconds from one change to the next, and from the last one to the end.
        noise_min: Minutes under noise.
        stable_min: Minutes without any change.
        settle_s: Seconds before each scenario in which the network rests and coordinates converge.
        seed: Seed of the noise.
    """

    data: Path
    sites: Path
    strategy: str
    rate: float
    steady_rate: float
    calm_s: float
    phase_s: float
    noise_min: float
    stable_min: float
    settle_s: float
    seed: int

    def duration_s(self, scenario: Scenario) -> float:
        """Return for how long paced rows are fed, s."""
        durations_s: dict[Scenario, float] = {
            "changes": self.calm_s + CHANGE_PHASES * self.phase_s,
            "noise": self.noise_min * 60.0,
            "stable": self.stable_min * 60.0,
        }
        return durations_s[scenario]

    def rate_of(self, scenario: Scenario) -> float:
        """Return the rows per second of a scenario."""
        return self.rate if scenario == "changes" else self.steady_rate

    def paced_rows(self, scenario: Scenario) -> int:
        """Return the rows at that rate."""
        return math.ceil(self.duration_s(scenario) * self.rate_of(scenario))

    def fast_rows(self, scenario: Scenario, rows: int) -> int:
        """Return how many of the file's rows are fed fast.

        Raises:
            ExperimentError: The file has too few rows.
        """
        paced = self.paced_rows(scenario)
        if paced > rows:
            raise ExperimentError(
                f"{_DURATION[scenario]}: scenario {scenario}: {self.duration_s(scenario):g} s at "
                f"{self.rate_of(scenario):g} rows/s are {paced} rows, more than the {rows} of {self.data}"
            )
        return rows - paced

    def document(self) -> dict[str, JsonValue]:
        """Return what must stay the same within a folder, as JSON values."""
        return {KIND: ADAPTATION} | folder.kept_settings(self)


_DURATION: dict[Scenario, str] = {
    "changes": "--calm-s, --phase-s",
    "noise": "--noise-min",
    "stable": "--stable-min",
}


def scenarios(only: str | None) -> tuple[Scenario, ...]:
    """Return the scenarios that a comma-separated list names, all without one.

    Raises:
        ExperimentError: An unknown name, or one that is named twice.
    """
    names = SCENARIOS if only is None else folder.chosen("--only", only, SCENARIOS)
    return tuple(scenario for scenario in SCENARIOS if scenario in names)
