"""Rounds that act: what was decided comes about, wherever the process is killed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from provisioning.loop.memory import MemoryFile
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, Killed, World, loop_of, settings_of

if TYPE_CHECKING:
    from pathlib import Path

    from provisioning.loop.report import Report
    from provisioning.settings import ElasticSettings


def pass_rounds(
    world: World, folder: Path, rounds: int, settings: ElasticSettings | None = None
) -> list[Report]:
    """Carry out rounds; a process that is killed starts again with the next one."""
    reports = []
    loop = loop_of(world, folder, settings)
    for _ in range(rounds):
        try:
            reports.append(loop.round(world.look(), world.now_s))
        except Killed:
            loop = loop_of(world, folder, settings)
        world.now_s += ROUND_S
    return reports


ELSEWHERE = replace(OFFER, name="elsewhere", unit_cost=2.0)


def capacity_per_s(world: World) -> float:
    return world.counts["bolt"] * 1000.0 / world.service_ms


def check_at_rest(world: World, folder: Path) -> None:
    """Nothing is left to do, no host is leased in vain, none of the executors is lost."""
    memory = MemoryFile(folder / "active.json").read()
    assert not memory.requests
    assert not memory.wanted
    assert not memory.draining
    assert not world.drained
    live = {each.host for each in world.given.values() if each.live}
    assert live <= {each.host for each in world.executors()}
    assert sum(each.last_task - each.first_task + 1 for each in world.executors()) == world.tasks + 1


def test_more_load_brings_executors_and_a_host(tmp_path: Path) -> None:
    """Three executors more fit on the own host; what does not fit comes with a leased one, once it is up."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    assert capacity_per_s(world) * 0.8 >= 45.0
    assert len(world.given) == 1
    check_at_rest(world, tmp_path)


def test_a_rebalance_waits_for_the_host(tmp_path: Path) -> None:
    """Executors for a host that boots are not started on others meanwhile."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 2)
    (lease,) = world.given.values()
    assert lease.status == "booting"
    assert world.counts["bolt"] <= 3


def test_less_load_gives_the_host_back_when_its_paid_time_ends(tmp_path: Path) -> None:
    """It is emptied before, and not paid for once more."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    world.demand_per_s = 5.0
    pass_rounds(world, tmp_path, 50)
    (lease,) = world.given.values()
    assert lease.status == "gone"
    assert lease.release_at_s is not None
    assert lease.paid_until_s is not None
    assert lease.release_at_s <= lease.paid_until_s
    check_at_rest(world, tmp_path)


def test_a_host_that_cannot_be_stopped_stays_empty_and_is_named(tmp_path: Path) -> None:
    """For longer than a drain lasts by itself."""
    world, settings = World(demand_per_s=45.0), settings_of(boot_timeout_s=120.0)
    pass_rounds(world, tmp_path, 12, settings)
    world.demand_per_s, world.unstoppable = 5.0, True
    pass_rounds(world, tmp_path, 60, settings)
    before = len(world.holds)
    *_, last = pass_rounds(world, tmp_path, 10, settings)
    assert len(world.holds) == before + 10
    said = [step.why for step in last.steps if step.kind == "failed"]
    assert said == ["it could not be stopped: the cloud refuses"]
    world.unstoppable = False
    pass_rounds(world, tmp_path, 10, settings)
    check_at_rest(world, tmp_path)


def test_a_host_that_others_took_away_is_named(tmp_path: Path) -> None:
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    ((name, lease),) = world.given.items()
    world.given[name] = replace(lease, status="gone", reason="it is terminated")
    (report,) = pass_rounds(world, tmp_path, 1)
    assert "host-1: its lease ended, which was not asked for (it is terminated)" in report.faults


def test_a_change_is_asked_for_once(tmp_path: Path) -> None:
    """Rounds under an even load ask Nimbus for nothing more."""
    world = World(demand_per_s=20.0)
    pass_rounds(world, tmp_path, 30)
    assert world.rebalances == 1


@pytest.mark.parametrize("kill_at", range(1, 15))
def test_a_killed_loop_goes_on(kill_at: int, tmp_path: Path) -> None:
    """Up, and down again, killed before or after each step has its effect.

    No host is leaked or asked for twice, no executor is lost.
    """
    world = World(demand_per_s=45.0, kill_at=kill_at)
    pass_rounds(world, tmp_path, 14)
    assert capacity_per_s(world) * 0.8 >= 45.0
    assert sum(each.live for each in world.given.values()) == 1
    world.demand_per_s = 5.0
    pass_rounds(world, tmp_path, 60)
    assert world.calls > kill_at
    assert not any(each.live for each in world.given.values())
    check_at_rest(world, tmp_path)


