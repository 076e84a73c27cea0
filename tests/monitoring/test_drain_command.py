"""`stormplace drain` and `undrain` against a real ZooKeeper."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest
from kazoo.security import make_digest_acl
from typer.testing import CliRunner

from cli.commands import app
from cli.drain.drain import _wait
from cli.drain.drain_live import KnownHost
from cli.errors import UserError
from cli.network.network_live import read_live

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def command(zookeeper: Any, root: str) -> Callable[..., tuple[int, str]]:
    """Run a command; returns its status, and what it printed or why it refused."""

    def run(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, [*arguments, "--zookeeper", zookeeper.address, "--root", root])
        if isinstance(done.exception, UserError):
            return done.exception.status, str(done.exception)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output

    return run


@pytest.fixture
def hosts(nodes: Any) -> Any:
    """Readings of two sites."""
    for host, site in (("a-1", "rome"), ("a-2", "rome"), ("b-1", "belgium")):
        publish(nodes, host, site, 2)
    return nodes


def publish(nodes: Any, host: str, site: str, slots_used: int | None) -> None:
    reading = {
        "version": 1,
        "time": 1.0,
        "sequence": 1,
        "lifetime_s": 30.0,
        "host": host,
        "site": site,
        "coordinate": [0.0, 0.0],
        "height": 0.1,
        "error": 0.1,
        "availability": 0.99,
        "load": {"cpu": 0.1, "memory": 0.1, "slots_used": slots_used, "slots": 4},
    }
    nodes.client.ensure_path(nodes.path(host))
    nodes.client.set(nodes.path(host), json.dumps(reading).encode())


def drains(zookeeper: Any, root: str) -> dict[str, Any]:
    return {
        each.place: json.loads(each.payload)["lifetime_s"]
        for each in read_live(zookeeper.address, root, None)[1]
    }


@pytest.mark.usefixtures("hosts")
def test_hosts_and_sites_are_drained_and_given_back(
    command: Callable[..., tuple[int, str]], zookeeper: Any, root: str
) -> None:
    """What stands in ZooKeeper follows, a second drain takes the place of the first."""
    assert command("drain", "a-1")[0] == 0
    assert drains(zookeeper, root) == {"host:a-1": None}
    status, said = command("drain", "a-1", "--site", "belgium", "--until", "2999-01-01T00:00")
    assert (status, said) == (
        0,
        "Drained until 2999-01-01T00:00: host:a-1, site:belgium. Executors leave with the next rounds.\n",
    )
    assert min(drains(zookeeper, root).values()) > 1e9
    assert command("undrain", "a-1") == (0, "Given back: host:a-1.\n")
    assert drains(zookeeper, root).keys() == {"site:belgium"}
    assert command("undrain", "--all") == (0, "Given back: site:belgium.\n")
    assert drains(zookeeper, root) == {}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "a HOST or --site is needed"),
        (("c-1",), "host c-1 is not known; known: a-1, a-2, b-1 (--nimbus knows those without agent)"),
        (("--site", "mars"), "no agent is at site mars; sites of agents: belgium, rome"),
        (("a-1", "--until", "noon"), "--until noon: is no time such as 2026-11-30T06:00"),
        (("a-1", "--until", "2001-01-01"), "--until 2001-01-01: is over"),
        (("a-1", "--from", "noon"), "--from noon: is no time such as 2026-11-30T06:00"),
        (
            ("a-1", "--from", "2999-01-02", "--until", "2999-01-01"),
            "--until 2999-01-01: is not after --from 2999-01-02",
        ),
        (
            ("a-1", "--from", "2999-01-02", "--wait", "5"),
            "--wait: nothing leaves before 2999-01-02: wait from then on",
        ),
        (("a-1", "a-2", "--site", "belgium"), "this would leave no host that is known: nothing is drained"),
        (("a/1",), "'host:a/1' is neither host:NAME nor site:NAME"),
    ],
)
@pytest.mark.usefixtures("hosts")
def test_bad_input_drains_nothing(
    command: Callable[..., tuple[int, str]], zookeeper: Any, root: str, arguments: tuple[str], reason: str
) -> None:
    """One sentence each, status 2."""
    assert command("drain", *arguments) == (2, reason)
    assert drains(zookeeper, root) == {}


@pytest.mark.usefixtures("hosts")
def test_the_last_hosts_cannot_be_drained_one_by_one(command: Callable[..., tuple[int, str]]) -> None:
    """What is drained already counts."""
    assert command("drain", "--site", "rome")[0] == 0
    assert command("drain", "b-1") == (2, "this would leave no host that is known: nothing is drained")


@pytest.mark.usefixtures("hosts")
def test_an_announced_drain_begins_later(
    command: Callable[..., tuple[int, str]], zookeeper: Any, root: str
) -> None:
    """Its lifetime covers the time until then; a beginning that is over is now; it can be taken back."""
    status, said = command("drain", "a-1", "--from", "2999-01-01T05:00", "--until", "2999-01-01T06:00")
    expected = (
        "To be drained from 2999-01-01T05:00 until 2999-01-01T06:00: host:a-1. Nothing leaves before.\n"
    )
    assert (status, said) == (0, expected)
    (content,) = [json.loads(each.payload) for each in read_live(zookeeper.address, root, None)[1]]
    assert content["version"] == 2
    assert content["lifetime_s"] - content["begins_s"] == pytest.approx(3600.0)
    assert "To be drained: 1 (host a-1 in 35" in command("network")[1]
    assert command("drain", "a-1", "--from", "2001-01-01")[1].startswith("Drained until undrain: host:a-1.")
    assert drains(zookeeper, root) == {"host:a-1": None}
    assert command("drain", "a-1", "--from", "2999-01-01")[0] == 0
    assert command("undrain", "a-1") == (0, "Given back: host:a-1.\n")


@pytest.mark.usefixtures("hosts")
def test_all_hosts_can_be_drained_one_after_the_other(command: Callable[..., tuple[int, str]]) -> None:
    """But at no time may all be, nor in the middle of a drain that is announced."""
    one, two, three = (f"2999-01-01T0{hour}:00" for hour in (1, 2, 3))
    assert command("drain", "--site", "rome", "--from", one, "--until", two)[0] == 0
    assert command("drain", "--site", "belgium", "--from", two, "--until", three)[0] == 0
    refused = (2, "this would leave no host that is known: nothing is drained")
    assert command("drain", "--site", "belgium", "--until", "2999-01-01T01:30") == refused
    assert command("drain", "--site", "belgium", "--from", "2999-01-01T01:30") == refused
    assert command("drain", "--site", "belgium", "--until", one)[0] == 0


@pytest.mark.usefixtures("hosts")
def test_only_what_is_drained_is_given_back(command: Callable[..., tuple[int, str]]) -> None:
    """All or nothing, and the sentence says what is drained."""
    assert command("undrain", "a-1") == (2, "host:a-1 is not drained; drained: nothing")
    assert command("undrain", "--all") == (2, "nothing is drained")
    assert command("drain", "a-1")[0] == 0
    assert command("undrain", "a-1", "a-2") == (2, "host:a-2 is not drained; drained: host:a-1")
    assert command("undrain", "--all", "a-1") == (2, "--all: hosts or sites are named beside it")


def test_waiting_ends_when_no_worker_is_left(
    command: Callable[..., tuple[int, str]], hosts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is left is said when it changes."""
    monkeypatch.setattr("cli.drain.drain._SETTLED_S", 0.0)
    folder = f"{hosts.folder.removesuffix('/nodes')}/drains"
    drained = threading.Event()
    hosts.client.ensure_path(folder)
    hosts.client.ChildrenWatch(folder, lambda children: drained.set() if children else None)

    def end_workers() -> None:
        if drained.wait(60):
            publish(hosts, "a-1", "rome", 0)

    supervisor = threading.Thread(target=end_workers)
    supervisor.start()
    status, said = command("drain", "a-1", "--wait", "60")
    supervisor.join(60)
    assert status == 0
    assert said.endswith("Empty: no worker is left there.\n")


