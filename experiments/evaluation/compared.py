"""Who places the executors in the runs that an evaluation compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.errors import ExperimentError

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName

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