def test_no_readings_hold_everything(tmp_path: Path) -> None:
    """Without a word of the workers nothing is given back or changed, and the report says so."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    world.demand_per_s, world.spoken = 5.0, False
    reports = pass_rounds(world, tmp_path, 50)
    assert [each.status for each in world.given.values()] == ["ready"]
    assert any("topology.metrics.reporters" in each for each in reports[-1].faults)


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("unplaced", "of its tasks have no slot"),
        ("unlisted", "words: it has workers on host-1, which Nimbus does not list"),
    ],
)
def test_a_host_that_fails_is_no_reason_to_scale(what: str, why: str, tmp_path: Path) -> None:
    """Storm starts its executors elsewhere; until then their number is not what is seen."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    counts, hosts = dict(world.counts), len(world.given)
    getattr(world, what).add("host-1")
    (report,) = pass_rounds(world, tmp_path, 1)
    assert why in report.held
    getattr(world, what).clear()
    pass_rounds(world, tmp_path, 6)
    assert (world.counts, len(world.given)) == (counts, hosts)


def test_a_provider_that_refuses_is_asked_again(tmp_path: Path) -> None:
    world = World(demand_per_s=45.0, refuse=True)
    reports = pass_rounds(world, tmp_path, 6)
    assert any(step.why == "there are no hosts left" for each in reports for step in each.steps)
    world.refuse = False
    pass_rounds(world, tmp_path, 10)
    check_at_rest(world, tmp_path)
    assert capacity_per_s(world) * 0.8 >= 45.0


def test_a_host_that_never_comes_up_is_given_back(tmp_path: Path) -> None:
    """Whatever the provider says: Nimbus has to know it."""
    world = World(demand_per_s=45.0, never_up=True)
    reports = pass_rounds(world, tmp_path, 20, settings_of(boot_timeout_s=120.0))
    lost = [step for each in reports for step in each.steps if step.kind == "host-lost"]
    assert lost
    assert "the provider calls it ready" in lost[0].why
    assert next(iter(world.given.values())).status == "gone"


BOTH = {"leased": (OFFER.name, ELSEWHERE.name)}


@pytest.mark.parametrize("what", ["sold_out", "failing"])
def test_where_an_offer_has_no_hosts_another_one_has(what: str, tmp_path: Path) -> None:
    """The next host is asked for there."""
    world = World(demand_per_s=45.0, offered=(OFFER, ELSEWHERE))
    setattr(world, what, frozenset({OFFER.name}))
    pass_rounds(world, tmp_path, 12, settings_of(**BOTH))
    assert [each.offer for each in world.given.values() if each.live] == [ELSEWHERE.name]
    assert MemoryFile(tmp_path / "active.json").read().lost_s.keys() == {OFFER.name}
    assert capacity_per_s(world) * 0.8 >= 45.0
    check_at_rest(world, tmp_path)


def test_an_offer_without_another_one_is_asked_again(tmp_path: Path) -> None:
    world = World(demand_per_s=45.0, sold_out=frozenset({OFFER.name}))
    reports = pass_rounds(world, tmp_path, 4)
    said = [step.why for each in reports for step in each.steps if step.kind == "failed"]
    assert said == [f"{OFFER.name} is sold out"] * 4
    world.sold_out = frozenset()
    pass_rounds(world, tmp_path, 12)
    check_at_rest(world, tmp_path)


def test_what_was_never_asked_for_says_nothing_of_its_offer(tmp_path: Path) -> None:
    """The loop was killed before it asked, and was away for long."""
    world = World(demand_per_s=45.0, offered=(OFFER, ELSEWHERE), refuse=True)
    settings = settings_of(**BOTH)
    pass_rounds(world, tmp_path, 1, settings)
    world.refuse, world.now_s = False, world.now_s + 3600.0
    reports = pass_rounds(world, tmp_path, 12, settings)
    assert [step.kind for step in reports[0].steps][:1] == ["host-lost"]
    assert [each.offer for each in world.given.values()] == [OFFER.name]


def test_offers_have_limits_of_their_own(tmp_path: Path) -> None:
    """Whatever is needed: one here and one there."""
    world = World(demand_per_s=200.0, offered=(OFFER, ELSEWHERE))
    most = {OFFER.name: 1, ELSEWHERE.name: 1}
    reports = pass_rounds(world, tmp_path, 20, settings_of(limits={"hosts_max_of": most}, **BOTH))
    assert [each.offer for each in world.given.values()] == [OFFER.name, ELSEWHERE.name]
    assert not any(each.limited for each in reports)
    check_at_rest(world, tmp_path)


def test_hosts_that_were_asked_for_count(tmp_path: Path) -> None:
    """The provider does not answer: the second host is asked for elsewhere all the same."""
    world = World(demand_per_s=45.0, offered=(OFFER, ELSEWHERE), refuse=True)
    settings = settings_of(limits={"hosts_max_of": {OFFER.name: 1}}, **BOTH)
    pass_rounds(world, tmp_path, 2, settings)
    world.demand_per_s = 200.0
    pass_rounds(world, tmp_path, 8, settings)
    asked = [each.offer for each in MemoryFile(tmp_path / "active.json").read().requests.values()]
    assert asked.count(OFFER.name) == 1
    assert asked.count(ELSEWHERE.name) >= 1


