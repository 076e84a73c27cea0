"""Pauses of a topology: expected before a change, measured after it, and what they do to decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from provisioning.cluster.look import RunningExecutor, TopologyLook
from provisioning.loop.memory import Draining, Measured, Memory, MemoryFile, Pausing, Wanted
from provisioning.loop.pauses import (
    KEPT,
    Pause,
    expected_s,
    last_tasks,
    standing,
    with_pause_ended,
    with_pauses_ended,
    workers_to_start,
)
from provisioning.providers.provider import Lease
from scheduler.elasticity.learning.pauses import FIRST_S, expected_pause_s
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, TOPOLOGY_ID, World, settings_of

if TYPE_CHECKING:
    from pathlib import Path

LEARNING = {"topology": {TOPOLOGY: {"mode": "active"}}}


def memory_of(*pauses: tuple[int, float]) -> Memory:
    """Return a memory of pauses of `words`: workers that started, and for how long it stood still."""
    return Memory("one", past_pauses={"words": tuple(Measured(*each) for each in pauses)})


def test_what_is_stated_goes_before_what_was_measured_and_that_before_a_guess() -> None:
    memory = memory_of((2, 4.0), (2, 9.0), (2, 5.0))
    assert expected_s(memory, "words", 2, 7.0) == 7.0
    measured = expected_s(memory, "words", 2, None)
    assert 4.0 < measured < 6.0
    assert expected_s(memory, "another", 2, None) == measured
    assert expected_s(Memory("one"), "words", 2, None) == pytest.approx(FIRST_S)


def test_a_worker_that_starts_alone_waits_for_the_end_of_its_predecessor() -> None:
    """As two workers and one did on a lab: 4.3 s and 7.3 s, of which Storm waits for three."""
    assert expected_s(memory_of((2, 4.3)), "words", 1, None) == pytest.approx(
        3.0 + expected_pause_s([(2, 4.3)], 1)
    )
    assert expected_s(memory_of((2, 4.3), (1, 7.3)), "words", 2, None) == pytest.approx(
        expected_pause_s([(2, 4.3), (1, 4.3)], 2)
    )
    assert expected_s(memory_of((1, 2.0)), "words", 1, None) > 2.0, "half of it at least is no wait"


def look_at(*executors: tuple[str, str], ports: tuple[int, ...] = ()) -> TopologyLook:
    """Return a topology with executors of components on hosts; without ports one worker on each."""
    found = tuple(
        RunningExecutor(name, n, n, host, ports[n] if ports else 6700)
        for n, (name, host) in enumerate(executors)
    )
    return TopologyLook("words", "words-1", "ACTIVE", {}, found)


@pytest.mark.parametrize(
    ("wanted", "hosts", "workers"),
    [
        ({"parse": 2, "count": 8}, "abcdef", 6),
        ({"parse": 2, "count": 8}, "abcd", 4),
        ({"parse": 2, "count": 1}, "abcd", 2),
        ({"count": 2}, "abcd", 1),
        ({"count": 6}, "abcd", 3),
        ({"parse": 2}, "abcd", 2),
        ({"parse": 1, "count": 4}, "abcd", 1),
    ],
    ids=["new hosts", "no host for it", "fewer", "fewer of one", "more of one", "more of another", "none"],
)
def test_workers_start_anew_that_have_some_of_what_changes(
    wanted: dict[str, int], hosts: str, workers: int
) -> None:
    """And those of further hosts, as many as are needed for as many executors more."""
    topology = look_at(("spout", "a"), ("parse", "a"), *(("count", host) for host in "bbcc"))
    assert workers_to_start(topology, wanted, hosts) == workers


def test_what_runs_nowhere_starts_on_all_hosts_that_it_needs() -> None:
    assert workers_to_start(look_at(), {"parse": 2}, "abc") == 2
    assert workers_to_start(look_at(), {"parse": 4}, "abc") == 3


def test_several_workers_of_a_host() -> None:
    """Those with nothing of what changes go on."""
    topology = look_at(("parse", "a"), ("count", "a"), ports=(6700, 6701))
    assert workers_to_start(topology, {"count": 3}, "a") == 1
    assert workers_to_start(topology, {"parse": 3, "count": 3}, "ab") == 4
    assert workers_to_start(topology, {"parse": 3, "count": 3}, "a") == 2


@pytest.mark.parametrize(("drains", "workers"), [(False, 2), (True, 1)])
def test_no_worker_starts_where_a_host_is_drained(drains: bool, workers: int, tmp_path: Path) -> None:
    world = World(demand_per_s=20.0)
    leased = Lease("host-1", "one.lease-1", OFFER.name, "ready", world.now_s, "host-1", world.now_s, 2e9)
    world.given = {leased.request_id: leased}
    file = MemoryFile(tmp_path / "active.json")
    file.write(Memory("one", draining={"host-1": Draining("host-1", 1.9e9)} if drains else {}))
    pass_rounds(world, tmp_path, 1, settings_of(**LEARNING))
    assert [each.workers for each in file.read().pausing.values()] == [workers]


def test_a_pause_is_measured_a_while_after_the_change(tmp_path: Path) -> None:
    world = World(demand_per_s=20.0, pause_s=9.0)
    reports = pass_rounds(world, tmp_path, 8, settings_of(**LEARNING))
    steps = [each for report in reports for each in report.steps]
    assert [each.kind for each in steps] == ["rebalanced", "changed", "resumed"]
    first_s = 3.0 + expected_pause_s((), 1)
    assert steps[0].figures == pytest.approx({"expected_pause_s": first_s}), "of one worker, which waits"
    assert steps[2].figures == pytest.approx({"pause_s": 9.0, "expected_pause_s": first_s})
    memory = MemoryFile(tmp_path / "active.json").read()
    assert memory.past_pauses == {TOPOLOGY: (Measured(1, 9.0),)}
    assert memory.pausing == {}


def test_the_next_one_is_expected_to_be_like_it(tmp_path: Path) -> None:
    """The policy knows it, too."""
    world = World(demand_per_s=20.0, pause_s=9.0)
    settings = settings_of(**LEARNING)
    pass_rounds(world, tmp_path, 8, settings)
    world.demand_per_s = 60.0
    reports = pass_rounds(world, tmp_path, 8, settings)
    steps = [step for report in reports for step in report.steps if step.kind == "rebalanced"]
    by_size = expected_pause_s([(1, 6.0)], 3)
    assert steps[0].figures == {"expected_pause_s": pytest.approx(by_size)}, "three, of which none waits"
    asked = next(each.asked for each in reports if each.asked is not None)
    assert [each.pause_s for each in asked.parameters.components] == pytest.approx(
        [3.0 + expected_pause_s([(1, 6.0)], 1)]
    )
    assert [each.group for each in asked.parameters.components] == [TOPOLOGY]


def test_a_pause_is_measured_by_then_if_another_change_follows_soon(tmp_path: Path) -> None:
    """As far as it was seen, and before the next is expected."""
    world = World()
    begun = Pausing(world.now_s - 20.0, 2.0, moving_s=world.now_s - 10.0, lasted_s=9.0)
    wanted = Wanted({"count": 3})
    MemoryFile(tmp_path / "active.json").write(
        Memory("one", wanted={TOPOLOGY: wanted}, pausing={TOPOLOGY: begun})
    )
    (report,) = pass_rounds(world, tmp_path, 1, settings_of(**LEARNING))
    resumed, rebalanced = report.steps
    assert (resumed.kind, resumed.figures) == ("resumed", {"pause_s": 9.0, "expected_pause_s": 2.0})
    assert (rebalanced.kind, rebalanced.figures) == (
        "rebalanced",
        {"expected_pause_s": pytest.approx(3.0 + expected_pause_s([(1, 6.0)], 1))},
    )


def test_nothing_is_known_of_a_pause_whose_end_was_not_seen() -> None:
    begun = Pausing(0.0, 10.0, 3, lasted_s=4.0)
    memory, pause = with_pause_ended(Memory("one", pausing={TOPOLOGY: begun}), TOPOLOGY)
    assert (memory.pausing, memory.past_pauses, pause) == ({}, {}, None)
    ended = Memory("one", pausing={TOPOLOGY: replace(begun, moving_s=9.0)})
    memory, pause = with_pause_ended(ended, TOPOLOGY)
    assert (memory.pausing, memory.past_pauses) == ({}, {TOPOLOGY: (Measured(3, 4.0),)})
    assert pause == Pause(TOPOLOGY, 4.0, 10.0)
    assert with_pause_ended(memory, TOPOLOGY) == (memory, None)


def test_what_was_seen_of_a_pause_outlives_a_kill() -> None:
    """Nothing is seen after it of what was before; what was not over yet stays unknown."""
    world = World(pause_s=None)
    looks = world.look().topologies.values()
    begun = Pausing(world.now_s - 60.0, 5.0, 2, moving_s=world.now_s - 40.0, lasted_s=6.0)
    after, ended = with_pauses_ended(Memory("one", pausing={TOPOLOGY: begun}), looks, world, world.now_s)
    assert ended == (Pause(TOPOLOGY, 6.0, 5.0),)
    assert after.past_pauses == {TOPOLOGY: (Measured(2, 6.0),)}
    unseen = replace(begun, moving_s=None, lasted_s=None)
    after, ended = with_pauses_ended(Memory("one", pausing={TOPOLOGY: unseen}), looks, world, world.now_s)
    assert (ended, after.past_pauses) == ((), {})


def test_what_never_shows_its_end_is_not_measured(tmp_path: Path) -> None:
    world = World(demand_per_s=20.0, pause_s=None)
    pass_rounds(world, tmp_path, 20, settings_of(**LEARNING))
    memory = MemoryFile(tmp_path / "active.json").read()
    assert memory.past_pauses == {}
    assert memory.pausing == {}


@pytest.mark.parametrize("kill_at", range(1, 6))
def test_a_pause_is_measured_or_forgotten_if_the_loop_was_killed(kill_at: int, tmp_path: Path) -> None:
    """A loop that was killed does not know what was done meanwhile."""
    world = World(demand_per_s=20.0, pause_s=4.0, kill_at=kill_at)
    pass_rounds(world, tmp_path, 12, settings_of(**LEARNING))
    memory = MemoryFile(tmp_path / "active.json").read()
    assert {each.lasted_s for each in memory.past_pauses.get(TOPOLOGY, ())} <= {4.0}
    assert memory.pausing == {}


def test_only_the_last_pauses_are_kept() -> None:
    world = World()
    full = tuple(Measured(3, float(k)) for k in range(KEPT))
    memory = Memory("one", past_pauses={TOPOLOGY: full}, pausing={TOPOLOGY: Pausing(world.now_s, 10.0)})
    world.watch(TOPOLOGY_ID, (2,))
    world.now_s += 4 * ROUND_S
    after, ended = with_pauses_ended(memory, world.look().topologies.values(), world, world.now_s)
    assert len(after.past_pauses[TOPOLOGY]) == KEPT
    assert after.past_pauses[TOPOLOGY][-1] == Measured(1, ended[0].lasted_s)


def test_a_change_that_is_not_worth_its_pause_waits(tmp_path: Path) -> None:
    """Executors that are busy for 83 % of their time: that is late by little, and a pause by much."""
    table = {"mode": "active", "pause_s": 60.0}
    policy = {"parameters": {"keep_peak_s": 0.0, "penalty": 0.001}}
    settings = settings_of(topology={TOPOLOGY: table}, policy=policy)
    world = World(demand_per_s=25.0, counts={"spout": 1, "bolt": 3})
    pass_rounds(world, tmp_path, 4, settings)
    assert world.rebalances == 0
    world.demand_per_s = 35.0
    pass_rounds(world, tmp_path, 8, settings)
    assert world.rebalances == 1, "three do not keep up with it"


def test_what_comes_last_is_watched() -> None:
    (look,) = World().look().topologies.values()
    assert last_tasks(look) == frozenset(range(2, 26)), "the bolt's tasks, not the spout's"


def test_nothing_is_decided_on_what_was_counted_while_items_stood_still(tmp_path: Path) -> None:
    """Then readings begin anew; items that never stop and start are believed after a while."""
    world = World(demand_per_s=20.0, pause_s=None)
    settings = settings_of(**LEARNING)
    pass_rounds(world, tmp_path, 1, settings)
    world.demand_per_s = 60.0
    reports = pass_rounds(world, tmp_path, 2, settings)
    assert world.rebalances == 1
    held = [reason for each in reports if each.decision for reason in each.decision.reasons]
    assert {each.verdict for each in held} == {"held"}
    world.pause_s = 9.0
    (since_s,) = (each.since_s for each in MemoryFile(tmp_path / "active.json").read().pausing.values())
    pass_rounds(world, tmp_path, 8, settings)
    assert world.rebalances == 2
    assert MemoryFile(tmp_path / "active.json").read().changed_s[TOPOLOGY] > since_s


def test_a_short_lack_of_items_is_no_pause() -> None:
    """Four seconds of an expected ten are, three are not."""
    world = World(pause_s=3.0)
    world.watch(TOPOLOGY_ID, (2,))
    memory = Memory("one", pausing={TOPOLOGY: Pausing(world.now_s, 10.0)})
    looks = world.look().topologies.values()
    world.now_s += ROUND_S
    after, _ = with_pauses_ended(memory, looks, world, world.now_s)
    assert standing(after) == {TOPOLOGY}
    world.pause_s = 4.0
    after, _ = with_pauses_ended(memory, looks, world, world.now_s)
    assert standing(after) == frozenset()
    assert after.changed_s == {TOPOLOGY: world.now_s}


@pytest.mark.parametrize(("expected_s", "over_s"), [(2.0, 15.0), (8.0, 24.0)])
def test_a_pause_too_short_to_be_seen_is_over_once_workers_have_started(
    expected_s: float, over_s: float
) -> None:
    """If there is work then; before, it may still come."""
    world = World(pause_s=0.0)
    world.watch(TOPOLOGY_ID, (2,))
    memory = Memory("one", pausing={TOPOLOGY: Pausing(world.now_s, expected_s)})
    looks, begun_s = world.look().topologies.values(), world.now_s

    def after(passed_s: float, untold_s: float | None) -> Memory:
        world.untold_pause_s = untold_s
        return with_pauses_ended(memory, looks, world, begun_s + passed_s)[0]

    assert standing(after(over_s - 1.0, 1.0)) == {TOPOLOGY}
    assert standing(after(over_s, None)) == {TOPOLOGY}, "no work"
    assert standing(after(over_s, 1.0)) == frozenset()
    assert after(45.0, None).past_pauses == {}
    assert after(45.0, 1.0).past_pauses == {TOPOLOGY: (Measured(1, 1.0),)}


def test_a_topology_that_is_gone_is_not_waited_for() -> None:
    memory = Memory("one", pausing={TOPOLOGY: Pausing(0.0, 10.0)})
    after, ended = with_pauses_ended(memory, (), World(), 1.0)
    assert after.pausing == {}
    assert ended == ()


def test_a_topology_that_stands_still_is_not_changed_again(tmp_path: Path) -> None:
    """A host comes up while workers start: what is to run there is asked for once they work."""
    world = World(demand_per_s=45.0, pause_s=None)
    settings = settings_of(topology={TOPOLOGY: {"mode": "active"}})
    asked_s: list[float] = []
    for _ in range(12):
        (report,) = pass_rounds(world, tmp_path, 1, settings)
        asked_s += [report.now_s for step in report.steps if step.kind == "rebalanced"]
    assert len(asked_s) == 2
    assert asked_s[1] - asked_s[0] >= 45.0
