"""One executor more, on a host that has room or on one that is leased for it, within the limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from scheduler.elasticity.leasing.component import Component
from scheduler.elasticity.leasing.draft import Draft

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.parameters import LeasingParameters
    from scheduler.elasticity.leasing.state import LeasingState


@dataclass(frozen=True)
class Room:
    """A place for an executor.

    Attributes:
        draft: After what had to stop there has stopped; the executor itself has not started yet.
        host: Name of the host.
    """

    draft: Draft
    host: str


FindRoom: TypeAlias = Callable[[Draft, Component], Room | None]


@dataclass(frozen=True)
class Growing:
    """How components grow in a round.

    Attributes:
        now_s: Time of the decision, s.
        state: Memory from before the round.
        parameters: The offer and the limits.
        find: Looks for room on leased hosts.
    """

    now_s: float
    state: LeasingState
    parameters: LeasingParameters
    find: FindRoom

    def by_one(self, draft: Draft, component: Component, why: str) -> Draft:
        """Start an executor where there is room, else on a host that is leased for it.

        Args:
            draft: The round so far.
            component: What grows.
            why: Sentence for the reason.
        """
        if component.most is not None and draft.executors(component.name) >= component.most:
            return draft.because(
                "limited", component.name, f"{why}, but it has {component.most} executors at most"
            )
        room = self.find(draft, component)
        if room is not None:
            return room.draft.started(component.name, room.host).because("grown", component.name, why)
        most = self.parameters.hosts_max
        if most is not None and len(draft.hosts) >= most:
            return draft.because("limited", component.name, f"{why}, but there are {most} hosts at most")
        draft = self.with_host(draft)
        request = draft.decision.leases[-1]
        return draft.started(component.name, request).because("grown", component.name, why)

    def with_host(self, draft: Draft) -> Draft:
        """Lease a host, as the last one of the draft's leases."""
        request = f"lease-{self.state.requests + len(draft.decision.leases) + 1}"
        return draft.leased(request, self.parameters.offer, self.now_s)
