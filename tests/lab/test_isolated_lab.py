"""What a lab with an isolated site reports: keeper, client and command line, without a cluster."""

from __future__ import annotations

import json
import os
import select
import threading
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from cli.lab import app
from lab import commands
from lab.anchor import take_lock
from lab.cluster import LabClient
from lab.commands import Command, Programs
from lab.control import ControlServer, ask
from lab.errors import LabError
from lab.fleet import Fleet
from lab.keeper import Keeper
from lab.observer import Observation
from lab.places import LabFolder
from lab.service import Service
from lab.sites import read_site_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT_S = 20.0
SITES = {"near": 0, "far": 1}


class EmptyLab:
    """A keeper that answers on its socket but keeps nothing; its forwarder repeats what it receives."""

    def __init__(self, root: Path, site_file: Path) -> None:
        self.client = LabClient(root)
        folder = self.client.folder
        folder.logs.mkdir()
        fleet = Fleet(folder, read_site_file(site_file), Programs("java", "redis-server", root), "even")
        self._forwarder = Service(Command("forwarder", None, ("cat",), piped=True), folder.logs)
        self._forwarder.start(None)
        nimbus = Service(Command("nimbus", None, ()), folder.logs)
        nimbus.state = "running"
        observer = Service(commands.observer(("nimbus",)), folder.logs)
        holders = [Service(commands.pause(host), folder.logs) for host in fleet.hosts]
        parts = (self._forwarder, nimbus, observer, *holders)
        fleet.services = {one.command.name: one for one in parts}
        self.fleet = fleet
        self._keeper = Keeper(fleet, starter=-1)
        lock = take_lock(folder)
        assert lock is not None
        self._lock = lock
        server = ControlServer(folder.socket)
        self._thread = threading.Thread(target=self._serve, args=(server,))
        self._thread.start()

    def _serve(self, server: ControlServer) -> None:
        while not self._keeper._progress.stopping:
            server.serve_one(self._keeper._handle)

    def observe(self, *hosts: str) -> None:
        """Have the observer say that Nimbus knows these supervisors and their agents publish."""
        self._keeper._observation = Observation(
            1.0,
            zookeeper=True,
            redis=True,
            leader=True,
            supervisors=dict.fromkeys(hosts, (2, 0)),
            agents=hosts,
        )

    def next_change(self) -> object:
        """Return the next change that the forwarder received."""
        line = b""
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([self._forwarder.output], [], [], WAIT_S)
            assert readable, "the forwarder received nothing"
            line += os.read(self._forwarder.output, 1)
        return json.loads(line)

    def lose_forwarder(self) -> None:
        """Have the forwarder end."""
        assert self._forwarder.pid is not None
        self._forwarder.stop()
        self._forwarder.ended(os.waitpid(self._forwarder.pid, 0)[1])

    def close(self) -> None:
        ask(self.client.folder.socket, {"do": "stop"})
        self._thread.join()
        os.close(self._lock)
        if self._forwarder.pid is not None:
            self.lose_forwarder()


@pytest.fixture
def lab(tmp_path: Path, two_sites: Path) -> Iterator[EmptyLab]:
    lab = EmptyLab(tmp_path, two_sites)
    try:
        yield lab
    finally:
        lab.close()


@pytest.mark.parametrize("site", SITES)
def test_any_site_may_be_isolated_and_rejoin(lab: EmptyLab, site: str) -> None:
    """The forwarder receives it and the status says so, for the services' site as for any other."""
    lab.client.isolate(site)
    assert lab.next_change() == {"isolated": [SITES[site]]}
    assert lab.client.status().isolated == (site,)
    lab.client.rejoin(site)
    assert lab.next_change() == {"isolated": []}
    assert lab.client.status().isolated == ()


def test_isolating_and_rejoining_are_repeatable(lab: EmptyLab) -> None:
    """As with a delay, what already is so is no fault, and one site's isolation is not another's."""
    lab.client.rejoin("far")
    for site in ("far", "near", "far"):
        lab.client.isolate(site)
    assert lab.client.status().isolated == ("near", "far")
    lab.client.rejoin("near")
    assert lab.client.status().isolated == ("far",)


