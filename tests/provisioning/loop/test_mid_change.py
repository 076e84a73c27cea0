"""What goes wrong between two steps: hosts vanish, Nimbus fails over, owners pause topologies."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from formats.nimbus import NimbusError
from provisioning.cluster.nimbus import RebalanceRefusedError
from provisioning.loop.memory import (
    Draining,
    Memory,
    MemoryFile,
    MemoryFileError,
    Pausing,
    Refused,
    Request,
    Wanted,
)
from provisioning.providers.provider import Lease
from tests.provisioning.loop.test_active import check_at_rest, pass_rounds
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, UNIT_S, World, loop_of, settings_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from provisioning.loop.report import Report
    from provisioning.loop.step import Step

REQUEST = "one.lease-1"


def remembering(folder: Path, memory: Memory) -> MemoryFile:
    """Return the file of a loop that remembers something."""
    file = MemoryFile(folder / "active.json")
    file.write(memory)
    return file


def leased(world: World, status: str = "ready") -> Lease:
    """Let the world have a leased host."""
    ready_s = world.now_s if status == "ready" else None
    paid_until_s = world.now_s + UNIT_S
    lease = Lease("host-1", REQUEST, OFFER.name, status, world.now_s, "host-1", ready_s, paid_until_s)  # type: ignore[arg-type]
    world.given = {REQUEST: lease}
    return lease


def steps_of(reports: Sequence[Report], kind: str) -> list[Step]:
    return [step for each in reports for step in each.steps if step.kind == kind]


def test_a_host_whose_supervisor_ends_before_its_time_is_given_back(tmp_path: Path) -> None:
    """It was empty, and to go at the end of its paid time: whether it still is cannot be found out then."""
    world = World(demand_per_s=45.0)
    settings = settings_of(boot_timeout_s=120.0)
    pass_rounds(world, tmp_path, 12, settings)
    world.demand_per_s = 5.0
    while not any(each.status == "draining" for each in world.given.values()):
        pass_rounds(world, tmp_path, 1, settings)
    world.dead.add("host-1")
    pass_rounds(world, tmp_path, 60, settings)
    assert [each.status for each in world.given.values()] == ["gone"]
    check_at_rest(world, tmp_path)


def test_a_host_that_stays_busy_is_kept(tmp_path: Path) -> None:
    """If nothing empties it in time it is paid for one more unit, and the report says so."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    world.demand_per_s, world.stubborn = 5.0, True
    reports = pass_rounds(world, tmp_path, 60)
    assert [each.status for each in world.given.values()] == ["ready"]
    assert {step.about for step in steps_of(reports, "kept")} == {"host-1"}


def test_what_a_policy_gives_back_at_once_goes_once_it_is_seen_to_be_empty(tmp_path: Path) -> None:
    """`threshold` does not look at paid time: what is left of it is no reason to keep a host."""
    world = World(demand_per_s=5.0, own_hosts=("own-1", "own-2"), counts={"spout": 1, "bolt": 1})
    lease = leased(world)
    settings = settings_of(policy={"kind": "threshold"}, settle_s=2.0 * ROUND_S)
    reports = pass_rounds(world, tmp_path, 12, settings)
    gone = world.given[REQUEST]
    assert (gone.status, steps_of(reports, "kept")) == ("gone", [])
    assert lease.paid_until_s is not None
    assert gone.release_at_s is not None
    assert gone.release_at_s < lease.paid_until_s
    check_at_rest(world, tmp_path)


@pytest.mark.parametrize(("status", "goes"), [("REBALANCING", False), ("INACTIVE", True)])
def test_an_idle_host_stays_while_a_rebalance_is_under_way(status: str, goes: bool, tmp_path: Path) -> None:
    """Nimbus fails over, and goes on with it later; the host is what the change is for."""
    world = World(status=status)
    leased(world)
    world.drained.add("host-1")  # as if nothing had come yet
    file = remembering(tmp_path, Memory("one"))
    pass_rounds(world, tmp_path, 1)
    assert (file.read().draining.keys() == {"host-1"}) == goes


