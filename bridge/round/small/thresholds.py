"""What a gain of one topology has to exceed, and the time within which it has to pay its price."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bridge.round.small.stability import percent
from bridge.round.status import coarse
from scheduler.moving.rule import payback_s

if TYPE_CHECKING:
    from bridge.settings import MoveSettings
    from bridge.wishes.topology_settings import TopologySettings
    from scheduler.evaluation.evaluate import Evaluation
    from scheduler.model.problem import Problem

_NOTICEABLE = 0.01
"""A smaller gain that is not enough counts as none in words: noise brings it in one round and not in the
next, and Nimbus logs each change of a status."""


@dataclass(frozen=True)
class Gain:
    """What a placement gains over another one, the price of moving there included as far as it is weighed.

    Attributes:
        fraction: Of the objective, or of the response time where that is all that is weighed; negative if
            the placement is worse.
        ms: Response time saved, None unless that is all that is weighed.
        of_f: F saved.
        payback_s: Time after which it has paid the price of its moves, s; None if the weights do not say.
    """

    fraction: float
    ms: float | None
    of_f: float
    payback_s: float | None


def gain_of(problem: Problem, before: Evaluation, after: Evaluation) -> Gain:
    """Return what one placement gains over another one.

    With the response time alone the fraction is of the response time itself: F leaves out the part of it that
    no placement can avoid, so that a fraction of F would exaggerate.

    Args:
        problem: Its current placement is the one that moves are priced from.
        before: Worth of the other one.
        after: Worth of the placement.
    """
    of_f, pays = before.objective - after.objective, payback_s(problem, before, after)
    if problem.objective.weights["response_time"] == 1.0:
        saved_ms = before.response_time_ms - after.response_time_ms
        fraction = saved_ms / before.response_time_ms if before.response_time_ms > 0 else 0.0
        return Gain(fraction, saved_ms, of_f, pays)
    return Gain(of_f / before.objective if before.objective > 0 else 0.0, None, of_f, pays)


@dataclass(frozen=True)
class Thresholds:
    """The thresholds of one topology.

    Attributes:
        fraction: Least gain as a fraction.
        ms: Least gain in response time, where that is all that is weighed.
        of_f: Gain of F that has to be exceeded, in the place of both; None: they count.
        horizon_s: Time within which a move has to pay its price, s.
        horizon_key: The key that says so.
        sigmas: Standard deviations of its own noise that a gain has to be above.
    """

    fraction: float
    ms: float
    of_f: float | None
    horizon_s: float
    horizon_key: str
    sigmas: float

    @staticmethod
    def of(move: MoveSettings, own: TopologySettings) -> Thresholds:
        """Return the thresholds of a topology: its own where it states them, else the daemon's."""
        stated = own.replan_horizon_secs
        return Thresholds(
            fraction=move.min_gain,
            ms=move.min_gain_ms,
            of_f=own.replan_gain_min,
            horizon_s=move.horizon_s if stated is None else stated,
            horizon_key="move.horizon_s" if stated is None else "replan.horizon.secs",
            sigmas=move.noise_sigmas,
        )

    def why_not(self, gain: Gain, within: str = "") -> str:
        """Say why a gain is not enough, without its size, which noise changes; empty if it is.

        Args:
            gain: What the best candidate gains.
            within: The limits that all candidates keep, as they follow the word candidate; empty without any.
        """
        little = gain.of_f <= self.of_f if self.of_f is not None else gain.fraction < self.fraction
        if self._is_no_gain(gain) or (little and gain.fraction < _NOTICEABLE):
            return f"no candidate{within} is better"
        if little and self.of_f is not None:
            return f"no candidate{within} gains {self.of_f:g} of F (replan.gain.min)"
        if little:
            return f"no candidate{within} gains {percent(self.fraction)}"
        if self.of_f is None and gain.ms is not None and gain.ms < self.ms:
            return f"no candidate{within} gains {self.ms:g} ms"
        if gain.payback_s is not None and gain.payback_s >= self.horizon_s:
            late = f"pays its price after about {coarse(gain.payback_s, at_least=True)} s"
            return f"the best candidate {late}, not within {self.horizon_s:g} s ({self.horizon_key})"
        return ""

    def why_hopeless(self, problem: Problem, before: Evaluation) -> str:
        """Say why no placement at all can pass the thresholds; empty if one might.

        No placement is faster than the least response time of the problem's ranges, a proved bound, so that a
        search would be in vain. Most rounds of a cluster that runs well end here.

        Args:
            problem: The topology's problem.
            before: Worth of the running placement.
        """
        if problem.objective.weights["response_time"] != 1.0:
            return ""
        most_ms = before.response_time_ms - problem.ranges["response_time"][0]
        if self.of_f is None:
            enough = most_ms >= max(self.ms, self.fraction * before.response_time_ms)
        else:
            enough = before.objective > self.of_f
        return "" if enough else "no placement can gain enough"

    def _is_no_gain(self, gain: Gain) -> bool:
        return (gain.fraction if self.of_f is None else gain.of_f) <= 0
