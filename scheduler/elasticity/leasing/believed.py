"""Which readings count: none that is too old, and none from before the last change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.decision import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.observation import ComponentReading, Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters
    from scheduler.elasticity.leasing.state import LeasingState


def believed(
    observation: Observation, state: LeasingState, parameters: LeasingParameters
) -> tuple[Mapping[str, ComponentReading], tuple[Reason, ...]]:
    """Return the readings that count by component, and why the other components are held.

    A reading from before a change shows the load on executors that are gone, or the pause of the change
    itself; a policy that acts on it answers its own changes. A change that is yet to come was made before the
    clock was set back, and says nothing.
    """
    readings = {each.component: each for each in observation.readings}
    counting: dict[str, ComponentReading] = {}
    held: list[Reason] = []
    for component in (each.name for each in parameters.components):
        reading = readings.get(component)
        if reading is None:
            held.append(Reason("held", component, "there is no reading"))
            continue
        changed_s = state.changed_s.get(component)
        if reading.age_s > parameters.sample_age_max_s:
            limit = f"the limit is {parameters.sample_age_max_s:g} s"
            held.append(Reason("held", component, f"the reading is {reading.age_s:g} s old, {limit}"))
        elif changed_s is not None and observation.now_s - reading.age_s <= changed_s <= observation.now_s:
            held.append(Reason("held", component, "the reading is from before the last change"))
        else:
            counting[component] = reading
    return counting, tuple(held)
