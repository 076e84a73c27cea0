"""Two topologies, of which one cannot be scaled: the other one is, and its hosts come and go."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import pytest

from provisioning.cluster.look import UNREADABLE, ClusterLook, TopologyLook
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import MemoryFile
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from tests.provisioning.loop.layered import layered
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.test_mid_change import steps_of
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, World, settings_of

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
    """

    other: dict[str, object] = field(default_factory=dict)
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


@pytest.mark.parametrize("status", ["INACTIVE", "KILLED", UNREADABLE])
def test_advice_on_the_others_goes_on(status: str, tmp_path: Path) -> None:
    world = Beside(demand_per_s=45.0, other={"status": status})
    settings = settings_of(topology={TOPOLOGY: {}, OTHER: {}})
    file = MemoryFile(tmp_path / "advice.json")
    for _ in range(3):
        loop = AdvisingLoop(Pool(settings, OFFER, (TOPOLOGY, OTHER)), Seeing(settings, world, {}), file)
        report = loop.round(world.look(), world.now_s)
        world.now_s += ROUND_S
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


def test_what_finds_no_room_holds_the_others_until_storm_had_time(tmp_path: Path) -> None:
    """Then it is left alone, with a host more for it, three times; hosts that do not help go again."""
    world, settings = unplaced(), settings_of_both()
    early = pass_rounds(world, tmp_path, 12, settings)
    assert {each.held_by for each in early} == {"no_slot"}
    late = pass_rounds(world, tmp_path, 3, settings)
    assert "other: 1 of its tasks have had no slot for long: it is not scaled" in late[-1].faults
    assert world.counts["bolt"] > 2
    world.demand_per_s = 5.0
    pass_rounds(world, tmp_path, 120, settings)
    rooms = [name for name in world.given if ".room-" in name]
    assert len(rooms) == 3
    assert not any(world.given[name].live for name in rooms)


def test_where_nothing_is_leased_the_others_are_scaled_all_the_same(tmp_path: Path) -> None:
    world = unplaced()
    world.refuse = True
    reports = pass_rounds(world, tmp_path, 200, settings_of_both())
    assert world.counts["bolt"] > 2
    held = Counter(each.held_by for each in reports[20:])
    assert held[None] > 0.9 * held.total()
    assert len({step.about for step in steps_of(reports, "host-lost") if ".room-" in step.about}) > 3


@pytest.mark.parametrize("kind", ["sized", "threshold"])
def test_a_host_that_came_for_room_is_left_until_storm_had_time(kind: str, tmp_path: Path) -> None:
    """It is empty at first, which to `threshold` is a reason to give it back."""
    world, settings = unplaced(), settings_of_both(policy={"kind": kind})
    while not any(each.status == "ready" for name, each in world.given.items() if ".room-" in name):
        pass_rounds(world, tmp_path, 1, settings)
    reports = pass_rounds(world, tmp_path, 11, settings)
    assert {each.held_by for each in reports} <= {"no_slot", "change"}
    assert not MemoryFile(tmp_path / "active.json").read().draining
