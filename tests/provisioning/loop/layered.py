"""Settings of both layers of paper 004 for the world in memory, and a world whose bolt is a queue."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from scheduler.elasticity.operator_manager.queue_model import response_ms
from scheduler.elasticity.useful import effective
from tests.provisioning.loop.world import OFFER, World, settings_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from provisioning.cluster.look import RunningExecutor
    from provisioning.measuring.task_meters import TaskReadings
    from provisioning.settings import ElasticSettings

OPERATORS: Mapping[str, dict[str, Any]] = {
    "threshold": {},
    "model-based": {
        "discount": 0.95,
        "weights": {"performance": 0.6, "reconfiguration": 0.1, "resources": 0.3},
    },
    "rolling": {"weights": {"performance": 0.6, "reconfiguration": 0.2, "resources": 0.2}},
}
HOSTS = ("idle-pool", "model-based")
BOUND_MS = 1000.0


@dataclass
class QueueingWorld(World):
    """A world in which the bolt does no more than it can, and answers the later the busier it is.

    Executors are placed on the first host that has room, so that others are idle.
    """

    timed: bool = True

    def executors(self) -> tuple[RunningExecutor, ...]:
        places = [host for host in self.hosts_up() if host not in self.drained for _ in range(OFFER.slots)]
        spread = super().executors()
        return tuple(replace(each, host=places[n % len(places)]) for n, each in enumerate(spread))

    def readings(self, topology_id: str, since_s: float) -> TaskReadings:
        found = super().readings(topology_id, since_s)
        can = effective(self.tasks, self.counts["bolt"]) * 1000.0 / self.service_ms
        done = min(self.demand_per_s, can)
        took_ms = self.service_ms + min(1e5, response_ms(done, 1, can))
        values = {key: value for key, value in found.values.items() if self.timed or "latency" not in key[1]}
        values |= {
            (task, "__process-latency-spout:default"): took_ms
            for task, metric in found.values
            if metric.startswith("__execute-latency-")
        }
        share = done / self.demand_per_s
        rates = {
            key: rate * share if key[1].startswith("__execute-count-") else rate
            for key, rate in found.rates.items()
        }
        return replace(found, values=values, rates=rates)


def layered(operators: str, hosts: str = "idle-pool", **more: object) -> ElasticSettings:
    """Return settings with managers of both kinds.

    Args:
        operators: Kind of the managers of components.
        hosts: Kind of the manager of hosts.
        **more: Further parameters of the policy.
    """
    parameters = {
        "operators": operators,
        "hosts": hosts,
        "response_max_ms": BOUND_MS,
        "pause_s": 5.0,
        "operator": OPERATORS[operators],
        **more,
    }
    return settings_of(
        policy={"kind": "layers", "parameters": parameters},
        limits={"reconfigurations_per_hour": 100, "hosts_max": 4},
    )
