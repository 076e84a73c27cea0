"""What a policy sees of hosts and components, and what is wrong with what was stated."""

from __future__ import annotations

import pytest

from provisioning.loop.hosts_seen import hosts_seen
from provisioning.loop.memory import Memory, Request
from provisioning.loop.pool import Pool
from provisioning.providers.provider import Lease
from tests.provisioning.loop.world import OFFER, TOPOLOGY, World, settings_of


def pool(**changes: object) -> Pool:
    return Pool(settings_of(**changes), OFFER, (TOPOLOGY,))


def stated(**component: object) -> dict[str, object]:
    return {"topology": {TOPOLOGY: {"mode": "active", "component": {"bolt": component}}}}


def test_bolts_are_scaled_within_their_tasks() -> None:
    (component,), faults = pool().components(World(tasks=6).look())
    assert (component.name, component.least, component.most, component.tasks) == ("words/bolt", 1, 6, 6)
    assert not faults


@pytest.mark.parametrize(("component", "key"), [({"max": 8}, "max"), ({"min": 7, "max": 9}, "min")])
def test_fewer_tasks_than_executors_are_named_with_what_is_possible(
    component: dict[str, object], key: str
) -> None:
    (found,), (fault,) = pool(**stated(**component)).components(World(tasks=6).look())
    assert fault.startswith(f"topology.words.component.bolt.{key}: it has 6 tasks, ")
    assert found.most == 6
    assert found.least <= 6


def test_unknown_components_and_spouts_are_named() -> None:
    table = {TOPOLOGY: {"mode": "active", "component": {"spout": {}, "rank": {}}}}
    _, faults = pool(topology=table).components(World().look())
    assert sorted(faults) == [
        "topology.words.component.rank: the topology has no such bolt",
        "topology.words.component.spout: the topology has no such bolt",
    ]


def test_what_is_not_scaled_takes_room() -> None:
    """The spout is on the own host, which has four places."""
    (host,) = hosts_seen(pool(), World().look(), (), Memory("a"), 0.0)
    assert host.name == "own-1"
    assert host.cpu == 3.0
    assert host.executors == {"words/bolt": 2}


@pytest.mark.parametrize(("status", "starts"), [("ACTIVE", {"words/bolt": 2}), ("INACTIVE", {})])
def test_a_host_to_come_is_for_what_is_scaled_now(status: str, starts: dict[str, int]) -> None:
    """Its owner has stopped a topology since: no policy knows its components."""
    requests = {"a.lease-1": Request(OFFER.name, 0.0, {"words/bolt": 2, "gone/bolt": 1})}
    *_, host = hosts_seen(pool(), World(status=status).look(), (), Memory("a", requests=requests), 0.0)
    assert (host.status, host.executors) == ("booting", starts)


def test_a_host_that_nimbus_does_not_list_counts_and_takes_nothing() -> None:
    """It is paid for: there may not be one more for it."""
    lease = Lease("l", "a.lease-1", OFFER.name, "ready", 0.0, "host-1", 60.0, 660.0)
    _, host = hosts_seen(pool(), World().look(), (lease,), Memory("a"), 100.0)
    assert (host.name, host.status, host.executors, host.paid_until_s) == ("host-1", "leaving", {}, 660.0)


def test_what_another_loop_scales_takes_room() -> None:
    """A topology that is only advised on fills the host all the same."""
    settings = settings_of(topology={TOPOLOGY: {}, "others": {"mode": "active"}})
    (host,) = hosts_seen(Pool(settings, OFFER, ("others",)), World().look(), (), Memory("a"), 0.0)
    assert host.cpu == 1.0
    assert host.executors == {}


def test_resources_count_unless_executors_do() -> None:
    (host,) = hosts_seen(pool(capacity="resources"), World().look(), (), Memory("a"), 0.0)
    assert (host.cpu, host.memory_mb) == (390.0, 4096.0 - 128.0)
    (component,), _ = pool(capacity="resources").components(World().look())
    assert (component.cpu, component.memory_mb) == (10.0, 128.0)


def test_a_host_that_is_given_back_takes_nothing() -> None:
    world = World()
    lease = Lease("l", "a.lease-1", OFFER.name, "ready", 0.0, "host-1", 60.0, 660.0, release_at_s=660.0)
    world.given["a.lease-1"] = lease
    _, host = hosts_seen(pool(), world.look(), (lease,), Memory("a"), 100.0)
    assert (host.name, host.status, host.paid_until_s) == ("host-1", "leaving", 660.0)


def test_without_an_offer_there_are_as_many_hosts_as_there_are() -> None:
    fixed = Pool(settings_of(), None, (TOPOLOGY,))
    look = World(own_hosts=("own-1", "own-2")).look()
    components, _ = fixed.components(look)
    assert fixed.parameters(components, look).hosts_max == 2


def test_bolts_that_state_no_cpu_are_named() -> None:
    """By Storm's default a host of four cores takes forty of them, whatever they do."""
    _, (fault,) = pool(capacity="resources").components(World().look())
    assert fault == (
        "words: executors of bolt need 10 % of a core by Storm's default, by which 40 fit on a leased host;"
        ' state cpu, or capacity = "executors"'
    )
    _, none = pool(capacity="resources", **stated(cpu=80.0)).components(World().look())
    _, counted = pool().components(World().look())
    assert none == counted == ()
