"""Estimates the probability that this host is up and reachable from the agent's own past.

The estimate is the mean of a Beta distribution: `(good + prior good) / (all + prior all)`, in seconds
(with forgetting as in A. Josang, R. Ismail, "The beta reputation system", Bled eConference 2002). Time
counts as bad when the agent did not run (a crash, a frozen machine) and when none of its probes came back
although there were peers to answer: one silent peer is that peer's trouble, all of them silent is ours. Old
time fades: after one horizon it weighs 1/e. Outages are counted too, and their number fades alike: many short
ones and one long one may take the same time, and are not the same trouble.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

HORIZON_S = 86_400.0
"""Time after which an observed second weighs 1/e of a new one."""

PRIOR = 0.999
"""Availability of a host that nothing is known about."""

_PRIOR_WEIGHT_S = 3_600.0
"""Observed seconds that weigh as much as the prior."""

_SILENCE_S = 10.0
"""Time without any answer, while probes are sent, after which the host counts as cut off."""

_GAP_S = 30.0
"""Longest step between two looks that is not a standstill of the agent."""


@dataclass(frozen=True, slots=True)
class History:
    """Faded past; what survives a restart of the agent.

    Attributes:
        good_s: Good seconds.
        bad_s: Bad seconds.
        outages: Number of outages.
        since_outage_s: Time since the last one ended, s; None if there was none.
    """

    good_s: float = 0.0
    bad_s: float = 0.0
    outages: float = 0.0
    since_outage_s: float | None = None

    def fade(self, passed_s: float) -> History:
        """Age the history by `passed_s` seconds."""
        kept = math.exp(-passed_s / HORIZON_S)
        since_s = None if self.since_outage_s is None else self.since_outage_s + passed_s
        return History(self.good_s * kept, self.bad_s * kept, self.outages * kept, since_s)

    def with_outage(self) -> History:
        """Count one more outage, which goes on."""
        return replace(self, outages=self.outages + 1, since_outage_s=0.0)


class Availability:
    """Running estimate; all times in s of one clock that does not go back.

    Args:
        now_s: Time of the start.
        history: Seconds seen before a restart.
    """

    def __init__(self, now_s: float, history: History | None = None) -> None:
        self._history = history or History()
        self._looked_s = now_s
        self._quiet_since_s = now_s
        self._probed = False
        self._out = False

    @property
    def history(self) -> History:
        """The seconds seen so far."""
        return self._history

    def note_probe(self, now_s: float) -> None:
        """Note that a probe left; the silence of peers counts from the first unanswered one."""
        if not self._probed:
            self._probed = True
            self._quiet_since_s = now_s

    def note_answer(self, now_s: float) -> None:
        """Note that an answer of any peer came."""
        self._probed = False
        self._quiet_since_s = now_s

    def alone(self) -> None:
        """Note that there is no peer left to ask: silence says nothing then."""
        self._probed = False

    def look(self, now_s: float, *, others_silent: bool = True) -> float:
        """Account for the time since the last look and return the availability, 0 to 1.

        Args:
            now_s: Time of the look, s.
            others_silent: Whether each peer of the present round left its last probe without an answer. In
                a site that is cut off as a whole neighbours still answer, though not in every ten seconds.
        """
        passed_s = max(0.0, now_s - self._looked_s)
        self._looked_s = now_s
        if passed_s > _GAP_S:  # no answer could come, nor one go, while we stood still
            self._probed = False
            bad = True
        else:
            silent = self._probed and now_s - self._quiet_since_s > _SILENCE_S
            bad = silent and (others_silent or self._out)  # an outage ends with an answer
        history = add_time(self._history, passed_s, bad=bad)
        if bad:
            history = replace(history, since_outage_s=0.0) if self._out else history.with_outage()
        self._out = bad
        self._history = history
        return self.estimate()

    @property
    def out(self) -> bool:
        """Whether the last look found this host cut off or just back from a standstill."""
        return self._out

    def estimate(self) -> float:
        """Return the mean of the Beta distribution, 0 to 1."""
        return estimate(self._history)


def estimate(history: History) -> float:
    """Return the mean of the Beta distribution after some seconds were seen, 0 to 1."""
    good_s = history.good_s + PRIOR * _PRIOR_WEIGHT_S
    return good_s / (history.good_s + history.bad_s + _PRIOR_WEIGHT_S)


def add_time(history: History, passed_s: float, *, bad: bool) -> History:
    """Add `passed_s` seconds that were all good or all bad; they fade while they pass."""
    faded = history.fade(passed_s)
    weight_s = HORIZON_S * (1 - math.exp(-passed_s / HORIZON_S))
    if bad:
        return replace(faded, bad_s=faded.bad_s + weight_s)
    return replace(faded, good_s=faded.good_s + weight_s)
