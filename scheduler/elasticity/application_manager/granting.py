"""Grants requests that do not compete, within what may be changed per hour (paper 004, section 7.3)."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from scheduler.base.checks import number, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.application_manager.asking import ApplicationObservation, Asked
    from scheduler.elasticity.application_manager.bucket import Bucket

GrantStatus = Literal["granted", "conflict", "no-slot", "budget", "cool-down", "frozen"]
"""Of a request; "conflict": others of this round took the last places, "no-slot": there was none."""

GrantOrder = Literal["load", "gain"]
"""Who comes first: those that are later in proportion to their bound, or whose managers expect more of it."""


@dataclass(frozen=True, kw_only=True)
class ApplicationParameters:
    """What may be changed.

    Attributes:
        order: Who comes first.
        reconfigurations: How often the topology is changed; one change has all components that are granted.
            None: no limit (the paper).
        pauses: How many seconds of pause are spent; None: no limit (the paper).
        cooldown_s: For so long after a change a component is not changed again, s (>= 0).
    """

    order: GrantOrder = "load"
    reconfigurations: Bucket | None = None
    pauses: Bucket | None = None
    cooldown_s: float = 0.0

    def __post_init__(self) -> None:
        one_of("order", self.order, get_args(GrantOrder))
        number("cooldown_s", self.cooldown_s)
        if self.reconfigurations is not None:
            number("reconfigurations.most", self.reconfigurations.most, least=1.0)


@dataclass(frozen=True)
class ApplicationState:
    """Memory of the manager.

    Attributes:
        at_s: Time of the last round, s.
        reconfigurations: What was left of them then; None: nothing was spent yet.
        pauses: What was left of them then, s; None: nothing was spent yet.
        changed_s: When a change of each component was last granted, s.
    """

    at_s: float = 0.0
    reconfigurations: float | None = None
    pauses: float | None = None
    changed_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Grant:
    """The answer to a request.

    Attributes:
        component: Whose.
        action: What is granted of it; 0 if nothing is.
        status: Whether it is granted, or why not; "granted" also if there is a place for some of it only.
    """

    component: str
    action: int
    status: GrantStatus


@dataclass(frozen=True)
class ApplicationDecision:
    """The outcome of a round; all that is granted is one change of the topology.

    Attributes:
        grants: One per request, in the order in which they were judged.
        unmet: M_r by region: executors that were asked for and found no place.
        pause_s: Of the change: the longest of its parts, s.
    """

    grants: tuple[Grant, ...]
    unmet: Mapping[str, int]
    pause_s: float


def decide(
    observation: ApplicationObservation,
    state: ApplicationState,
    parameters: ApplicationParameters,
    seed: int,
) -> tuple[ApplicationDecision, ApplicationState]:
    """Answer the requests of a round.

    Who loses where two want the same place the paper leaves open. Here those come first that give a place
    back, then the others by `order`, then by name.

    Args:
        observation: The requests, and places that are free.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    now_s = observation.now_s
    changes_left = _left(parameters.reconfigurations, state.reconfigurations, state.at_s, now_s)
    pauses_left = _left(parameters.pauses, state.pauses, state.at_s, now_s)
    free = Counter({region: slots for region, slots in observation.free_slots.items() if slots})
    had = set(free)
    grants: list[Grant] = []
    unmet: Counter[str] = Counter()
    pause_s = 0.0
    waiting = [each for each in observation.asked if each.request.action]
    for each in sorted(waiting, key=lambda one: _rank(one, parameters.order)):
        name, action = each.request.component, each.request.action
        affordable = _affords(changes_left, 1.0) and _affords(pauses_left, each.pause_s)
        status: GrantStatus = "granted"
        if observation.frozen:
            status = "frozen"
        elif 0.0 <= now_s - state.changed_s.get(name, -math.inf) < parameters.cooldown_s:
            status = "cool-down"
        elif not affordable:
            status = "budget"
        elif action > 0 and free[each.region] < 1:
            status = "conflict" if each.region in had else "no-slot"
            unmet[each.region] += action
        if status == "granted":
            granted = min(action, free[each.region]) if action > 0 else action
            unmet[each.region] += max(0, action - granted)
            action = granted
            free[each.region] -= action
            had |= {each.region}
            pause_s = max(pause_s, each.pause_s)
        grants.append(Grant(name, action if status == "granted" else 0, status))
    changed = [each.component for each in grants if each.action]
    after = ApplicationState(
        now_s,
        _spent(changes_left, 1.0 if changed else 0.0),
        _spent(pauses_left, pause_s),
        {**state.changed_s, **dict.fromkeys(changed, now_s)},
    )
    return ApplicationDecision(tuple(grants), dict(+unmet), pause_s), after


def _rank(asked: Asked, order: GrantOrder) -> tuple[bool, float, str]:
    request = asked.request
    gain = asked.load if order == "load" else request.score_stay - request.score
    return request.action > 0, -gain, request.component


def _left(bucket: Bucket | None, left: float | None, since_s: float, now_s: float) -> float | None:
    return None if bucket is None else bucket.filled(left, since_s, now_s)


def _affords(left: float | None, price: float) -> bool:
    return left is None or price <= left


def _spent(left: float | None, price: float) -> float | None:
    return None if left is None else left - price