def test_what_cannot_be_leased_keeps_nothing_else_waiting(tmp_path: Path) -> None:
    """There may be three hosts, and two are all: executors change on these, and the log says why."""
    world = World(demand_per_s=200.0)
    settings = settings_of(limits={"hosts_max_of": {OFFER.name: 1}, "hosts_min": 3})
    reports = pass_rounds(world, tmp_path, 16, settings)
    assert len(world.given) == 1
    assert world.counts["bolt"] >= 6
    assert not any(each.limited for each in reports)
    said = {step.why for each in reports for step in each.steps if step.about == "limits"}
    assert said == {"1 host more cannot be leased of any offer"}


def test_a_paused_topology_is_left_alone(tmp_path: Path) -> None:
    world = World(demand_per_s=45.0, status="INACTIVE")
    reports = pass_rounds(world, tmp_path, 5)
    assert reports[-1].held == "none of its topologies is active on the cluster"
    assert not world.given
    assert not world.rebalances


def test_a_limit_of_changes_is_named(tmp_path: Path) -> None:
    """What it keeps from being done is not done in part."""
    world = World(demand_per_s=20.0)
    settings = settings_of(limits={"reconfigurations_per_hour": 1})
    pass_rounds(world, tmp_path, 6, settings)
    before = dict(world.counts)
    world.demand_per_s = 45.0
    reports = pass_rounds(world, tmp_path, 8, settings)
    assert any("may be changed 1 times an hour, and was" in each.limited for each in reports)
    assert not world.given
    assert world.counts == before


def test_a_budget_bounds_the_hosts_and_what_there_is_is_used(tmp_path: Path) -> None:
    """A host costs six an hour: with five there is none, and the own host has room for three bolts."""
    world = World(demand_per_s=45.0)
    settings = settings_of(limits={"reconfigurations_per_hour": 100, "budget_per_hour": 5.0})
    reports = pass_rounds(world, tmp_path, 8, settings)
    assert not world.given
    assert world.counts["bolt"] == 3
    assert any(
        "there are 1 hosts at most" in reason.why
        for each in reports
        if each.decision is not None
        for reason in each.decision.reasons
    )


def test_a_stated_limit_of_executors_is_kept(tmp_path: Path) -> None:
    """Of 12 tasks seven executors do as much as six: rounding up would exceed the limit."""
    topology = {TOPOLOGY: {"mode": "active", "component": {"bolt": {"max": 7}}}}
    world = World(demand_per_s=200.0, tasks=12, own_hosts=("own-1", "own-2", "own-3", "own-4"))
    pass_rounds(world, tmp_path, 20, settings_of(topology=topology))
    assert world.counts["bolt"] == 6


def test_what_is_not_placed_is_taken_back_and_not_asked_for_again(tmp_path: Path) -> None:
    """With more than three bolts nothing of the topology gets a slot; half as many more are tried next."""
    world = World(demand_per_s=45.0, places=3)
    reports = pass_rounds(world, tmp_path, 80)
    given_up = [step for each in reports for step in each.steps if step.kind == "given-up"]
    assert [step.why for step in given_up] == [f"bolt: {n}: its executors are not placed" for n in (6, 4)]
    assert world.counts["bolt"] == 3
    assert sum("have no slot" in each.held for each in reports) <= 6


def test_a_leased_host_that_is_gone_for_nimbus_is_given_back(tmp_path: Path) -> None:
    """Its executors run elsewhere by then; until then the report says so once."""
    world = World(demand_per_s=45.0)
    settings = settings_of(boot_timeout_s=120.0)
    pass_rounds(world, tmp_path, 12, settings)
    world.dead.add("host-1")
    reports = pass_rounds(world, tmp_path, 20, settings)
    lost = [step for each in reports for step in each.steps if step.about == "host-1"]
    assert [step.kind for step in lost] == ["host-lost", "released"]
    assert world.given[next(iter(world.given))].status == "gone"


def test_where_there_is_nothing_to_scale_idle_hosts_go(tmp_path: Path) -> None:
    """The topology was killed: its leased host goes at the end of its paid time."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    world.killed = True
    pass_rounds(world, tmp_path, 60)
    assert [each.status for each in world.given.values()] == ["gone"]


def test_another_policy_asks_by_other_names(tmp_path: Path) -> None:
    """It numbers its requests from 1 again, and must not get the host that another one has leased."""
    world = World(demand_per_s=45.0)
    pass_rounds(world, tmp_path, 12)
    policy = {"kind": "btu"}
    memory = MemoryFile(tmp_path / "active.json").read()
    pass_rounds(world, tmp_path, 2, settings_of(policy=policy))
    after = MemoryFile(tmp_path / "active.json").read()
    assert after.instance == f"{memory.instance}-2"
    assert after.kind == "btu"
