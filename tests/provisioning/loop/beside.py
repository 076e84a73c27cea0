"""A world in memory with another topology, which may be what cannot be scaled."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from provisioning.cluster.look import ClusterLook, TopologyLook
from provisioning.loop.hosts_that_stay import is_room
from provisioning.loop.memory import Memory
from tests.provisioning.loop.world import TOPOLOGY, World, settings_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from provisioning.measuring.task_meters import TaskReadings
    from provisioning.providers.provider import Lease
    from provisioning.settings import ElasticSettings

OTHER, OTHER_ID = "other", "other-1-1700000000"
BOTH = {TOPOLOGY: {"mode": "active", "pause_s": 0.1}, OTHER: {"mode": "active", "pause_s": 0.1}}


@dataclass
class Beside(World):
    """A world with another topology, which goes on reporting whatever it is: a spout and one bolt.

    Attributes:
        other: How it is.
        used: Workers on hosts of which Nimbus says nothing more.
    """

    other: dict[str, object] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    own_hosts: tuple[str, ...] = ("own-1", "own-2")

    def look(self, names: Collection[str] = (TOPOLOGY, OTHER)) -> ClusterLook:
        look = super().look(names)
        words = look.topologies[TOPOLOGY]
        first = [each for k, each in enumerate(self.executors()) if k < 2]
        components = {
            name: replace(each, tasks=sum(1 for one in first if one.component == name))
            for name, each in words.components.items()
        }
        first = [replace(each, last_task=each.first_task, host="own-1") for each in first]
        other = TopologyLook(OTHER, OTHER_ID, "ACTIVE", components, tuple(first))
        supervisors = {
            host: replace(each, used_workers=each.used_workers + self.used.get(host, 0))
            for host, each in look.supervisors.items()
        }
        look = replace(look, supervisors=supervisors)
        return replace(look, topologies={TOPOLOGY: words, OTHER: replace(other, **self.other)})  # type: ignore[arg-type]

    def readings(self, topology_id: str, since_s: float) -> TaskReadings:
        return super().readings(self.topology_id if topology_id == OTHER_ID else topology_id, since_s)


def settings_of_both(**changes: object) -> ElasticSettings:
    return settings_of(topology=BOTH, **changes)


def unplaced() -> Beside:
    """A bolt more than there are executors has no slot, wherever there is room."""
    world = Beside(demand_per_s=45.0)
    more = replace(world.look().topologies[OTHER].components["bolt"], name="more", tasks=1)
    world.other = {"components": {**world.look().topologies[OTHER].components, "more": more}}
    return world


def long_unplaced(world: World) -> Memory:
    """Return a memory of one that has found no room for a day, whatever was leased for it."""
    asked_s = tuple(world.now_s - ago_s for ago_s in (5000.0, 4000.0, 3000.0))
    return Memory("one", unplaced_s={OTHER: world.now_s - 9e4}, rooms_s={OTHER: asked_s})


def rooms_of(world: World) -> list[Lease]:
    """Return the leases of hosts for tasks without a slot, the oldest first."""
    return sorted((each for each in world.given.values() if is_room(each)), key=lambda each: each.leased_at_s)
