"""What the turns of each variant come to."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from replay.analysis.breakdown import Parts, parts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.response_time.report.turns import TurnData
    from scheduler.base.arrays import FloatArray

PAPER_MEAN_MS: Mapping[str, float] = {
    **dict.fromkeys(("odp", "hierarchical", "odp-ps", "res-odp"), 55.0),
    "greedy-no-penalty": 159.0,
}
"""Mean response times that paper 000 states in section 7.5."""

PAPER_SAME_SITES = ("greedy", "local-search", "tabu-search")
"""Of these it says that they use the data centres of the optimum, and gives no figure."""


@dataclass(frozen=True)
class VariantSummary:
    """All turns of one variant.

    Attributes:
        name: The variant.
        turns: Its turns by repetition, at least one.
    """

    name: str
    turns: tuple[TurnData, ...]

    @cached_property
    def end_to_end_ms(self) -> FloatArray:
        """Response times of all measured rows of all turns, ms."""
        return np.concatenate([turn.end_to_end_ms.to_numpy() for turn in self.turns])

    @property
    def median_ms(self) -> float:
        """Median end to end."""
        return float(np.median(self.end_to_end_ms))

    @property
    def in_topology_median_ms(self) -> float:
        """Median from the source to globalRank."""
        return float(np.median(np.concatenate([turn.in_topology_ms for turn in self.turns])))

    @property
    def mean_ms(self) -> float:
        """Mean end to end."""
        return float(np.mean(self.end_to_end_ms))

    @property
    def p95_ms(self) -> float:
        """95th percentile end to end."""
        return float(np.percentile(self.end_to_end_ms, 95))

    @property
    def medians_ms(self) -> tuple[float, ...]:
        """Median end to end of each turn."""
        return tuple(float(turn.end_to_end_ms.median()) for turn in self.turns)

    @property
    def predicted_ms(self) -> tuple[float, ...]:
        """Predicted response time end to end of each turn."""
        return tuple(turn.prediction.end_to_end_ms for turn in self.turns)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Measured median / predicted, end to end, of each turn."""
        return tuple(
            median / predicted for median, predicted in zip(self.medians_ms, self.predicted_ms, strict=True)
        )

    @property
    def parts(self) -> Parts:
        """Where the time goes, mean over the turns."""
        each = [asdict(parts(turn.legs)) for turn in self.turns]
        return Parts(**{part: float(np.mean([one[part] for one in each])) for part in each[0]})

    def distinct(self) -> tuple[TurnData, ...]:
        """Return one turn for each placement that occurs."""
        found: dict[tuple[tuple[str, str], ...], TurnData] = {}
        for turn in self.turns:
            found.setdefault(tuple(sorted(turn.hosts.items())), turn)
        return tuple(found.values())


def summarise(turns: Sequence[TurnData]) -> tuple[VariantSummary, ...]:
    """Group turns by variant, the shortest median first."""
    names = sorted({turn.done.variant for turn in turns})
    found = [
        VariantSummary(name, tuple(turn for turn in turns if turn.done.variant == name)) for name in names
    ]
    return tuple(sorted(found, key=lambda each: (each.median_ms, each.name)))
