"""What a region manager is told, and what it asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.base.checks import ModelError, name, number, whole_number

if TYPE_CHECKING:
    from scheduler.elasticity.managers import RequestVerdict


@dataclass(frozen=True)
class RegionReport:
    """What was counted and measured of a site's hosts in an interval.

    Attributes:
        region: Name of the site.
        from_s: Begin of the interval, s.
        until_s: Its end, s.
        ready: Hosts that are up (>= 0).
        booting: Hosts that are not up yet (>= 0).
        idle: Of those that are up, how many run no executor (<= ready).
        utilisation: u, mean share of time in which the executors there were busy, in [0, 1].
        unmet: M_r, requests of the interval for which there was no place (>= 0).
    """

    region: str
    from_s: float
    until_s: float
    ready: int
    booting: int
    idle: int
    utilisation: float
    unmet: int

    def __post_init__(self) -> None:
        name("region", self.region)
        number("from_s", self.from_s)
        number("until_s", self.until_s, above=self.from_s)
        for each in ("ready", "booting", "idle", "unmet"):
            whole_number(each, getattr(self, each), 0)
        if self.idle > self.ready:
            raise ModelError("idle", f"expected at most ready ({self.ready}), got {self.idle}")
        number("utilisation", self.utilisation, most=1.0)

    @property
    def active(self) -> int:
        """k: hosts that are up or booting."""
        return self.ready + self.booting


@dataclass(frozen=True)
class RegionObservation:
    """What is known at the time of a decision.

    Attributes:
        now_s: Time of the decision, s.
        sample: The last report; None: there was none, which is not a site without hosts.
        changed_s: When hosts of the site last came or went, s; None: never.
    """

    now_s: float
    sample: RegionReport | None
    changed_s: float | None = None


@dataclass(frozen=True)
class RegionRequest:
    """A host more, some less, or none.

    Attributes:
        region: Whose; empty if nothing is known of it.
        action: +1, -n or 0; other than 0 only if the verdict is "asked".
        verdict: Kind of the request.
        why: One sentence.
        score: Cost to come of the action; 0 for managers that know none.
        score_stay: Cost to come of changing nothing.
    """

    region: str
    action: int
    verdict: RequestVerdict
    why: str
    score: float = 0.0
    score_stay: float = 0.0
