"""Grants requests for hosts in the order of their prices, within a budget (paper 004, section 6.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from scheduler.base.checks import ModelError, number, shown, whole_number

if TYPE_CHECKING:
    from scheduler.elasticity.region_manager.report import RegionRequest

HostGrantStatus = Literal["granted", "budget", "too-many"]
"""Of a request; "budget": it would cost too much per hour, "too-many": too many hosts in one period."""

_ROUNDING = 1e-9


@dataclass(frozen=True)
class AskedHosts:
    """A region, and what its manager asks for.

    Attributes:
        request: Of the region manager; with the action 0 its hosts count in the budget all the same.
        active: Hosts that are up or booting there (>= 0).
        price_per_hour: Of one host there (>= 0).
    """

    request: RegionRequest
    active: int
    price_per_hour: float

    def __post_init__(self) -> None:
        whole_number("active", self.active, 0)
        number("price_per_hour", self.price_per_hour)


@dataclass(frozen=True)
class InfrastructureObservation:
    """What is known at the time of a decision.

    Attributes:
        regions: All of them, each once.
    """

    regions: tuple[AskedHosts, ...]

    def __post_init__(self) -> None:
        names = [each.request.region for each in self.regions]
        for k, each in enumerate(names):
            if each in names[:k]:
                raise ModelError(f"regions[{k}].request.region", f"{shown(each)} is there twice")


@dataclass(frozen=True, kw_only=True)
class InfrastructureParameters:
    """What may be leased.

    Attributes:
        budget_per_hour: What all hosts together may cost per hour (>= 0); None: no limit (the paper).
        acquisitions_max: Hosts that are started in one period (>= 1); None: no limit.
    """

    budget_per_hour: float | None = None
    acquisitions_max: int | None = None

    def __post_init__(self) -> None:
        if self.budget_per_hour is not None:
            number("budget_per_hour", self.budget_per_hour)
        if self.acquisitions_max is not None:
            whole_number("acquisitions_max", self.acquisitions_max, 1)


@dataclass(frozen=True)
class InfrastructureState:
    """Memory of the manager: none."""


@dataclass(frozen=True)
class HostGrant:
    """The answer to a request.

    Attributes:
        region: Whose.
        action: What was asked for if it is granted, else 0.
        status: Whether it is granted, or why not.
    """

    region: str
    action: int
    status: HostGrantStatus


def decide(
    observation: InfrastructureObservation,
    state: InfrastructureState,
    parameters: InfrastructureParameters,
    seed: int,
) -> tuple[tuple[HostGrant, ...], InfrastructureState]:
    """Answer the requests of a period: 1. order them, 2. accept what the budget allows, 3. no more.

    The paper leaves the order open and accepts all. Here hosts that go come first, then the cheapest, then
    those whose name comes first. Consolidation afterwards is future work in the paper, and the placement
    core's here.

    Args:
        observation: All regions.
        state: What the last call returned.
        parameters: Of the manager.
        seed: Without effect: nothing is drawn.
    """
    del seed
    spent = sum(each.active * each.price_per_hour for each in observation.regions)
    started = 0
    grants: list[HostGrant] = []
    asked = [each for each in observation.regions if each.request.action]
    for each in sorted(asked, key=_rank):
        action, price = each.request.action, each.request.action * each.price_per_hour
        status: HostGrantStatus = "granted"
        if action > 0 and not _within(spent + price, parameters.budget_per_hour):
            status = "budget"
        elif action > 0 and not _within(started + action, parameters.acquisitions_max):
            status = "too-many"
        if status == "granted":
            spent += price
            started += max(0, action)
        grants.append(HostGrant(each.request.region, action if status == "granted" else 0, status))
    return tuple(grants), state


def _rank(asked: AskedHosts) -> tuple[bool, float, str]:
    return asked.request.action > 0, asked.price_per_hour, asked.request.region


def _within(amount: float, limit: float | None) -> bool:
    return limit is None or amount <= limit + _ROUNDING
