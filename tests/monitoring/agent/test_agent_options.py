"""Rules of the agent's settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from monitoring.agent.agent_options import AgentError, AgentOptions, advertised_address, parse_ports

GOOD = AgentOptions(host="uniroma2-1", zookeeper="localhost:2181")


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"host": "a"},
        {"zookeeper": "a:1,b.example.org:2181,[::1]:65535"},
        {"root": "/a/b-c.d"},
        {"bind": "::1", "advertise": "10.0.0.1"},
        {"interval_ms": 10.0},
        {"site": "europe-west1"},
        {"tier": "fog"},
        {"site": "fog", "bandwidth_share": 0.002},
        {"site": "fog", "bandwidth_share": 0.1},
    ],
)
def test_sensible_settings_pass(change: dict[str, Any]) -> None:
    replace(GOOD, **change).check()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"host": "a/b"}, "--host 'a/b'"),
        ({"host": ""}, "--host ''"),
        ({"host": ".."}, "--host '..'"),
        ({"site": "a b"}, "--site 'a b'"),
        ({"tier": "Fog"}, "--tier 'Fog' is none of edge, fog, cloud"),
        ({"zookeeper": "localhost"}, "--zookeeper 'localhost'"),
        ({"zookeeper": "a:1,"}, "--zookeeper ''"),
        ({"zookeeper": "a:70000"}, "--zookeeper 'a:70000'"),
        ({"root": "stormplace"}, "--root 'stormplace'"),
        ({"root": "/"}, "--root '/'"),
        ({"bind": "localhost"}, "--bind 'localhost'"),
        ({"advertise": "localhost"}, "--advertise 'localhost'"),
        ({"advertise": "::"}, "--advertise '::'"),
        ({"advertise": "239.1.2.3"}, "--advertise '239.1.2.3'"),
        ({"advertise": "fe80::1%eth0"}, "--advertise 'fe80::1%eth0'"),
        ({"port": 0}, "--port 0"),
        ({"slot_ports": (6700, 0)}, "--slot-ports 0"),
        ({"port": 65536}, "--port 65536"),
        ({"interval_ms": 9.0}, "--interval-ms 9"),
        ({"interval_ms": float("nan")}, "--interval-ms nan"),
        ({"site": "a", "bandwidth_share": 0.0}, "--bandwidth-share 0 is not from 0.002 to 0.1"),
        ({"site": "a", "bandwidth_share": 0.11}, "--bandwidth-share 0.11"),
        ({"site": "a", "bandwidth_share": float("nan")}, "--bandwidth-share nan"),
        ({"bandwidth_share": 0.05}, "--bandwidth-share needs --site"),
        ({"state": Path("/nowhere/at/all")}, "--state '/nowhere/at/all'"),
    ],
)
def test_a_setting_that_cannot_work_is_refused_by_its_name(change: dict[str, Any], words: str) -> None:
    with pytest.raises(AgentError, match=words):
        replace(GOOD, **change).check()


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(AgentError, match=r"--host.*--zookeeper.*--port"):
        replace(GOOD, host="/", zookeeper="x", port=-1).check()


@pytest.mark.parametrize(
    ("change", "address"),
    [
        ({"advertise": "10.9.9.9"}, "10.9.9.9"),
        ({"bind": "127.0.0.5"}, "127.0.0.5"),
        ({"zookeeper": "127.0.0.1:2181"}, "127.0.0.1"),
        ({"zookeeper": "[::1]:2181", "bind": "::"}, "::1"),
    ],
)
def test_the_advertised_address_is_given_or_bound_or_the_one_towards_zookeeper(
    change: dict[str, Any], address: str
) -> None:
    assert advertised_address(replace(GOOD, **change)) == address


def test_without_a_route_to_zookeeper_the_address_must_be_given() -> None:
    with pytest.raises(AgentError, match="--advertise"):
        advertised_address(replace(GOOD, zookeeper="no-such-host.invalid:2181"))


def test_slot_ports_are_read_once_each_in_order() -> None:
    assert parse_ports("6701,6700,6701") == (6700, 6701)


@pytest.mark.parametrize("text", ["", "6700,", "a", "6700;6701", "-1"])
def test_what_is_no_list_of_ports_is_refused(text: str) -> None:
    with pytest.raises(AgentError, match="--slot-ports"):
        parse_ports(text)


@pytest.mark.parametrize("content", ["", '{"version": 1, "saved": 5.0, "cle', '{"version": 2, "saved": 5.0}'])
def test_a_state_file_that_is_empty_damaged_or_of_another_version_passes(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / "state").write_text(content)
    replace(GOOD, state=tmp_path / "state").check()


@pytest.mark.parametrize("content", ["a diary", "{}", '{"version": 1, "name": "other"}', "\0"])
def test_a_state_file_that_is_something_else_is_refused_and_not_touched(tmp_path: Path, content: str) -> None:
    (tmp_path / "state").write_text(content)
    with pytest.raises(AgentError, match=r"--state '.*/state' is no state of an agent"):
        replace(GOOD, state=tmp_path / "state").check()
    assert (tmp_path / "state").read_text() == content


def test_a_folder_as_state_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="is a folder"):
        replace(GOOD, state=tmp_path).check()
