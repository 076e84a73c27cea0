"""Rules of the whole agent: real processes, real sockets, a real ZooKeeper."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from cli.main import main
from monitoring.agent.availability import History
from monitoring.agent.state import State, load, save
from monitoring.coordinate import Coordinate

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]


def settled(reading: dict[str, Any] | None) -> bool:
    return reading is not None and reading["error"] < 0.6 and reading["sequence"] > 2


def test_two_agents_find_each_other_and_converge(
    zookeeper: Any, nodes: Any, start_agent: Callable[..., Any]
) -> None:
    a = start_agent("east-1", zookeeper.address, "--site", "east")
    b = start_agent("west-1", zookeeper.address)
    one, other = nodes.wait("east-1", settled), nodes.wait("west-1", settled)
    assert (one["host"], one["site"], other["site"]) == ("east-1", "east", None)
    assert one["lifetime_s"] == 30.0
    places = [Coordinate(tuple(r["coordinate"]), r["height"], r["error"]) for r in (one, other)]
    assert places[0].delay_ms(places[1]) < 5  # the loopback interface takes well under a millisecond
    for agent in (a, b):
        assert psutil.Process(agent.process.pid).memory_info().rss < 50e6
    assert a.terminate() == 0
    assert nodes.client.exists(nodes.path("east-1")) is None
    a.await_event("agent-stopped")
    assert [line["event"] for line in a.lines if line["level"] == "warning"] == []


def test_an_agent_with_a_share_measures_the_bandwidth_to_a_peer_of_another_site(
    zookeeper: Any, nodes: Any, start_agent: Callable[..., Any]
) -> None:
    """The peer answers trains without the option, and publishes none; one of the same site has none."""
    a = start_agent("east-1", zookeeper.address, "--site", "east", "--bandwidth-share", "0.1")
    start_agent("east-2", zookeeper.address, "--site", "east")
    start_agent("west-1", zookeeper.address, "--site", "west")
    reading = nodes.wait(
        "east-1",
        lambda reading: reading is not None and "bandwidth_bytes_per_s" in reading["links"].get("west-1", {}),
    )
    assert reading["links"]["west-1"]["bandwidth_bytes_per_s"] > 1e6
    assert "bandwidth_bytes_per_s" not in reading["links"]["east-2"]
    other = nodes.wait("west-1", lambda reading: reading is not None and "east-1" in reading["links"])
    assert "bandwidth_bytes_per_s" not in other["links"]["east-1"]
    assert a.terminate() == 0
    a.await_event("agent-stopped")
    events = {line["event"]: line for line in a.lines}
    assert events["bandwidth-known"]["peer"] == "west-1"
    assert events["agent-stopped"]["train_bytes"] > 5 * 8 * 1_228


def test_the_reading_of_a_killed_agent_vanishes(
    zookeeper: Any, nodes: Any, start_agent: Callable[..., Any]
) -> None:
    a, b = (start_agent(host, zookeeper.address) for host in ("a", "b"))
    nodes.wait("a", lambda reading: reading is not None)
    b.await_event("peers-changed")
    a.kill()
    nodes.wait("a", lambda reading: reading is None)
    b.await_event("peer-silent")
    assert nodes.client.exists(nodes.path("a")) is None


def test_agents_go_on_while_zookeeper_is_away_and_publish_again_afterwards(
    no_zookeeper: Any, start_agent: Callable[..., Any]
) -> None:
    no_zookeeper.start()
    a, b = (start_agent(host, no_zookeeper.address) for host in ("a", "b"))
    for agent in (a, b):
        agent.await_event("peers-changed")
        agent.await_event("zookeeper-publishing")
    no_zookeeper.stop()
    a.await_event("zookeeper-suspended")
    no_zookeeper.wipe()
    no_zookeeper.start()
    for agent in (a, b):
        agent.await_event("zookeeper-publishing", 2)
    events = [line["event"] for line in a.lines]
    assert "peer-silent" not in events
    assert "peer-forgotten" not in events


def test_an_agent_starts_before_its_zookeeper(no_zookeeper: Any, start_agent: Callable[..., Any]) -> None:
    agent = start_agent("a", no_zookeeper.address)
    agent.await_event("agent-started")
    no_zookeeper.start()
    agent.await_event("zookeeper-publishing")
    assert agent.terminate() == 0


def test_a_restarted_agent_goes_on_from_its_last_coordinate(
    zookeeper: Any, nodes: Any, start_agent: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    start_agent("b", zookeeper.address)
    first = start_agent("a", zookeeper.address, "--state", str(file))
    nodes.wait("a", settled)
    assert first.terminate() == 0
    saved = load(file, 5, pytest.fail)
    assert saved.clean
    second = start_agent("a", zookeeper.address, "--state", str(file))
    reading = nodes.wait("a", lambda reading: reading is not None and reading["sequence"] == 1)
    assert reading["coordinate"] == [round(number, 4) for number in saved.coordinate.position_ms]
    assert set(reading["links"]) == set(saved.links) == {"b"}
    assert second.terminate() == 0


def test_a_damaged_state_file_is_logged_and_costs_only_the_memory(
    zookeeper: Any, start_agent: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    file.write_text('{"version": 1, "saved": ')
    agent = start_agent("a", zookeeper.address, "--state", str(file))
    agent.await_event("state-unreadable")
    agent.await_event("zookeeper-publishing")
    assert agent.terminate() == 0


def test_links_in_a_state_file_that_cannot_be_used_are_logged_and_the_rest_is_kept(
    zookeeper: Any, nodes: Any, start_agent: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / "state.json"
    place = Coordinate((1.0, 2.0, 3.0, 4.0, 5.0), 0.5, 0.1)
    save(file, State(time.time(), clean=True, coordinate=place, history=History()))
    file.write_text(json.dumps({**json.loads(file.read_text()), "links": 7}))
    agent = start_agent("a", zookeeper.address, "--state", str(file))
    reading = nodes.wait("a", lambda reading: reading is not None)
    assert reading["coordinate"] == list(place.position_ms)
    (line_,) = [line for line in agent.lines if line["event"] == "state-links-unreadable"]
    assert (line_["file"], line_["reason"]) == (str(file), "links is not of version 1")
    assert agent.terminate() == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--host", "a/b", "--zookeeper", "127.0.0.1:1"), "--host 'a/b' is not a host name"),
        (("--host", "a", "--zookeeper", "127.0.0.1"), "--zookeeper '127.0.0.1' is not HOST:PORT"),
        (("--host", "a", "--zookeeper", "127.0.0.1:1", "--port", "0"), "--port 0 is not from 1 to 65535"),
    ],
)
def test_bad_settings_end_with_one_sentence_and_status_2(
    arguments: tuple[str, ...],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["stormplace", "agent", *arguments])
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr().err
    assert end.value.code == 2
    assert printed.startswith("stormplace: ")
    assert words in printed
    assert printed.count("\n") == 1


def test_a_port_in_use_ends_with_one_sentence_and_status_2() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
        arguments = ["--host", "a", "--zookeeper", "127.0.0.1:1", "--bind", "127.0.0.1", "--port", port]
        done = subprocess.run(
            [sys.executable, "-m", "cli.main", "agent", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 2
    assert f"cannot bind UDP 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
