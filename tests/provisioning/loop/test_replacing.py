"""Tasks without a slot: hosts are leased for them, kept for them for a while, and go if they do not help."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from provisioning.loop.active import ActiveLoop
from provisioning.loop.memory import Memory, MemoryFile, Request
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.providers.provider import Lease
from tests.provisioning.loop.beside import (
    OTHER,
    long_unplaced,
    rooms_of,
    settings_of_both,
    unplaced,
)
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.test_mid_change import REQUEST, leased, remembering, steps_of
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, UNIT_S, World, settings_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("limits", "hosts"), [({}, 1), ({"hosts_max": 2}, 0)])
def test_room_that_was_lost_for_good_is_leased(limits: dict[str, int], hosts: int, tmp_path: Path) -> None:
    """Nothing of the topology is placed: no policy can say what it needs, but it needs room."""
    world = World(demand_per_s=20.0, own_hosts=("own-1", "own-2"), unplaced={"own-1"})
    settings = settings_of(limits=limits)
    reports = pass_rounds(world, tmp_path, 12, settings)
    assert not world.given
    assert all("of its tasks have no slot" in each.held for each in reports)
    pass_rounds(world, tmp_path, 6, settings)
    assert len(world.given) == hosts
    world.unplaced = set()
    pass_rounds(world, tmp_path, 2, settings)
    assert MemoryFile(tmp_path / "active.json").read().unplaced_s == {}


def test_one_host_more_is_leased_if_one_is_not_enough(tmp_path: Path) -> None:
    nowhere = {"own-1", *(f"host-{k}" for k in range(1, 9))}
    world = World(demand_per_s=20.0, unplaced=nowhere)
    pass_rounds(world, tmp_path, 80)
    assert len(world.given) == 3, "and no more, as none of them helps"


def test_room_is_asked_for_although_a_host_that_is_up_waits_for_it(tmp_path: Path) -> None:
    """What was to start there waits until all is placed, and one host is not enough for that."""
    world = World(unplaced={"own-1", "host-1"})
    leased(world)
    request = Request(OFFER.name, world.now_s, {"words/bolt": 1})
    remembering(tmp_path, Memory("one", requests={REQUEST: request}))
    pass_rounds(world, tmp_path, 15)
    assert len(world.given) == 2


def test_what_finds_no_room_holds_the_others_until_storm_had_time(tmp_path: Path) -> None:
    """Then it is left alone, with a host more for it, three times; hosts that do not help go again."""
    world, settings = unplaced(), settings_of_both()
    early = pass_rounds(world, tmp_path, 12, settings)
    assert {each.held_by for each in early} == {"no_slot"}
    late = pass_rounds(world, tmp_path, 3, settings)
    assert "other: 1 of its tasks have had no slot for long: it is not scaled" in late[-1].faults
    assert world.counts["bolt"] > 2
    world.demand_per_s = 5.0
    pass_rounds(world, tmp_path, 240, settings)
    assert len(rooms_of(world)) == 3
    assert not any(each.live for each in rooms_of(world))
    pass_rounds(world, tmp_path, 600, settings)
    assert len(rooms_of(world)) == 6, "three hours later it is tried again"


def test_where_nothing_else_is_scaled_hosts_stay_for_what_has_no_slot(tmp_path: Path) -> None:
    """Whoever places it may only be out for a while; those that were leased meanwhile go."""
    world = unplaced()
    world.status, world.counts = "INACTIVE", {"spout": 1, "bolt": 1}
    leased(world)
    pass_rounds(world, tmp_path, 60, settings_of_both())
    assert [each.live for each in rooms_of(world)] == [True] * 3
    pass_rounds(world, tmp_path, 180, settings_of_both())
    assert [each.live for each in rooms_of(world)] == [False] * 3
    assert world.given[REQUEST].live


def test_where_nothing_is_leased_the_others_are_scaled_all_the_same(tmp_path: Path) -> None:
    world = unplaced()
    world.refuse = True
    reports = pass_rounds(world, tmp_path, 200, settings_of_both())
    assert world.counts["bolt"] > 2
    held = Counter(each.held_by for each in reports[20:])
    assert held[None] > 0.9 * held.total()
    assert len({step.about for step in steps_of(reports, "host-lost") if ".room-" in step.about}) > 3


@pytest.mark.parametrize("kind", ["sized", "threshold"])
def test_hosts_for_what_has_no_slot_are_kept_for_it(kind: str, tmp_path: Path) -> None:
    """They are empty at first, to `threshold` a reason to give them back; the others have theirs."""
    world, settings = unplaced(), settings_of_both(policy={"kind": kind})
    world.demand_per_s, world.counts = 5.0, {"spout": 1, "bolt": 1}
    reports = pass_rounds(world, tmp_path, 80, settings)
    assert [each.status for each in rooms_of(world)] == ["ready"] * 3
    assert world.holds == []
    asked = [each.asked for each in reports if each.asked is not None]
    rooms = {each.host for each in rooms_of(world)}
    seen = {each.name: each.status for each in asked[-1].observation.hosts}
    assert {seen[host] for host in rooms} == {"leaving"}, "nothing is started there"


def test_what_was_to_start_of_what_is_left_alone_is_forgotten(tmp_path: Path) -> None:
    """The host that it was to start on waited for that, and was paid for meanwhile."""
    world = unplaced()
    leased(world)
    request = Request(OFFER.name, world.now_s, {f"{OTHER}/bolt": 1, f"{TOPOLOGY}/bolt": 1})
    file = remembering(tmp_path, replace(long_unplaced(world), requests={REQUEST: request}))
    pass_rounds(world, tmp_path, 1, settings_of_both())
    assert REQUEST not in file.read().requests
    assert OTHER not in file.read().wanted
    assert world.counts["bolt"] == 3


def test_what_loses_its_slot_later_has_a_time_of_its_own(tmp_path: Path) -> None:
    """Another one has found no room for days."""
    world, settings = unplaced(), settings_of_both()
    file = remembering(tmp_path, long_unplaced(world))
    assert pass_rounds(world, tmp_path, 1, settings)[-1].held == ""
    world.unplaced = {"own-1", "own-2"}
    pass_rounds(world, tmp_path, 3, settings)
    report = pass_rounds(world, tmp_path, 1, settings)[-1]
    assert report.held_by in ("no_slot", "change")
    while TOPOLOGY not in file.read().unplaced_s:
        pass_rounds(world, tmp_path, 1, settings)
    assert pass_rounds(world, tmp_path, 1, settings)[-1].held_by == "no_slot"
    report = pass_rounds(world, tmp_path, 14, settings)[-1]
    assert report.held_by == "no_topology", "both are left alone"


def test_a_host_that_is_leased_for_room_is_not_given_to_others(tmp_path: Path) -> None:
    world, settings = unplaced(), settings_of_both()
    world.demand_per_s = 400.0
    file = MemoryFile(tmp_path / "active.json")
    pass_rounds(world, tmp_path, 14, settings)
    (room,) = (each for each in file.read().requests.values() if each.room_for)
    assert room.starts == {}
    assert any(not each.room_for for each in file.read().requests.values()), "which have hosts of their own"


def test_a_host_that_came_for_one_may_be_for_all_that_have_no_slot(tmp_path: Path) -> None:
    """Storm has the time to place all of them on it before there is another one."""
    world, settings = unplaced(), settings_of_both()
    since_s = world.now_s - 400.0
    memory = Memory(
        "one", unplaced_s={OTHER: since_s, TOPOLOGY: since_s}, rooms_s={TOPOLOGY: (world.now_s - 60.0,)}
    )
    lease = Lease("host-1", "one.room-1", OFFER.name, "ready", world.now_s - 60.0, "host-1", world.now_s)
    world.given = {"one.room-1": replace(lease, paid_until_s=world.now_s + UNIT_S)}
    world.unplaced = {"own-1"}
    file = remembering(tmp_path, memory)
    pass_rounds(world, tmp_path, 12, settings)
    assert file.read().unplaced_s.keys() == {OTHER, TOPOLOGY}
    assert len(world.given) == 1
    pass_rounds(world, tmp_path, 4, settings)
    assert len(world.given) == 2
    assert file.read().rooms_s.keys() == {OTHER, TOPOLOGY}, "the next one is for the other"


def test_nothing_is_leased_for_room_while_another_host_is_to_come(tmp_path: Path) -> None:
    world = unplaced()
    leased(world, "booting")
    request = Request(OFFER.name, world.now_s, {})
    memory = Memory("one", requests={REQUEST: request}, unplaced_s={OTHER: world.now_s - 400.0})
    remembering(tmp_path, memory)
    pass_rounds(world, tmp_path, 4, settings_of_both())
    assert rooms_of(world) == []


def test_a_host_for_room_is_as_others_once_all_is_placed(tmp_path: Path) -> None:
    world, settings = unplaced(), settings_of_both()
    world.demand_per_s, world.counts = 5.0, {"spout": 1, "bolt": 1}
    while not any(each.status == "ready" for each in rooms_of(world)):
        pass_rounds(world, tmp_path, 1, settings)
    world.other = {}
    asked = pass_rounds(world, tmp_path, 4, settings)[-1].asked
    assert asked is not None
    assert {each.status for each in asked.observation.hosts} == {"ready"}


def test_without_a_provider_the_others_are_scaled_too(tmp_path: Path) -> None:
    world = unplaced()
    settings = settings_of_both(limits={"hosts_min": 3})
    memory = MemoryFile(tmp_path / "active.json")
    for _ in range(15):
        seeing = Seeing(settings, world, {})
        loop = ActiveLoop(Pool(settings, None, (TOPOLOGY, OTHER)), world, world, world, seeing, memory)
        loop.round(world.look(), world.now_s)
        world.now_s += ROUND_S
    assert world.counts["bolt"] > 2


@pytest.mark.parametrize("refuses", [False, True])
def test_a_host_that_does_not_help_is_as_others_after_a_while(refuses: bool, tmp_path: Path) -> None:
    """Also if no more can follow, since there are as many as may be, or the provider has none left."""
    world = unplaced()
    world.demand_per_s, world.counts = 5.0, {"spout": 1, "bolt": 1}
    settings = settings_of_both(limits={} if refuses else {"hosts_max": 3})
    while not any(each.status == "ready" for each in world.given.values()):
        pass_rounds(world, tmp_path, 1, settings)
    world.refuse = refuses
    first = rooms_of(world)[0]
    pass_rounds(world, tmp_path, 180, settings)
    assert not world.given[first.request_id].live


def test_a_clock_that_is_set_back_asks_for_no_more(tmp_path: Path) -> None:
    world = unplaced()
    ahead_s = world.now_s + 9e5
    memory = Memory("one", unplaced_s={OTHER: ahead_s}, rooms_s={OTHER: (ahead_s,)})
    file = remembering(tmp_path, memory)
    pass_rounds(world, tmp_path, 11, settings_of_both())
    assert (file.read().unplaced_s, file.read().rooms_s) == ({OTHER: world.now_s - 11 * ROUND_S}, {OTHER: ()})
    assert not world.given


def test_hosts_that_do_not_come_are_asked_for_every_three_minutes(tmp_path: Path) -> None:
    world = unplaced()
    world.failing = frozenset({OFFER.name})
    pass_rounds(world, tmp_path, 61, settings_of_both())
    asked_s = [each.leased_at_s for each in rooms_of(world)]
    assert len(asked_s) >= 3
    assert all(later - before >= 180.0 for before, later in pairwise(asked_s))