def test_what_ends_at_an_isolated_site_starts_again_when_it_is_back(
    lab: EmptyLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then it waits, and nothing wakes up for it; a service that reaches Nimbus does not wait."""
    starts: list[str] = []
    monkeypatch.setattr(Service, "start", lambda self, _: starts.append(self.command.name))
    monkeypatch.setattr(Fleet, "pause_pid", lambda *_: 1)
    for host in ("near-1", "far-1"):
        service = Service(Command(f"supervisor-{host}", host, ("true",)), lab.client.folder.logs)
        service.restart()
        lab.fleet.services[service.command.name] = service
    lab.client.isolate("far")
    assert lab.fleet.tend() == ["supervisor-near-1"]
    del lab.fleet.services["supervisor-near-1"]
    assert lab.fleet.next_due_s() is None
    lab.client.rejoin("far")
    assert lab.fleet.next_due_s() is not None
    assert lab.fleet.tend() == ["supervisor-far-1"]
    assert starts == ["supervisor-near-1", "supervisor-far-1"]


def test_delays_set_while_isolated_are_kept(lab: EmptyLab) -> None:
    """Isolating changes no delay, and a delay may be set meanwhile."""
    before = lab.client.status().delays_ms
    lab.client.isolate("far")
    assert lab.client.status().delays_ms == before
    lab.client.set_delay("near", "far", 60.0)
    lab.client.rejoin("far")
    assert ("near", "far", 60.0) in lab.client.status().delays_ms


def test_an_unknown_site_changes_nothing(lab: EmptyLab) -> None:
    """A site that is not there is refused with the names of those that are."""
    for change in (lab.client.isolate, lab.client.rejoin):
        with pytest.raises(LabError, match="no site is named 'moon'; sites are near, far"):
            change("moon")
    assert lab.client.status().isolated == ()


def test_what_the_forwarder_did_not_receive_is_not_so(lab: EmptyLab) -> None:
    """Without its emulator a lab cannot isolate, and does not say that it has."""
    lab.lose_forwarder()
    with pytest.raises(LabError, match="forwarder does not run"):
        lab.client.isolate("far")
    assert lab.client.status().isolated == ()


def test_hosts_cut_off_on_purpose_are_not_missing(lab: EmptyLab) -> None:
    """A lab is ready without the hosts that an isolation keeps from Nimbus, and waits for them afterwards."""
    lab.observe("near-1", "near-2", "far-1")
    assert lab.client.status().state == "ready"
    lab.observe("near-1", "near-2")
    assert lab.client.status().pending == ("supervisors (2 of 3)", "agents (2 of 3)")
    for site in SITES:
        lab.client.isolate(site)
        assert lab.client.status().state == "ready", site
        lab.client.rejoin(site)
    lab.client.isolate("far")
    lab.observe("near-1")
    assert lab.client.status().pending == ("supervisors (1 of 2)", "agents (1 of 2)")
    lab.client.rejoin("far")
    assert lab.client.status().pending == ("supervisors (1 of 3)", "agents (1 of 3)")


def command(lab: EmptyLab, *arguments: str) -> str:
    """Run a command of the group `lab` and return what it prints."""
    name, *rest = arguments
    done = CliRunner().invoke(app, [name, "--dir", str(lab.client.folder.root), *rest])
    assert done.exit_code == 0, done.output
    return done.output


def test_the_commands_tell_what_is_so_now(lab: EmptyLab) -> None:
    """Each command says in one line what holds, also when it held before."""
    for _ in range(2):
        assert command(lab, "isolate", "far") == "far: isolated from all other sites\n"
    for _ in range(2):
        assert command(lab, "rejoin", "far") == "far: not isolated\n"


def test_the_status_names_isolated_sites(lab: EmptyLab) -> None:
    """They stand in the text and in the JSON, and only while they are isolated."""
    sentence = "far: isolated from all other sites\n"
    lab.client.isolate("far")
    assert sentence in command(lab, "status")
    assert json.loads(command(lab, "status", "--json"))["isolated"] == ["far"]
    lab.client.rejoin("far")
    assert "isolated from" not in command(lab, "status")
    assert json.loads(command(lab, "status", "--json"))["isolated"] == []


def test_a_host_that_has_left_is_not_missing_until_it_joins_again(
    lab: EmptyLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its supervisor and its agent start then, once."""
    starts: list[str] = []
    monkeypatch.setattr(Service, "start", lambda self, _: starts.append(self.command.name))
    monkeypatch.setattr(Fleet, "pause_pid", lambda *_: 1)
    lab.observe("near-1", "near-2")
    assert lab.client.status().state == "starting"
    lab.client.leave("far-1")
    assert (lab.client.status().state, lab.client.status().absent) == ("ready", ("far-1",))
    for _ in range(2):
        lab.client.join("far-1")
        for service in lab.fleet.services.values():
            service.state = "running"
    assert starts == ["supervisor-far-1", "agent-far-1"]
    assert lab.client.status().pending == ("supervisors (2 of 3)", "agents (2 of 3)")
    assert lab.client.status().absent == ()


def test_only_supervisor_hosts_join_and_leave(lab: EmptyLab) -> None:
    named = "no supervisor host is named 'redis'; supervisor hosts are near-1, near-2, far-1"
    for change in (lab.client.join, lab.client.leave):
        with pytest.raises(LabError, match=named):
            change("redis")


def test_a_host_may_begin_absent(tmp_path: Path, two_sites: Path) -> None:
    own = two_sites.read_text(encoding="utf-8") + '\n[[host]]\nname = "far-1"\njoined = false\n'
    sites = tmp_path / "sites.toml"
    sites.write_text(own, encoding="utf-8")
    programs = Programs("java", "redis-server", tmp_path)
    fleet = Fleet(LabFolder(tmp_path), read_site_file(sites), programs, "even")
    assert fleet.absent == {"far-1"}
    assert [host.name for host in fleet.hosts if not fleet.expected(host)] == ["far-1"]
