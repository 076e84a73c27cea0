"""Two topologies, of which one cannot be scaled: the other one is, and its hosts come and go."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from provisioning.cluster.look import UNREADABLE
from provisioning.loop.advice import AdvisingLoop
from provisioning.loop.memory import Memory, MemoryFile, Request, Wanted
from provisioning.loop.pool import Pool
from provisioning.loop.seeing import Seeing
from tests.provisioning.loop.beside import (
    OTHER,
    OTHER_ID,
    Beside,
    settings_of_both,
    unplaced,
)
from tests.provisioning.loop.layered import layered
from tests.provisioning.loop.test_active import pass_rounds
from tests.provisioning.loop.test_mid_change import REQUEST, leased, remembering, steps_of
from tests.provisioning.loop.world import OFFER, ROUND_S, TOPOLOGY, settings_of

if TYPE_CHECKING:
    from pathlib import Path


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


def test_one_whose_workers_outlive_their_supervisor_holds_the_others_for_three_minutes(
    tmp_path: Path,
) -> None:
    world = Beside(demand_per_s=45.0)
    executors = world.look().topologies[OTHER].executors
    world.other = {"executors": tuple(replace(each, host="gone-1") for each in executors)}
    first, *_, last = reports = pass_rounds(world, tmp_path, 13, settings_of_both())
    assert first.held == "other: it has workers on gone-1, which Nimbus does not list"
    assert {each.held_by for each in reports[:12]} == {"unlisted_host"}
    why = "other: it has had workers on gone-1 for long, which Nimbus does not list: it is not scaled"
    assert why in last.faults
    assert last.held_by != "unlisted_host"
    pass_rounds(world, tmp_path, 3, settings_of_both())
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


@pytest.mark.parametrize("kind", ["sized", "threshold"])
@pytest.mark.parametrize("why", ["unplaced", "too large", "unreadable", "changing"])
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
    elif why == "changing":
        world.other["status"] = "REBALANCING"
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