@pytest.mark.parametrize("status", ["INACTIVE", "KILLED"])
def test_a_change_of_what_its_owner_has_stopped_is_given_up(status: str, tmp_path: Path) -> None:
    """Or it would hold all other topologies for as long."""
    world = World(status=status)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: Wanted({"bolt": 4})}))
    reports = pass_rounds(world, tmp_path, 1)
    assert [step.why for step in steps_of(reports, "given-up")] == [f"the topology is {status}"]
    assert file.read().wanted == {}
    assert not world.rebalances


def test_a_host_that_comes_up_waits_until_all_is_placed(tmp_path: Path) -> None:
    """What counts then is what the topology has when it runs, not that nothing of it is placed."""
    world = World(demand_per_s=20.0, unplaced={"own-1", "host-1"})
    leased(world)
    file = remembering(
        tmp_path, Memory("one", requests={REQUEST: Request(OFFER.name, world.now_s, {"words/bolt": 1})})
    )
    pass_rounds(world, tmp_path, 3)
    assert not world.rebalances
    assert file.read().requests.keys() == {REQUEST}
    world.unplaced = set()
    pass_rounds(world, tmp_path, 1)
    assert world.counts["bolt"] == 3


@pytest.mark.parametrize(("meant", "bolts"), [("words-1-1600000000", 2), ("", 3)])
def test_what_was_to_start_in_another_start_of_a_topology_is_decided_anew(
    meant: str, bolts: int, tmp_path: Path
) -> None:
    world = World(demand_per_s=0.0, spoken=False)
    leased(world)
    ids = {TOPOLOGY: meant or world.topology_id}
    request = Request(OFFER.name, world.now_s, {"words/bolt": 1}, ids)
    file = remembering(tmp_path, Memory("one", requests={REQUEST: request}))
    reports = pass_rounds(world, tmp_path, 1)
    assert world.counts["bolt"] == bolts
    assert ("decided on anew" in steps_of(reports, "host-up")[0].why) == (bolts == 2)
    assert file.read().requests == {}


def test_a_change_that_nimbus_does_not_carry_out_is_given_up_after_three_times(tmp_path: Path) -> None:
    """And not asked for again for a while; what it had before is asked for instead."""
    world = World(rebalance_fails=NimbusError("Nimbus does not answer"))
    wanted = Wanted({"bolt": 4}, {"bolt": 2}, world.topology_id)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: wanted}))
    reports = pass_rounds(world, tmp_path, 24, settings_of(topology={TOPOLOGY: {"mode": "active"}}))
    assert len(steps_of(reports, "failed")) >= 3
    assert "Nimbus was asked 3 times in vain" in steps_of(reports, "given-up")[0].why
    assert file.read().refused["words/bolt"].executors == 4


def test_a_change_that_nimbus_refuses_is_given_up(tmp_path: Path) -> None:
    world = World(rebalance_fails=RebalanceRefusedError("not yours"), spoken=False)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: Wanted({"bolt": 4})}))
    reports = pass_rounds(world, tmp_path, 1)
    assert [step.why for step in steps_of(reports, "given-up")] == ["not yours"]
    assert (file.read().wanted, file.read().pausing) == ({}, {})


def test_a_change_that_nimbus_refuses_is_not_decided_in_each_round(tmp_path: Path) -> None:
    """It counts as a change, and hosts are not leased for what is not to be had."""
    world = World(demand_per_s=45.0, rebalance_fails=RebalanceRefusedError("not yours"))
    reports = pass_rounds(world, tmp_path, 60, settings_of(limits={"reconfigurations_per_hour": 2}))
    assert len(steps_of(reports, "given-up")) == 1
    assert not any(each.live for each in world.given.values())
    assert world.rebalances == 1


