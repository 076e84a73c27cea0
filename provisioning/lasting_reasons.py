"""Reasons for which a policy does less than it would; they come again with each decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from provisioning.loop.report import Report
    from scheduler.elasticity.leasing.decision import Verdict

Key: TypeAlias = "tuple[str, Verdict, str]"
"""Mode, kind, and what the reason is about."""
_KINDS: tuple[Verdict, ...] = ("held", "limited")
_DECISIONS = 2.0
"""A reason is over that has not come again in so many times in which executors are decided on."""


@dataclass
class LastingReasons:
    """What is in the way of a policy.

    A reason is known again by what it is about: the figures in it change from round to round.
    """

    _last_s: dict[Key, float] = field(default_factory=dict)

    def taken(self, mode: str, report: Report) -> tuple[dict[Key, str], list[Key]]:
        """Return which reasons begin with a round, and which are over.

        Args:
            mode: Of the loop.
            report: Of the round.
        """
        if report.decision is None or report.asked is None:
            return {}, []
        now_s, begun = report.now_s, dict[Key, str]()
        for each in report.decision.reasons:
            if each.verdict in _KINDS:
                key = (mode, each.verdict, each.about)
                if key not in self._last_s:
                    begun[key] = each.why
                self._last_s[key] = now_s
        lasts_s = _DECISIONS * report.asked.parameters.decide_interval_s
        over = [
            key for key, last_s in self._last_s.items() if key[0] == mode and abs(now_s - last_s) > lasts_s
        ]
        for key in over:
            del self._last_s[key]
        return begun, over