def test_what_an_agent_said_before_the_drain_is_no_sign_of_emptiness(
    command: Callable[..., tuple[int, str]], hosts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be dead; and one that does not count workers cannot be waited for at all."""
    monkeypatch.setattr("cli.drain.drain._SETTLED_S", 0.0)
    publish(hosts, "a-1", "rome", 0)
    assert command("drain", "a-1", "--wait", "0")[0] == 3
    publish(hosts, "a-1", "rome", None)
    status, said = command("drain", "a-1", "--wait", "0")
    assert status == 2
    assert said.startswith("--wait: no agent says how many workers a-1 has (agents need --slot-ports for it)")


def test_hosts_whose_agent_has_not_spoken_since_the_drain_are_not_reported_yet(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What they had before is no answer, and to a reader `not known` would be a host that is none."""
    before, after = KnownHost("a-1", "rome", 2, 5.0), KnownHost("a-2", "rome", 1, 15.0)
    with pytest.raises(UserError, match="the drain goes on"):
        _wait(lambda: (before, after), {"a-1", "a-2"}, since_ms=10.0, wait_s=0.0)
    assert capsys.readouterr().out == "Workers left: a-1 not reported yet, a-2 1\n"


def test_a_drain_that_is_over_counts_no_more(command: Callable[..., tuple[int, str]], hosts: Any) -> None:
    """Neither as a host that is gone nor in the picture of the network; it can be taken back all the same."""
    folder = f"{hosts.folder.removesuffix('/nodes')}/drains"
    hosts.client.create(f"{folder}/site:rome", b'{"version": 1, "lifetime_s": 0.001}', makepath=True)
    assert command("drain", "--site", "belgium")[0] == 0
    assert "Drained: 1 (site belgium until undrain)" in command("network")[1]
    assert command("undrain", "--site", "rome")[0] == 0


@pytest.mark.usefixtures("hosts")
def test_what_is_left_at_the_end_is_status_3(
    command: Callable[..., tuple[int, str]], zookeeper: Any, root: str
) -> None:
    """The drain goes on."""
    assert command("drain", "a-1", "--wait", "0") == (
        3,
        "not seen empty for 10 s within 0 s; the drain goes on",
    )
    assert drains(zookeeper, root) == {"host:a-1": None}


def test_a_protected_folder_needs_the_password(
    command: Callable[..., tuple[int, str]], hosts: Any, root: str, tmp_path: Path
) -> None:
    """Without it one sentence names the option; with it drains are as protected as readings."""
    acl = [make_digest_acl("user", "secret", all=True)]
    hosts.client.add_auth("digest", "user:secret")
    hosts.client.create(f"{root}/drains", acl=acl)
    status, said = command("drain", "a-1")
    assert status == 2
    assert "credentials go into --zookeeper-auth-file" in said
    file = tmp_path / "auth"
    file.write_text("user:secret\n")
    assert command("drain", "a-1", "--zookeeper-auth-file", str(file))[0] == 0
    assert hosts.client.get_acls(f"{root}/drains/host:a-1")[0] == acl


@pytest.mark.usefixtures("hosts")
def test_drains_are_seen_in_network(
    command: Callable[..., tuple[int, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the table, in the summary, and in JSON, which is read again."""
    monkeypatch.setenv("COLUMNS", "160")
    assert command("drain", "a-1", "--until", "2999-01-01T00:00")[0] == 0
    assert command("drain", "--site", "belgium")[0] == 0
    status, text = command("network", "--json")
    assert status == 0
    assert [each["name"] for each in json.loads(text)["drains"]] == ["host:a-1", "site:belgium"]
    file = tmp_path / "network.json"
    file.write_text(text)
    shown = CliRunner().invoke(app, ["network", "--readings", str(file)]).output
    for output in (command("network")[1], shown):
        (summary,) = [line for line in output.splitlines() if line.startswith("Drained: ")]
        assert summary.startswith("Drained: 2 (host a-1 for 35")
        assert summary.endswith(" d, site belgium until undrain)")
        rows = [line for line in output.splitlines() if "a-1" in line or "b-1" in line]
        assert sum("drained" in row for row in rows) == 2