def test_a_change_that_comes_about_is_refused_no_longer(tmp_path: Path) -> None:
    """The next time that it does not is the first one again."""
    world = World(spoken=False, counts={"spout": 1, "bolt": 4})
    memory = Memory(
        "one",
        wanted={TOPOLOGY: Wanted({"bolt": 4}, {"bolt": 2}, asked_s=world.now_s - 15.0)},
        refused={
            "words/bolt": Refused(4, world.now_s + 900.0, 6),
            "words/more": Refused(5, world.now_s + 900.0),
        },
    )
    file = remembering(tmp_path, memory)
    pass_rounds(world, tmp_path, 1)
    assert file.read().refused.keys() == {"words/more"}


def test_an_unplaced_change_is_taken_back_while_the_provider_does_not_answer(tmp_path: Path) -> None:
    """Without a placement nothing of the topology runs, whatever a cloud says of its hosts."""
    world = World(spoken=False, places=3, counts={"spout": 1, "bolt": 6})
    wanted = Wanted({"bolt": 6}, {"bolt": 2}, world.topology_id, world.now_s - 60.0, 1)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: wanted}))
    world.silent = True
    reports = pass_rounds(world, tmp_path, 2)
    assert {each.held_by for each in reports} == {"provider"}
    assert "its executors are not placed" in steps_of(reports, "given-up")[0].why
    assert world.counts["bolt"] == 2
    assert file.read().wanted == {}


def test_a_host_that_nimbus_lists_is_believed_though_its_provider_says_that_it_boots(tmp_path: Path) -> None:
    """It may be the provider that does not know; the host is not stopped under its workers."""
    world = World(demand_per_s=45.0, says_booting=True)
    reports = pass_rounds(world, tmp_path, 40, settings_of(boot_timeout_s=120.0))
    (lease,) = world.given.values()
    assert (lease.status, len(steps_of(reports, "host-up"))) == ("booting", 1)
    assert not steps_of(reports, "host-lost")
    assert lease.host in {each.host for each in world.executors()}


def test_what_runs_where_a_lease_has_ended_is_not_started_once_more(tmp_path: Path) -> None:
    """The provider took the host away; Nimbus lists it until its session is over."""
    world = World(demand_per_s=20.0, counts={"spout": 1, "bolt": 3})
    lease = leased(world)
    world.given = {REQUEST: replace(lease, status="gone")}
    world.listed_all_the_same = {"host-1"}
    reports = pass_rounds(world, tmp_path, 2)
    assert "host-1" in {each.host for each in world.executors()}
    assert not any(each.decision and each.decision.starts for each in reports)


def test_a_drain_is_asked_for_once(tmp_path: Path) -> None:
    """Of hundreds of hosts that are emptied each call takes a connection of its own."""
    world = World(spoken=False, stubborn=True)
    lease = leased(world)
    remembering(tmp_path, Memory("one", draining={"host-1": Draining(lease.lease_id, world.now_s + UNIT_S)}))
    pass_rounds(world, tmp_path, 10)
    assert world.holds == ["host-1"]


def test_so_many_hosts_are_asked_for_in_a_round_as_leave_time_for_the_rest(tmp_path: Path) -> None:
    world = World(spoken=False)
    requests = {f"one.lease-{k}": Request(OFFER.name, world.now_s, {}) for k in range(50)}
    remembering(tmp_path, Memory("one", requests=requests))
    reports = pass_rounds(world, tmp_path, 2)
    assert [len(steps_of([each], "host-asked")) for each in reports] == [32, 18]


def test_a_change_of_another_start_of_a_topology_is_given_up(tmp_path: Path) -> None:
    world = World(spoken=False)
    wanted = Wanted({"bolt": 4}, topology_id="words-1-1600000000")
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: wanted}))
    reports = pass_rounds(world, tmp_path, 1)
    assert [step.why for step in steps_of(reports, "given-up")] == ["its owner has started it anew"]
    assert file.read().wanted == {}


