"""What the experiment compares, and in which order it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments import folder

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName


@dataclass(frozen=True)
class Variant:
    """One way to place the query.

    Attributes:
        name: As `--only` and the report call it.
        scheduler: The cluster's scheduler.
        strategy: Strategy of the scheduler stormplace; None for Storm's own.
        overload: Whether rows come at the rate at which they do not fit through the uplink as they are.
        stated: Whether the settings of the placement daemon state bandwidths.
    """

    name: str
    scheduler: SchedulerName
    strategy: str | None = None
    overload: bool = False
    stated: bool = True


GREEDY = Variant("cloud-greedy", "stormplace", "cloud-greedy")
OURS = Variant("inop-search", "stormplace", "inop-search")
BLIND = Variant("overload-blind", "stormplace", "inop-search", overload=True, stated=False)
HEEDING = Variant("overload-heeding", "stormplace", "inop-search", overload=True)
VARIANTS = (
    GREEDY,
    Variant("inop-comb-2", "stormplace", "inop-comb-2"),
    OURS,
    BLIND,
    HEEDING,
    # last, as Nimbus is started anew for it
    Variant("ras", "ras"),
)


@dataclass(frozen=True)
class VariantTurn:
    """One variant in one repetition."""

    variant: Variant
    repetition: int

    @property
    def label(self) -> str:
        """Name of the turn, of its folder and of its run in Redis."""
        return f"{self.variant.name}-{self.repetition}"


def turns(only: str | None, repetitions: int) -> tuple[VariantTurn, ...]:
    """Return the turns in their order: variant by variant, and all of them again in each repetition.

    Args:
        only: Comma-separated names of variants; None: all.
        repetitions: Turns of each.

    Raises:
        ExperimentError: An unknown name, or one that is named twice.
    """
    known = [variant.name for variant in VARIANTS]
    names = known if only is None else folder.chosen("--only", only, known)
    return tuple(
        VariantTurn(variant, repetition)
        for repetition in range(1, repetitions + 1)
        for variant in VARIANTS
        if variant.name in names
    )
