"""Reasons for which a policy does less than it would; they come again with each decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from scheduler.elasticity.layers.one_pool.parameters import topology_of

if TYPE_CHECKING:
    from provisioning.loop.report import Report
    from scheduler.elasticity.leasing.decision import Verdict

Key: TypeAlias = "tuple[str, Verdict, str, str]"
"""Mode, kind, what the reason is about, and its cause."""
_KINDS: tuple[Verdict, ...] = ("held", "limited")
_DECISIONS = 2.0
"""A reason is over that has not come again in so many times in which executors are decided on. One for which
something is held is worth a line if it lasts longer: readings are held for a while after each change."""


@dataclass
class _Seen:
    since_s: float
    last_s: float
    begun: bool = False


@dataclass
class LastingReasons:
    """What is in the way of a policy.

    A reason is known again by what it is about: the figures in it change from round to round.
    """

    _seen: dict[Key, _Seen] = field(default_factory=dict)

    def taken(self, mode: str, report: Report) -> tuple[dict[Key, str], list[Key]]:
        """Return which reasons begin with a round, and which are over.

        Args:
            mode: Of the loop.
            report: Of the round.
        """
        if report.decision is None or report.asked is None:
            return {}, []
        now_s, begun = report.now_s, dict[Key, str]()
        lasts_s = _DECISIONS * report.asked.parameters.decide_interval_s
        for each in report.decision.reasons:
            if each.verdict not in _KINDS or topology_of(each.about) in report.asked.left_out:
                continue
            key = (mode, each.verdict, each.about, each.cause)
            seen = self._seen.setdefault(key, _Seen(now_s, now_s))
            seen.last_s = now_s
            if not seen.begun and (each.verdict != "held" or abs(now_s - seen.since_s) > lasts_s):
                seen.begun, begun[key] = True, each.why
        gone = [
            key for key, seen in self._seen.items() if key[0] == mode and abs(now_s - seen.last_s) > lasts_s
        ]
        over = [key for key in gone if self._seen[key].begun]
        for key in gone:
            del self._seen[key]
        return begun, over
