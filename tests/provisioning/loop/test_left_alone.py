"""Two topologies, of which one cannot be scaled: the other one is, and its hosts come and go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from provisioning.cluster.look import UNREADABLE, ClusterLook, TopologyLook
from provisioning.loop.active import ActiveLoop
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.hosts_that_stay import is_room
from provisioning.loop.memory import Memory, MemoryFile, Request, Wanted
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from provisioning.providers.provider import Lease
from tests.provisioning.loop.layered import layered
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.test_mid_change import REQUEST, leased, remembering, steps_of
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, UNIT_S, World, settings_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from provisioning.measuring.task_meters import TaskReadings
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


@pytest.mark.parametrize("kind", ["sized", "threshold", "btu"])
@pytest.mark.parametrize("status", ["INACTIVE", "KILLED", "REBALANCING", UNREADABLE])
def test_one_that_its_owner_stops_keeps_no_other_one_waiting(kind: str, status: str, tmp_path: Path) -> None:
    """Its workers go on reporting: a policy is not asked of what it does not scale."""
    world = Beside(demand_per_s=45.0, other={"status": status})
    reports = pass_rounds(world, tmp_path, 4, settings_of_both(policy={"kind": kind}))
    assert not any(each.held_by == "refused" for each in reports)
    assert any(each.decision is not None for each in reports)
    if kind == "sized":
        assert world.counts["bolt"] > 2


def test_managers_of_the_others_go_on(tmp_path: Path) -> None:
    world = Beside(demand_per_s=8.0, other={"status": "INACTIVE"})
    parameters = layered("threshold").policy.model_dump()
    reports = pass_rounds(world, tmp_path, 4, settings_of_both(policy=parameters))
    assert {each.held_by for each in reports} <= {None, "change"}


@pytest.mark.parametrize("status", ["INACTIVE", "KILLED", "too large", UNREADABLE])
def test_advice_on_the_others_goes_on(status: str, tmp_path: Path) -> None:
    """It waits while what runs where is not known: it would be of hosts on which others run."""
    world = Beside(demand_per_s=45.0, other={"status": status})
    if status == UNREADABLE:
        world.other |= {"components": {}, "executors": (), "fault": "no"}
    elif status == "too large":
        bolt = replace(Beside().look().topologies[OTHER].components["bolt"], cpu=450.0)
        world.other = {"components": {**Beside().look().topologies[OTHER].components, "bolt": bolt}}
    settings = settings_of(topology={TOPOLOGY: {}, OTHER: {}}, capacity="resources")
    file = MemoryFile(tmp_path / "advice.json")
    for _ in range(3):
        loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY, OTHER)), Seeing(settings, world, {}), file)
        report = loop.round(world.look(), world.now_s)
        world.now_s += ROUND_S
    if status == UNREADABLE:
        assert report.held == "what runs where is not known: other cannot be read"
    else:
        assert report.held == ""
        assert report.savings is not None


def test_one_that_cannot_be_read_is_named_and_keeps_what_was_learned(tmp_path: Path) -> None:
    world = Beside()
    settings = settings_of_both()
    pass_rounds(world, tmp_path, 2, settings)
    learned = MemoryFile(tmp_path / "active.json").read().topologies[OTHER_ID]
    assert learned.service_ms
    world.other = {"status": UNREADABLE, "components": {}, "executors": (), "fault": "Nimbus says no"}
    report = pass_rounds(world, tmp_path, 1, settings)[-1]
    assert "other: Nimbus says no; it is not scaled" in report.faults
    assert MemoryFile(tmp_path / "active.json").read().topologies[OTHER_ID] == learned


def test_an_executor_that_fits_on_no_leased_host_keeps_only_its_own_topology(tmp_path: Path) -> None:
    """It was started on a large host that is not leased."""
    world = Beside(demand_per_s=45.0)
    bolt = replace(world.look().topologies[OTHER].components["bolt"], cpu=450.0)
    world.other = {"components": {**world.look().topologies[OTHER].components, "bolt": bolt}}
    reports = pass_rounds(world, tmp_path, 4, settings_of_both(capacity="resources"))
    assert reports[0].faults[-1] == (
        "other: an executor of bolt needs 450 % of a core and 128 MB, a host has 400 % and 4096 MB:"
        " it is not scaled"
    )
    assert not any(each.held_by == "refused" for each in reports)
    assert world.counts["bolt"] > 2


def test_a_bolt_without_tasks_is_none(tmp_path: Path) -> None:
    world = Beside(demand_per_s=45.0)
    idle = replace(world.look().topologies[OTHER].components["bolt"], name="idle", tasks=0)
    world.other = {"components": {**world.look().topologies[OTHER].components, "idle": idle}}
    reports = pass_rounds(world, tmp_path, 4, settings_of_both())
    assert not any("other/idle" in each.running for each in reports)
    assert world.counts["bolt"] > 2


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


def rooms_of(world: World) -> list[Lease]:
    """Return the leases of hosts for tasks without a slot, the oldest first."""
    return sorted((each for each in world.given.values() if is_room(each)), key=lambda each: each.leased_at_s)


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


@pytest.mark.parametrize("kind", ["sized", "threshold"])
@pytest.mark.parametrize("why", ["unplaced", "too large", "unreadable"])
def test_hosts_of_what_is_left_alone_stay(kind: str, why: str, tmp_path: Path) -> None:
    """To a policy they look empty: what runs there would be pressed together elsewhere."""
    world = unplaced() if why == "unplaced" else Beside()
    world.demand_per_s = 5.0
    lease = leased(world)
    remembering(tmp_path, Memory("one"))
    spout, *bolts = world.look().topologies[OTHER].executors
    here = (spout, *(replace(each, host="host-1", port=6703) for each in bolts))
    world.other["executors"] = here
    settings = settings_of_both(policy={"kind": kind})
    if why == "too large":
        components = world.look().topologies[OTHER].components
        world.other["components"] = {**components, "bolt": replace(components["bolt"], cpu=450.0)}
        settings = settings_of_both(policy={"kind": kind}, capacity="resources")
    elif why == "unreadable":
        world.other = {"status": UNREADABLE, "components": {}, "executors": (), "fault": "no"}
        world.used = {"host-1": 1}
    reports = pass_rounds(world, tmp_path, 60, settings)
    assert any(each.decision is not None for each in reports)
    assert lease.host not in world.holds
    asked = next(each.asked for each in reports if each.asked is not None)
    (host,) = (each for each in asked.observation.hosts if each.name == lease.host)
    assert host.paid_until_s > world.now_s + 1e6, "a policy does not judge it"
    released = {each.host for one in reports if one.decision for each in one.decision.releases}
    assert lease.host not in released
    assert world.given[REQUEST].live


def test_what_runs_unseen_is_left_its_room(tmp_path: Path) -> None:
    """Nothing is started where workers are of which nothing can be read."""
    world = Beside(demand_per_s=200.0, own_hosts=("own-1", "own-2", "own-3"), counts={"spout": 1, "bolt": 1})
    world.other = {"status": UNREADABLE, "components": {}, "executors": (), "fault": "no"}
    world.used = {"own-3": 1}
    decision = pass_rounds(world, tmp_path, 1, settings_of_both())[-1].decision
    assert decision is not None
    assert decision.starts
    assert "own-3" not in {each.host for each in decision.starts}


@pytest.mark.parametrize("asked_ago_s", [None, 15.0, 300.0])
def test_a_change_of_what_cannot_be_read_ends(asked_ago_s: float | None, tmp_path: Path) -> None:
    """If it was asked for, it may be read again first."""
    world = Beside(other={"status": UNREADABLE, "components": {}, "executors": (), "fault": "no"})
    asked_s = None if asked_ago_s is None else world.now_s - asked_ago_s
    wanted = Wanted({"bolt": 4}, {"bolt": 2}, OTHER_ID, asked_s)
    request = Request(OFFER.name, world.now_s, {f"{OTHER}/bolt": 1})
    memory = Memory("one", wanted={OTHER: wanted}, requests={REQUEST: request})
    leased(world)
    file = remembering(tmp_path, memory)
    reports = pass_rounds(world, tmp_path, 1, settings_of_both())
    assert len(steps_of(reports, "given-up")) == (0 if asked_ago_s == 15.0 else 1)
    assert (OTHER in file.read().wanted) == (asked_ago_s == 15.0)
    pass_rounds(world, tmp_path, 20, settings_of_both())
    assert file.read().wanted.keys() <= {TOPOLOGY}
    assert REQUEST not in file.read().requests


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


def test_an_answer_that_cannot_be_read_gives_no_host_back(tmp_path: Path) -> None:
    """It may be of the one topology for which the host has come."""
    world = Beside(status="INACTIVE", counts={"spout": 1, "bolt": 1})
    leased(world)
    world.other = {"status": UNREADABLE, "components": {}, "executors": (), "fault": "no"}
    remembering(tmp_path, Memory("one"))
    pass_rounds(world, tmp_path, 3, settings_of_both())
    assert world.holds == []
    world.other = {"status": "INACTIVE"}
    pass_rounds(world, tmp_path, 2, settings_of_both())
    assert world.holds == ["host-1"]


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
