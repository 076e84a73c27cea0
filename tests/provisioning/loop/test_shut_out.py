"""Hosts that Nimbus lists and on which Storm starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.provisioning.loop.layered import layered
from tests.provisioning.loop.test_active import capacity_per_s, check_at_rest, pass_rounds
from tests.provisioning.loop.world import World, settings_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_host_that_storm_shuts_out_takes_nothing(tmp_path: Path) -> None:
    """One that comes back with the id of a host that had gone, for one: executors wait until it is let in."""
    world = World(demand_per_s=45.0, banned={"host-1"})
    *_, last = reports = pass_rounds(world, tmp_path, 8)
    assert "host-1: shut out by Storm's BlacklistScheduler: nothing starts there" in last.faults
    up = [step.about for each in reports for step in each.steps if step.kind == "host-up"]
    assert "host-1" not in up
    assert "host-1" not in {each.host for each in world.executors()}
    world.banned.clear()
    pass_rounds(world, tmp_path, 10)
    check_at_rest(world, tmp_path)
    assert capacity_per_s(world) * 0.8 >= 45.0


def test_a_host_that_is_shut_out_for_too_long_is_given_back(tmp_path: Path) -> None:
    world = World(demand_per_s=45.0, banned={"host-1"})
    reports = pass_rounds(world, tmp_path, 20, settings_of(boot_timeout_s=120.0))
    lost = [step.why for each in reports for step in each.steps if step.kind == "host-lost"]
    assert lost[0] == "Nimbus bans it still after 120 s (the provider calls it ready): given back"


def test_one_that_is_to_be_stopped_takes_nothing_when_it_is_let_in(tmp_path: Path) -> None:
    """The provider may stop it at any moment."""
    world, settings = World(demand_per_s=45.0, banned={"host-1"}), settings_of(boot_timeout_s=120.0)
    world.unstoppable = True
    pass_rounds(world, tmp_path, 14, settings)
    world.banned.clear()
    reports = pass_rounds(world, tmp_path, 4, settings)
    assert "host-1" not in {step.about for each in reports for step in each.steps if step.kind == "host-up"}


def test_one_that_is_idle_is_none_to_a_pool_of_idle_hosts(tmp_path: Path) -> None:
    """Else it would be the idle host that there is to be."""
    world = World(banned={"own-2"}, own_hosts=("own-1", "own-2"))
    (report,) = pass_rounds(world, tmp_path, 1, layered("threshold"))
    assert report.asked is not None
    statuses = {each.name: each.status for each in report.asked.observation.hosts}
    assert statuses == {"own-1": "ready", "own-2": "leaving"}
