"""A round of the policy by billing units: its readings, and the scores that follow from them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.host_score import fits, host_score
from scheduler.elasticity.leasing.removal_score import KEEP, removal_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.btu_parameters import BtuParameters
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.observation import ComponentReading
    from scheduler.elasticity.leasing.state import LeasingState


@dataclass(frozen=True)
class Situation:
    """What a round decides on.

    Attributes:
        now_s: Time of the decision, s.
        readings: Those that count, by component.
        state: Memory from before the round.
        parameters: Of the policy.
    """

    now_s: float
    readings: Mapping[str, ComponentReading]
    state: LeasingState
    parameters: BtuParameters

    def durations_ms(self, component: str) -> tuple[float, ...]:
        """Return the last N durations, the oldest first, ms; empty if they are unknown."""
        reading = self.readings.get(component)
        return () if reading is None else reading.durations_ms[-self.parameters.observations :]

    def queued(self, component: str) -> float:
        """Return o_queue of a component with a reading that counts."""
        return self.readings[component].queued(self.parameters.queue_reading)

    def host_score(self, host: Host, component: Component) -> float:
        """Return the score of Algorithm 2."""
        return host_score(host, component, self.parameters.by_name, self.parameters.cached_factor)

    def fits(self, host: Host, component: Component) -> float:
        """Return how many more executors a host could take."""
        return fits(host, component, self.parameters.by_name)

    def removal_score(self, draft: Draft, component: Component) -> float:
        """Return the score of Algorithm 3 in a draft; `KEEP` if the component is held, or has just grown."""
        name, parameters = component.name, self.parameters
        durations = self.durations_ms(name)
        grown_s = self.state.grown_s.get(name, -math.inf)
        if not durations or name in draft.grown or 0.0 <= self.now_s - grown_s < parameters.cooldown_s:
            return KEEP
        return removal_score(
            component,
            {each: draft.executors(each) for each in parameters.by_name},
            draft.scalings,
            durations[-1] / component.slo_ms * (1.0 + parameters.penalty),
            empty_queue=self.queued(name) < parameters.queue_down,
            weights=parameters.weights,
        )

    def most_removable(self, draft: Draft) -> tuple[Component, ...]:
        """Return the components that may lose an executor, the most suitable first."""
        scores = {each.name: self.removal_score(draft, each) for each in self.parameters.components}
        may_go = [each for each in self.parameters.components if scores[each.name] > 0.0]
        return tuple(sorted(may_go, key=lambda each: -scores[each.name]))

    def drops_left(self, draft: Draft, component: Component, before: int) -> int:
        """Return how many executors a plan may still take away.

        Args:
            draft: As far as the plan is made.
            component: Whose executors.
            before: How many there were when the plan began.
        """
        # what is a whole number but for rounding counts as one
        cap = max(1, math.floor(self.parameters.drop_share_max * before + 1e-9))
        left = draft.executors(component.name)
        return max(0, min(cap - (before - left), left - component.least))