def test_a_change_that_came_about_without_a_word_counts(tmp_path: Path) -> None:
    """A loop asked for it and was killed before it could be written."""
    world = World(spoken=False)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: Wanted({"bolt": 2})}))
    began_s = world.now_s
    pass_rounds(world, tmp_path, 1)
    assert file.read().changes[TOPOLOGY] == (began_s,)
    assert file.read().pausing == {}, "it is not known when it began"


def test_what_has_lost_its_slots_has_not_come_about(tmp_path: Path) -> None:
    """There are as many executors as are wanted, but of another number some are gone."""
    world = World(counts={"spout": 1, "bolt": 4}, own_hosts=("own-1", "own-2"), unplaced={"own-2"})
    begun = Pausing(world.now_s, 9.0)  # nothing is asked for meanwhile
    wanted = {TOPOLOGY: Wanted({"bolt": 2})}
    file = remembering(tmp_path, Memory("one", wanted=wanted, pausing={TOPOLOGY: begun}))
    reports = pass_rounds(world, tmp_path, 1)
    assert not steps_of(reports, "changed")
    assert file.read().wanted.keys() == {TOPOLOGY}


def test_a_host_is_not_emptied_while_workers_start_there(tmp_path: Path) -> None:
    world = World(spoken=False, pause_s=None, watched=frozenset({2}))
    lease = leased(world)
    begun = Pausing(world.now_s - 10.0, 9.0)
    draining = {"host-1": Draining(lease.lease_id, world.now_s + UNIT_S)}
    remembering(tmp_path, Memory("one", draining=draining, pausing={TOPOLOGY: begun}))
    pass_rounds(world, tmp_path, 1)
    assert not world.drained
    world.pause_s = 9.0
    pass_rounds(world, tmp_path, 3)
    assert world.drained == {"host-1"}


def test_a_host_is_emptied_although_what_stood_still_there_was_killed(tmp_path: Path) -> None:
    """Before it was seen working again."""
    world = World(spoken=False)
    lease = leased(world)
    draining = {"host-1": Draining(lease.lease_id, world.now_s + UNIT_S)}
    remembering(tmp_path, Memory("one", draining=draining, pausing={"killed": Pausing(world.now_s, 9.0)}))
    pass_rounds(world, tmp_path, 1)
    assert world.drained == {"host-1"}


def test_a_change_that_is_asked_for_again_counts_once(tmp_path: Path) -> None:
    """Of three calls in vain, and one more for what was before, two changes may have come about."""
    world = World(rebalance_fails=NimbusError("Nimbus does not answer"), spoken=False)
    wanted = Wanted({"bolt": 4}, {"bolt": 2}, world.topology_id)
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: wanted}))
    reports = pass_rounds(world, tmp_path, 20)
    assert len(steps_of(reports, "failed")) >= 4
    assert len(file.read().changes[TOPOLOGY]) == 2


def test_what_was_emptied_goes_although_drains_cannot_be_written(tmp_path: Path) -> None:
    """It would be paid for once more."""
    world = World(spoken=False, drain_fails=True, drained={"host-1"})
    lease = leased(world)
    draining = Draining(lease.lease_id, world.now_s + UNIT_S, world.now_s - 60.0, held=True)
    remembering(tmp_path, Memory("one", draining={"host-1": draining}))
    pass_rounds(world, tmp_path, 1)
    assert world.given[REQUEST].release_at_s == world.now_s - ROUND_S + UNIT_S


def test_a_provider_that_does_not_answer_is_asked_for_one_host_a_round(tmp_path: Path) -> None:
    """Each call may take a minute."""
    world = World(refuse=True, spoken=False)
    requests = {f"one.lease-{k}": Request(OFFER.name, world.now_s, {}) for k in range(3)}
    remembering(tmp_path, Memory("one", requests=requests))
    reports = pass_rounds(world, tmp_path, 2)
    assert [len(steps_of([each], "failed")) for each in reports] == [1, 1]


