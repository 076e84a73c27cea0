"""Where one more executor can go, if need be in place of others that are not needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.growing import Room
from scheduler.elasticity.leasing.host_score import fits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.by_load.sizing import Need
    from scheduler.elasticity.leasing.component import Component
    from scheduler.elasticity.leasing.draft import Draft
    from scheduler.elasticity.leasing.host import Host

_ROUNDING = 1e-9


@dataclass
class RoomByNeed:
    """Looks for room in one round.

    Hosts that are up come before those that boot, and those that are paid for longest before others, so that
    hosts whose paid time ends soon become empty.

    Attributes:
        needs: Of components with a reading that counts.
        parameters: Of the policy.
    """

    needs: Mapping[str, Need]
    parameters: SizedParameters
    _last: dict[str, str] = field(default_factory=dict)
    """Host of a component's last executor: the best one until it is full, and hosts may be thousands."""

    def __call__(self, draft: Draft, component: Component) -> Room | None:
        """Return a place on a leased host; None if there is none."""
        last = draft.hosts.get(self._last.get(component.name, ""))
        if last is None or not self._fits(last, component):
            fitting = [each for each in draft.hosts.values() if self._takes(each, component)]
            last = min(fitting, key=_rank) if fitting else None
        if last is not None:
            self._last[component.name] = last.name
            return Room(draft, last.name)
        return self._in_place_of_others(draft, component)

    def _takes(self, host: Host, component: Component) -> bool:
        return host.status != "leaving" and self._fits(host, component)

    def _fits(self, host: Host, component: Component) -> bool:
        return fits(host, component, self.parameters.by_name) >= 1.0 - _ROUNDING

    def _in_place_of_others(self, draft: Draft, component: Component) -> Room | None:
        """Stop executors that are not needed on the first host where that makes room."""
        surplus = {
            name: draft.executors(name) - need.executors
            for name, need in self.needs.items()
            if name != component.name and name not in draft.grown
        }
        surplus = {name: count for name, count in surplus.items() if count > 0}
        if not surplus:
            return None
        staying = (each for each in draft.hosts.values() if each.status != "leaving")
        for host in sorted(staying, key=_rank):
            thinned = self._thinned(draft, host, component, surplus)
            if thinned is not None:
                return Room(thinned, host.name)
        return None

    def _thinned(
        self, draft: Draft, host: Host, component: Component, surplus: Mapping[str, int]
    ) -> Draft | None:
        """Stop executors on a host until another one fits; None if it never does."""
        for other, count in surplus.items():
            for _ in range(min(count, host.count(other))):
                why = f"{self.needs[other].why}; an executor on {host.name} makes room for {component.name}"
                draft = draft.stopped(other, host.name).because("shrunk", other, why)
                if self._fits(draft.hosts[host.name], component):
                    return draft
        return None


def _rank(host: Host) -> tuple[bool, float]:
    return host.status == "booting", -host.paid_until_s
