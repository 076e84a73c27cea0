"""What the end-of-data marker carries through the topology: rows, what became of them, what is missing."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from topologies.taxi.progress import LostNumbers

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of a whole run.

    Attributes:
        rows: Rows that the feeder wrote.
        passed: Rows that passed the filter; each has one result.
        rejected: Rows turned away, by reason.
        lost: Sequence numbers that never reached a component, by component.
        began: First row that a component saw, by component, where it was not the run's first.
    """

    rows: int
    passed: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, LostNumbers] = field(default_factory=dict)
    began: Mapping[str, int] = field(default_factory=dict)

    def with_lost(self, component: str, lost: LostNumbers) -> Totals:
        """Return the same with what a component missed; nothing missed changes nothing."""
        return replace(self, lost={**self.lost, component: lost}) if lost.count else self

    def with_began(self, component: str, row: int) -> Totals:
        """Return the same with the row at which a component began; 0, the run's first, changes nothing."""
        return replace(self, began={**self.began, component: row}) if row else self

    @property
    def rejected_rows(self) -> int:
        """Rows turned away for any reason."""
        return sum(self.rejected.values())

    def lost_document(self) -> dict[str, dict[str, object]]:
        """Return `lost` as plain JSON values: `{component: {"count": n, "ranges": [[first, last], ...]}}`."""
        return {
            component: {"count": lost.count, "ranges": [list(pair) for pair in lost.ranges]}
            for component, lost in self.lost.items()
        }

    def encode(self) -> str:
        """Return the totals as one string (tuples hold flat values only)."""
        document = {
            "rows": self.rows,
            "passed": self.passed,
            "rejected": dict(self.rejected),
            "lost": self.lost_document(),
            "began": dict(self.began),
        }
        return json.dumps(document, separators=(",", ":"))

    @classmethod
    def decode(cls, text: str) -> Totals:
        """Return the totals of an encoded string.

        Raises:
            ValueError: The string was not made by `encode`.
        """
        document = json.loads(text)
        lost = {
            component: LostNumbers(entry["count"], tuple((first, last) for first, last in entry["ranges"]))
            for component, entry in document["lost"].items()
        }
        return cls(document["rows"], document["passed"], document["rejected"], lost, document["began"])
