"""What the experiment runs, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments import folder

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName


@dataclass(frozen=True)
class Variant:
    """One way to place the application.

    Attributes:
        name: As `--only` and the report call it.
        scheduler: The cluster's scheduler.
        frozen: Whether what runs stays where it is.
        drains: Whether the fog is emptied and given back, with all hosts there from the start.
    """

    name: str
    scheduler: SchedulerName
    frozen: bool = False
    drains: bool = False

    @property
    def ours(self) -> bool:
        """Whether Stormplace places it."""
        return self.scheduler == "stormplace"

    @property
    def moves(self) -> bool:
        """Whether what runs may move; Storm's own schedulers move nothing that runs."""
        return self.ours and not self.frozen


STATIC, DYNAMIC = Variant("static", "stormplace", frozen=True), Variant("dynamic", "stormplace")
DRAIN = Variant("drain", "stormplace", drains=True)
VARIANTS = (STATIC, DYNAMIC, Variant("even", "even"), Variant("ras", "ras"), DRAIN)


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
    """Return the turns in their order.

    Ours and Storm's own take turns at being first, and so do the variants of each. A daemon that has just
    started has not measured yet what a restart takes: so Dynamic comes after another turn of ours, and the
    drain, once, after the last of them.

    Args:
        only: Comma-separated names of variants; None: all.
        repetitions: Turns of each variant but the drain.

    Raises:
        ExperimentError: An unknown name, or one that is named twice.
    """
    known = [variant.name for variant in VARIANTS]
    names = known if only is None else folder.chosen("--only", only, known)
    order: list[VariantTurn] = []
    for repetition in range(1, repetitions + 1):
        ours = [STATIC, DYNAMIC] if repetition % 4 in {1, 2} else [DYNAMIC, STATIC]
        storms = [each for each in VARIANTS if not each.ours]
        block = [*storms[::-1], *ours] if repetition % 2 == 0 else [*ours, *storms]
        order += [VariantTurn(each, repetition) for each in block]
    last = max(place for place, turn in enumerate(order) if turn.variant.ours)
    order.insert(last + 1, VariantTurn(DRAIN, 1))
    return tuple(turn for turn in order if turn.variant.name in names)
