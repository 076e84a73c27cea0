"""What a policy decides for several topologies, of which limits keep one from changing."""

from __future__ import annotations

from dataclasses import replace

from provisioning.cluster.look import ClusterLook
from provisioning.loop.deciding import decided
from provisioning.loop.memory import Memory
from provisioning.loop.pool import Pool
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from tests.provisioning.loop.world import TOPOLOGY, World, settings_of

NOW_S = 1_700_000_000.0
BUSY = "busy"


def test_a_topology_at_its_limit_keeps_no_other_one_waiting() -> None:
    """Both need executors; the policy is asked again as if it knew nothing of the one."""
    world = World(own_hosts=("own-1", "own-2", "own-3"))
    words = world.look().topologies[TOPOLOGY]
    other = replace(words, name=BUSY, topology_id="busy-1-1700000000", executors=words.executors)
    look = ClusterLook(world.look().supervisors, {TOPOLOGY: words, BUSY: other})
    limits = {"reconfigurations_per_hour": 2}
    settings = settings_of(
        topology={TOPOLOGY: {"mode": "active"}, BUSY: {"mode": "active"}},
        limits=limits,
        policy={"kind": "threshold"},
    )
    pool = Pool(settings, None, (TOPOLOGY, BUSY))
    components, _ = pool.components(look)
    readings = tuple(
        ComponentReading(
            f"{name}/bolt", (9000.0,), 500.0, in_service=2.0, demand_per_s=90.0, service_ms=100.0
        )
        for name in (TOPOLOGY, BUSY)
    )
    observation = Observation(NOW_S, pool.hosts(look, (), Memory("one"), NOW_S), readings)
    memory = Memory("one", changes={BUSY: (NOW_S - 60.0, NOW_S - 30.0)})
    outcome = decided(pool, pool.parameters(components, look), observation, memory, (look, ()))
    assert outcome.limited == "busy was changed 2 times in the last hour, 2 times are allowed"
    assert outcome.memory.wanted.keys() == {TOPOLOGY}
    assert [each.component for each in outcome.observation.readings] == [f"{TOPOLOGY}/bolt"]
    later = replace(memory, changes={BUSY: (NOW_S - 3700.0, NOW_S - 30.0)})
    free = decided(pool, pool.parameters(components, look), observation, later, (look, ()))
    assert (free.limited, free.memory.wanted.keys()) == ("", {TOPOLOGY, BUSY})
