"""The baseline of paper 003: components grow and shrink by the length of their queues, hosts by need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from scheduler.base.checks import number
from scheduler.elasticity.leasing.believed import believed
from scheduler.elasticity.leasing.decision import LeasingDecision
from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.leasing.growing import Growing, Room
from scheduler.elasticity.leasing.host_score import NO_ROOM, host_score
from scheduler.elasticity.leasing.parameters import LeasingParameters
from scheduler.elasticity.leasing.remembering import remembered

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.state import LeasingState


@dataclass(frozen=True, kw_only=True)
class ThresholdParameters(LeasingParameters):
    """Parameters of the baseline; defaults are those of paper 003.

    Attributes:
        queue_double: Items above which a component gets two executors (>= queue_up).
    """

    queue_double: float = 250.0

    def __post_init__(self) -> None:
        super().__post_init__()
        number("queue_double", self.queue_double, least=self.queue_up)

    def wanted(self, queued: float, executors: int, least: int = 1) -> int:
        """Return by how many executors a component changes.

        Args:
            queued: o_queue, items.
            executors: o_#.
            least: Executors that it never falls below.
        """
        if queued > self.queue_double:
            return 2
        if queued > self.queue_up:
            return 1
        return -1 if queued < self.queue_down and executors > least else 0


def decide(
    observation: Observation,
    state: LeasingState,
    parameters: ThresholdParameters,
    seed: int,
) -> tuple[LeasingDecision, LeasingState]:
    """Decide a round, without a look at billing units: an empty host goes at once.

    Args:
        observation: What is known now.
        state: What the last round returned.
        parameters: Of the policy.
        seed: Without effect: nothing is drawn.

    Raises:
        ModelError: The observation names a component that the parameters do not.
    """
    del seed
    observation.check_names(parameters.components)
    readings, held = believed(observation, state, parameters)
    hosts = {each.name: each for each in observation.hosts}
    draft = Draft(hosts, dict(state.scalings), LeasingDecision(reasons=held))
    if not state.due(observation.now_s, parameters.decide_interval_s):
        return draft.decision, state
    growing = Growing(observation.now_s, state, parameters, partial(_first_fit, parameters))
    for component in parameters.components:
        if component.name not in readings:
            continue
        queued = readings[component.name].queued(parameters.queue_reading)
        change = parameters.wanted(queued, draft.executors(component.name), component.least)
        for _ in range(change):
            draft = growing.by_one(draft, component, f"{queued:g} items are queued")
        if change < 0:
            draft = _shrunk(draft, component, parameters)
    draft = _without_empty_hosts(draft, observation.now_s, parameters)
    return draft.decision, remembered(state, draft, observation.now_s, looked=True)


def _first_fit(parameters: LeasingParameters, draft: Draft, component: Component) -> Room | None:
    """Return the oldest lease with room, which the paper leaves open."""
    for host in draft.hosts.values():
        score = host_score(host, component, parameters.by_name, 1.0)
        if host.status != "leaving" and score != NO_ROOM:
            return Room(draft, host.name)
    return None


def _shrunk(draft: Draft, component: Component, parameters: LeasingParameters) -> Draft:
    """Stop the executor on the host with most free memory, so that emptier hosts become empty."""
    homes = [each for each in draft.hosts.values() if each.count(component.name) and each.status != "leaving"]
    if not homes:
        return draft
    home = max(homes, key=lambda each: each.free_memory_mb(parameters.by_name))
    draft = draft.stopped(component.name, home.name)
    return draft.because("shrunk", component.name, "its queue is empty")


def _without_empty_hosts(draft: Draft, now_s: float, parameters: LeasingParameters) -> Draft:
    for host in list(draft.hosts.values()):
        staying = sum(each.status == "ready" for each in draft.hosts.values())
        empty = host.status == "ready" and not any(host.executors.values())
        if empty and staying > parameters.hosts_min:
            draft = draft.released(host.name, now_s).because("released", host.name, "no executor runs there")
    return draft