def test_a_drain_is_a_change_of_what_leaves_the_host(tmp_path: Path) -> None:
    """Its workers start elsewhere: nothing else is changed meanwhile, and that counts, once."""
    world = World(spoken=False, pause_s=None)
    lease = leased(world)
    file = remembering(
        tmp_path, Memory("one", draining={"host-1": Draining(lease.lease_id, world.now_s + UNIT_S)})
    )
    began_s = world.now_s
    pass_rounds(world, tmp_path, 1)
    assert file.read().pausing[TOPOLOGY].since_s == began_s
    assert world.watched
    world.pause_s = 6.0
    reports = pass_rounds(world, tmp_path, 4)
    assert [step.figures["pause_s"] for step in steps_of(reports, "resumed")] == [6.0]
    assert file.read().changes[TOPOLOGY] == (began_s,)


def test_drains_that_cannot_be_written_are_tried_once_a_round(tmp_path: Path) -> None:
    world = World(drain_fails=True, spoken=False)
    lease = leased(world)
    draining = {host: Draining(lease.lease_id, world.now_s + UNIT_S) for host in ("host-1", "host-2")}
    remembering(tmp_path, Memory("one", draining=draining))
    reports = pass_rounds(world, tmp_path, 2)
    assert [len(steps_of([each], "failed")) for each in reports] == [1, 1]


def test_nothing_is_begun_that_cannot_be_remembered(tmp_path: Path) -> None:
    """The disk is full."""
    world = World()
    file = remembering(tmp_path, Memory("one", wanted={TOPOLOGY: Wanted({"bolt": 4})}))

    class Full(MemoryFile):
        def write(self, memory: Memory) -> None:  # noqa: ARG002 - as in the class
            raise MemoryFileError("active.json: cannot be written (No space left on device)")

    loop = loop_of(world, tmp_path)
    object.__setattr__(loop, "file", Full(tmp_path / "active.json"))
    with pytest.raises(MemoryFileError, match="No space left"):
        loop.round(world.look(), world.now_s)
    assert not world.rebalances
    assert file.read().wanted[TOPOLOGY].asked_s is None


def test_a_clock_that_is_set_back_stops_nothing(tmp_path: Path) -> None:
    """Changes of a time that is yet to come are none of the last hour, and hold no reading back."""
    world = World(demand_per_s=20.0)
    settings = settings_of(limits={"reconfigurations_per_hour": 3})
    pass_rounds(world, tmp_path, 6, settings)
    world.now_s -= 7200.0
    world.demand_per_s = 28.0
    pass_rounds(world, tmp_path, 8, settings)
    before = world.counts["bolt"]
    world.demand_per_s = 5.0
    pass_rounds(world, tmp_path, 40, settings)
    assert world.counts["bolt"] < before


def test_changes_of_the_last_hour_are_remembered(tmp_path: Path) -> None:
    """However many, and no older ones."""
    world = World(spoken=False)
    now_s = world.now_s
    hour = tuple(now_s - k * 20.0 for k in range(170, -1, -1))
    wanted = {TOPOLOGY: Wanted({"bolt": 4})}
    file = remembering(tmp_path, Memory("one", wanted=wanted, changes={TOPOLOGY: (now_s - 4000.0, *hour)}))
    pass_rounds(world, tmp_path, 1)
    assert file.read().changes[TOPOLOGY] == (*hour, now_s)


def test_hosts_that_nimbus_does_not_list_count_for_the_budget(tmp_path: Path) -> None:
    """A host costs six an hour: one is paid for, and no second one is leased for what ran there."""
    world = World(demand_per_s=45.0, own_hosts=("own-1", "own-2"))
    settings = settings_of(limits={"reconfigurations_per_hour": 100, "budget_per_hour": 6.0})
    world.demand_per_s = 80.0
    pass_rounds(world, tmp_path, 12, settings)
    assert len(world.given) == 1
    world.dead.add("host-1")
    pass_rounds(world, tmp_path, 6, settings)
    assert len(world.given) == 1
