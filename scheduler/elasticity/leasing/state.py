"""What policies of executors and hosts remember between rounds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class LeasingState:
    """Memory of a policy; empty at its first start.

    Attributes:
        scalings: o_s, executors of each component started and stopped so far to change its number.
        changed_s: When a component's executors last changed or moved, s; older readings do not count.
        grown_s: When a component last got an executor more, s.
        leased_s: When a host was last asked for, s; None: never.
        looked_at_s: When components were last looked at for growing or shrinking, s; None: never.
        settled: Hosts whose next end of paid time has been decided on, with that end, s.
        requests: How many hosts have been asked for; numbers the requests.
    """

    scalings: Mapping[str, int] = field(default_factory=dict)
    changed_s: Mapping[str, float] = field(default_factory=dict)
    grown_s: Mapping[str, float] = field(default_factory=dict)
    leased_s: float | None = None
    looked_at_s: float | None = None
    settled: Mapping[str, float] = field(default_factory=dict)
    requests: int = 0

    def due(self, now_s: float, interval_s: float) -> bool:
        """Return whether components are to be looked at again; also after the clock was set back."""
        if self.looked_at_s is None:
            return True
        return not 0.0 <= now_s - self.looked_at_s < interval_s
