"""The counts of a rates collector at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class CollectorFigures:
    """A collector's counts since its start, and how it stands.

    Attributes:
        answered_looks: Looks at Nimbus that came to their end.
        failed_looks: Those that it did not answer.
        readings: Readings that were handed over to be published.
        faults: Executors with unusable statistics, over all looks, by kind of fault.
        topology_faults: Looks at one topology that brought nothing while Nimbus answered, by kind of fault.
        missing: Topology -> executors without statistics in the last look; NaN if none has any.
        age_s: Topology -> time since its last reading, s; NaN before the first.
    """

    answered_looks: int
    failed_looks: int
    readings: int
    faults: Mapping[str, int]
    topology_faults: Mapping[str, int]
    missing: Mapping[str, float]
    age_s: Mapping[str, float]
