"""What an evaluation runs, as the command line states it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.topologies.taxi_query import Query
    from lab.storm_config import SchedulerName

_SHARE = 10
_MOST = 1_000

OURS: SchedulerName = "stormplace"

STORMS_OWN: dict[SchedulerName, str] = {
    "even": "Storm's even scheduler: executors dealt out over the workers in turn, blind to delays",
    "default": "Storm's default scheduler: the even one for topologies that ask for more workers",
    "ras": "Storm's resource-aware scheduler, with each site as a rack",
}


@dataclass(frozen=True)
class Variant:
    """Who places the executors in one run.

    Attributes:
        scheduler: Storm's scheduler, as `stormplace lab scheduler` takes it.
        strategy: Strategy of ours; None: as the daemon does by itself, and for Storm's own schedulers.
    """

    scheduler: SchedulerName
    strategy: str | None = None

    @property
    def name(self) -> str:
        """Name of its run."""
        return self.scheduler if self.strategy is None else f"{self.scheduler}-{self.strategy}"

    @property
    def description(self) -> str:
        """In one sentence."""
        if self.scheduler in STORMS_OWN:
            return STORMS_OWN[self.scheduler]
        strategy = "the daemon's default strategy" if self.strategy is None else f"strategy {self.strategy}"
        return f"Stormplace, {strategy}, on measured delays; source and last components pinned to Redis' site"


@dataclass(frozen=True)
class Feeding:
    """How rows are sent.

    Attributes:
        rate: Rows per second of the last `paced_rows`, which follow all others; None: at `speed`.
        paced_rows: Rows at that rate.
        speed: Multiple of the speed at which the trips ended, for all rows but the first; None: at `rate`.
    """

    rate: float | None
    paced_rows: int
    speed: float | None

    def fast_rows(self, rows: int) -> int:
        """Return how many of so many rows go first, as fast as they are consumed, and are not measured.

        At a speed a tenth, at most 1,000: else the first rows would wait until the topology has started.
        """
        return rows - self.paced_rows if self.speed is None else min(rows // _SHARE, _MOST)


@dataclass(frozen=True)
class EvaluationSettings:
    """What an evaluation runs.

    Attributes:
        data: File of rows, of any known format, or a trips table.
        minutes: Minutes of made-up rows instead of `data`; None: `data`.
        seed: Seed of the made-up rows.
        query: What the topology answers.
        variants: Who places the executors, run by run.
        sites: Site file of the lab.
        feeding: How rows are sent.
        out: Folder that receives the folder of this evaluation.
        command: The command line, for the report.
    """

    data: Path
    minutes: int | None
    seed: int
    query: Query
    variants: tuple[Variant, ...]
    sites: Path
    feeding: Feeding
    out: Path
    command: str


def read_variants(text: str) -> tuple[Variant, ...]:
    """Read `--strategies`: names of schedulers, and `stormplace:STRATEGY`.

    Raises:
        ExperimentError: One is unknown or given twice.
    """
    from scheduler.registry import STRATEGIES  # noqa: PLC0415  # heavy imports only for this command

    found: list[Variant] = []
    for part in text.split(","):
        name, colon, strategy = part.strip().partition(":")
        scheduler = next((known for known in (*STORMS_OWN, OURS) if known == name), None)
        if scheduler is None or (colon and scheduler != OURS):
            known_names = ", ".join((*STORMS_OWN, OURS))
            raise ExperimentError(
                f"--strategies: {part.strip()!r} is not one of {known_names} and stormplace:STRATEGY"
            )
        if colon and strategy not in STRATEGIES:
            raise ExperimentError(f"--strategies: {strategy!r} is not one of {', '.join(STRATEGIES)}")
        variant = Variant(scheduler, strategy or None)
        if variant in found:
            raise ExperimentError(f"--strategies: {part.strip()} is named twice")
        found.append(variant)
    return tuple(found)


def read_feeding(rate: float | None, paced_rows: int | None, speed: float | None) -> Feeding:
    """Read `--rate`, `--paced-rows` and `--speed`.

    Raises:
        ExperimentError: A number is not finite, or `--speed` is given beside one of the others.
    """
    for option, value in (("--rate", rate), ("--speed", speed)):
        if value is not None and not math.isfinite(value):
            raise ExperimentError(f"{option}: {value} is not a finite number")
    if speed is not None:
        if rate is not None or paced_rows is not None:
            raise ExperimentError("--speed: it is for all rows, so --rate and --paced-rows do not go with it")
        return Feeding(None, 0, speed)
    return Feeding(10.0 if rate is None else rate, 300 if paced_rows is None else paced_rows, None)
