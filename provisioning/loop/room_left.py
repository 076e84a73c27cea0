"""What is left on hosts that are up once a decision is carried out. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from scheduler.elasticity.leasing.host_score import fits

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.decision import LeasingDecision
    from scheduler.elasticity.leasing.host import Host
    from scheduler.elasticity.leasing.observation import Observation
    from scheduler.elasticity.leasing.parameters import LeasingParameters

_ROUNDING = 1e-9


@dataclass
class RoomLeft:
    """Hosts that are up and stay.

    Attributes:
        hosts: By name, with what runs there.
        parameters: Of the policy; what executors need.
    """

    hosts: dict[str, Host]
    parameters: LeasingParameters

    @classmethod
    def after(
        cls, decision: LeasingDecision, observation: Observation, parameters: LeasingParameters
    ) -> RoomLeft:
        """Return what is left after a decision."""
        hosts = {each.name: each for each in observation.hosts if each.status == "ready"}
        less = [(each.host, each.component) for each in decision.stops]
        less += [(each.source, each.component) for each in decision.moves]
        more = [(each.host, each.component) for each in decision.starts]
        more += [(each.target, each.component) for each in decision.moves]
        for name, component in less:
            if name in hosts:
                hosts[name] = hosts[name].with_one_less(component)
        for name, component in more:
            if name in hosts:
                hosts[name] = hosts[name].with_one_more(component)
        for release in decision.releases:
            hosts.pop(release.host, None)
        return cls(hosts, parameters)

    def take(self, component: str, count: int) -> bool:
        """Put executors where there is room; return whether all of them had some, else none is put."""
        hosts = dict(self.hosts)
        for _ in range(count):
            home = next((name for name, host in hosts.items() if self._fits(host, component)), None)
            if home is None:
                return False
            hosts[home] = hosts[home].with_one_more(component)
        self.hosts = hosts
        return True

    def _fits(self, host: Host, component: str) -> bool:
        by_name = self.parameters.by_name
        return fits(host, by_name[component], by_name) >= 1.0 - _ROUNDING
