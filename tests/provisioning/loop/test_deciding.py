"""What a policy decides for several topologies, of which limits keep one from changing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from provisioning.cluster.look import ClusterLook
from provisioning.loop import deciding
from provisioning.loop.deciding import Outcome, decided
from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.memory import Memory, Request
from provisioning.loop.pool import Pool
from provisioning.providers.provider import Lease
from scheduler.elasticity.leasing.decision import Change, LeasingDecision
from scheduler.elasticity.leasing.observation import ComponentReading, Observation
from tests.provisioning.loop.world import OFFER, TOPOLOGY, World, settings_of

NOW_S = 1_700_000_000.0
BUSY = "busy"


def asked(memory: Memory, policy: dict[str, object]) -> Outcome:
    """Return what comes of two topologies that need executors, and can be given some."""
    world = World(own_hosts=("own-1", "own-2", "own-3"))
    words = world.look().topologies[TOPOLOGY]
    other = replace(words, name=BUSY, topology_id="busy-1-1700000000")
    look = ClusterLook(world.look().supervisors, {TOPOLOGY: words, BUSY: other})
    settings = settings_of(
        topology={TOPOLOGY: {"mode": "active"}, BUSY: {"mode": "active"}},
        limits={"reconfigurations_per_hour": 2},
        policy=policy,
    )
    pool = Pool(settings, None, (TOPOLOGY, BUSY))
    components, _ = pool.components(look)
    readings = tuple(
        ComponentReading(
            f"{name}/bolt", (9000.0,), 500.0, in_service=2.0, demand_per_s=90.0, service_ms=100.0
        )
        for name in (TOPOLOGY, BUSY)
    )
    observation = Observation(NOW_S, hosts_seen(pool, look, (), Memory("one"), NOW_S), readings)
    return decided(pool, pool.parameters(components, look), observation, memory, (look, ()))


LATELY = (NOW_S - 60.0, NOW_S - 30.0)
EACH = pytest.mark.parametrize("policy", [{"kind": "threshold"}, {"kind": "sized"}, {"kind": "btu"}])


@EACH
def test_a_topology_at_its_limit_keeps_no_other_one_waiting(policy: dict[str, object]) -> None:
    """Both need executors; the policy is asked again as if it knew nothing of the one."""
    outcome = asked(Memory("one", changes={BUSY: LATELY}), policy)
    assert outcome.limited == "busy may be changed 2 times an hour, and was"
    assert outcome.memory.wanted.keys() == {TOPOLOGY}
    assert (outcome.left_out, outcome.in_vain) == ((BUSY,), False)
    free = asked(Memory("one", changes={BUSY: (NOW_S - 3700.0, NOW_S - 30.0)}), policy)
    assert (free.limited, free.memory.wanted.keys()) == ("", {TOPOLOGY, BUSY})


@EACH
def test_two_at_their_limit_are_both_held(policy: dict[str, object]) -> None:
    """What one does not take is not for the other one."""
    outcome = asked(Memory("one", changes={BUSY: LATELY, TOPOLOGY: LATELY}), policy)
    assert sorted(outcome.left_out) == [BUSY, TOPOLOGY]
    assert outcome.memory.wanted == {}
    assert outcome.limited.count("2 times an hour") == 2


def test_nothing_is_done_of_what_changes_one_at_its_limit_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is recorded beside the decision is what it was made of: without that one's readings."""
    stop = LeasingDecision(stops=(Change(f"{BUSY}/bolt", "own-1"),))
    monkeypatch.setattr(deciding, "ask", lambda _pool, _parameters, _observation, memory: (stop, memory))
    memory = Memory("one", changes={BUSY: LATELY})
    outcome = asked(memory, {"kind": "threshold"})
    assert (outcome.memory, outcome.in_vain, outcome.left_out) == (memory, True, (BUSY,))


def test_a_policy_that_knows_all_together_is_not_asked_without_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of its decision is done, and its state is that of before."""
    monkeypatch.setattr(deciding, "_KNOWING_ALL", ("threshold",))
    memory = Memory("one", changes={BUSY: LATELY})
    outcome = asked(memory, {"kind": "threshold"})
    assert (outcome.memory, outcome.in_vain, outcome.left_out) == (memory, True, ())
    assert "busy may be changed" in outcome.limited


@pytest.mark.parametrize(("hosts_max", "asked"), [(5, 0), (6, 1), (7, 2)])
def test_hosts_for_tasks_without_a_slot_count(
    hosts_max: int, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three are there, one has come, one is to come; managers of `layers` count those that take executors."""
    world = World(own_hosts=("own-1", "own-2", "own-3"))
    lease = Lease("host-1", "one.room-1", OFFER.name, "ready", NOW_S, "host-1", NOW_S, NOW_S + 600.0)
    world.given = {lease.request_id: lease}
    world.drained = {"host-1"}  # as if nothing had come yet
    settings = settings_of(limits={"hosts_max": hosts_max})
    pool = Pool(settings, OFFER, (TOPOLOGY,), frozenset({"host-1"}))
    look, leases = world.look(), (lease,)
    request = Request(OFFER.name, NOW_S, {}, room_for=BUSY)
    memory = Memory("one", requests={"one.room-2": request}, unplaced_s={BUSY: NOW_S - 400.0})
    both = LeasingDecision(leases=("lease-1", "lease-2"))
    monkeypatch.setattr(deciding, "ask", lambda _pool, _parameters, _observation, known: (both, known))
    components, _ = pool.components(look)
    observation = Observation(NOW_S, hosts_seen(pool, look, leases, memory, NOW_S), ())
    outcome = decided(pool, pool.parameters(components, look), observation, memory, (look, leases))
    assert len(outcome.memory.requests) == 1 + asked
    assert outcome.unleased == 2 - asked
