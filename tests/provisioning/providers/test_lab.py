"""Hosts of a lab join and leave by its own commands."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from provisioning.providers.provider import ProviderError

pytestmark = pytest.mark.programs
T = 1_000_000.0


@pytest.fixture
def world(make_world: Any) -> Any:
    return make_world("lab")


def test_hosts_that_have_not_joined_are_leased_in_the_order_of_the_file(world: Any) -> None:
    provider = world.made(folder="/a lab")
    assert [provider.lease("small", f"r-{k}", T).host for k in range(3)] == ["rome-3", "rome-4", "rome-5"]
    with pytest.raises(ProviderError, match=r"^no name of a host is free: all 3 are leased"):
        provider.lease("small", "r-3", T)
    provider.leases(T)
    provider.release("lease-2", T, T)
    folder = f"{world.folder / 'cloud'} lab"
    assert world.calls == [
        *(f"{folder} join rome-{k} --dir /a lab" for k in (3, 4, 5)),
        f"{folder} status --json --dir /a lab",
        f"{folder} leave rome-4 --dir /a lab",
    ]


def test_a_host_is_ready_when_nimbus_knows_its_slots(world: Any) -> None:
    world.become("booting")
    world.made().lease("small", "r-1", T)
    assert [each.status for each in world.made().leases(T + 5.0)] == ["booting"]
    world.become("ready")
    assert [(each.status, each.ready_at_s) for each in world.made().leases(T + 20.0)] == [("ready", T + 20.0)]


def test_an_added_boot_time_passes_before_a_host_joins(world: Any) -> None:
    """One that is given back before has never joined."""
    for request in ("r-1", "r-2"):
        world.made(added_boot_s=45.0).lease("small", request, T)
    assert world.made(added_boot_s=45.0).release("lease-2", T, T + 1.0).status == "gone"
    world.made(added_boot_s=45.0).leases(T + 44.0)
    assert not world.calls
    assert world.made(added_boot_s=45.0).leases(T + 45.0)[0].status == "ready"
    assert [each.split()[2:] for each in world.calls] == [["join", "rome-3"], ["status", "--json"]]


def test_a_delayed_start_that_is_refused_has_failed(world: Any) -> None:
    (world.folder / "fails").write_text("#!/bin/sh\necho 'no lab is running' >&2\nexit 2\n")
    (world.folder / "fails").chmod(0o755)
    changes = {"added_boot_s": 45.0, "program": [str(world.folder / "fails")]}
    world.made(**changes).lease("small", "r-1", T)
    (lease,) = world.made(**changes).leases(T + 45.0)
    assert (lease.status, lease.cost) == ("failed", 0.0)
    assert lease.reason.endswith("fails ended with status 2: no lab is running")


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("{}", r"^list: what the lab says is no status of one: state: missing$"),
        ('{"state": "absent", "hosts": []}', "^list: no lab is running$"),
    ],
)
def test_a_lab_that_is_not_there_is_an_error(world: Any, printed: str, said: str) -> None:
    world.made().lease("small", "r-1", T)
    program = ["sh", "-c", f"echo '{printed}'"]
    with pytest.raises(ProviderError, match=said):
        world.made(program=program).leases(T)


def test_the_commands_are_those_of_the_program(world: Any) -> None:
    """Where no lab runs, its own sentence says so."""
    changes = {"program": [sys.executable, "-m", "cli.main"], "folder": str(world.folder / "no-lab")}
    with pytest.raises(ProviderError, match=r"ended with status 2: .*no lab is running in .*/no-lab"):
        world.made(**changes).lease("small", "r-1", T)


def test_a_site_file_without_hosts_to_lease_is_refused(world: Any) -> None:
    sites = world.folder / "sites.toml"
    text = sites.read_text()
    sites.write_text(text.replace("joined = false", "joined = true"))
    with pytest.raises(ProviderError, match=rf"^site file {sites}: no \[\[host\]\] has joined = false"):
        world.made()
    sites.write_text(text.replace("slots = 4", "slots = 0"))
    with pytest.raises(ProviderError, match=rf"^site file {sites}: site\[0\]\.slots: "):
        world.made()
