from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.commands import Programs
from lab.fleet import Fleet
from lab.layout import lay_out
from lab.places import PROJECT_ROOT, LabFolder
from lab.sites import read_site_file
from lab.storm_config import SCHEDULERS, SchedulerName, daemon_toml, storm_yaml

HOSTS = {host.name: host for host in lay_out(read_site_file(PROJECT_ROOT / "lab/sites/demo.toml"))}
FOLDER = LabFolder(Path("/lab"))


def read(host: str, scheduler: SchedulerName) -> dict[str, Any]:
    return parsed(storm_yaml(FOLDER, HOSTS[host], scheduler))


def parsed(text: str) -> dict[str, Any]:
    lines = text.splitlines()
    return {key: json.loads(value) for key, value in (line.split(": ", maxsplit=1) for line in lines)}


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_schedulers_differ_in_nothing_but_their_own_keys(scheduler: SchedulerName) -> None:
    """Supervisors get the same file under every scheduler, Nimbus the same but for the scheduler's keys."""
    own = {"storm.scheduler", "storm.network.topography.plugin"}
    assert read("uniroma2-1", scheduler) == read("uniroma2-1", "even")
    common = {
        key: value
        for key, value in read("nimbus", scheduler).items()
        if key not in own and not key.startswith("stormplace.")
    }
    assert common.items() == {k: v for k, v in read("nimbus", "even").items() if k not in own}.items()


def test_the_shim_needs_the_scheduler_and_two_keys() -> None:
    """Beyond what every cluster has, Stormplace takes its class and where the daemon is."""
    extra = dict(_hashable(read("nimbus", "stormplace")) - _hashable(read("nimbus", "even")))
    assert extra == {
        "storm.scheduler": "io.stormplace.PlacementScheduler",
        "stormplace.daemon.host": "nimbus",
        "stormplace.daemon.port": 7090,
    }


def _hashable(keys: dict[str, Any]) -> set[tuple[str, Any]]:
    return {(key, value) for key, value in keys.items() if isinstance(value, str | int | float)}


def test_a_supervisor_says_its_host_site_and_slots() -> None:
    """A supervisor's file holds what makes it distinct: name, site, ports."""
    keys = read("us-east1-2", "even")
    assert keys["storm.local.hostname"] == "us-east1-2"
    assert keys["supervisor.scheduler.meta"] == {"stormplace.site": "us-east1"}
    assert keys["supervisor.slots.ports"] == [6700, 6701]


def test_a_site_file_may_ask_for_a_second_nimbus_and_change_storms_keys(tmp_path: Path) -> None:
    """Every host then knows both and has the changed keys; the second is configured as the first is."""
    more = {"nimbus.task.launch.secs": 30, "supervisor.cpu.capacity": 400.0}
    sites = replace(read_site_file(PROJECT_ROOT / "lab/sites/demo.toml"), standby_nimbus=True, storm=more)
    folder = LabFolder(tmp_path)
    Fleet(folder, sites, Programs("java", "redis-server", tmp_path), "stormplace")
    written = {
        host: parsed((folder.storm / host / "storm.yaml").read_text(encoding="utf-8"))
        for host in ("nimbus", "standby", "us-east1-2")
    }
    for keys in written.values():
        assert keys["nimbus.seeds"] == ["nimbus", "standby"]
        assert keys.items() >= more.items()
    first, second = written["nimbus"], written["standby"]
    assert {key for key in first | second if first.get(key) != second.get(key)} == {
        "storm.local.dir",
        "storm.local.hostname",
        "storm.workers.artifacts.dir",
    }
    # two that fetch a blob from each other at once do not wait for Storm's ten minutes
    assert first["storm.thrift.socket.timeout.ms"] == 30_000


@pytest.mark.parametrize("capacity", [None, 3])
def test_the_daemon_gets_the_site_files_capacity(capacity: int | None) -> None:
    """The capacity of a host is the site file's, or the daemon's own default."""
    settings = tomllib.loads(daemon_toml(FOLDER, capacity))
    assert settings.get("capacity") == (None if capacity is None else {"executors_per_host": capacity})
    assert settings["server"]["port"] == 7090
    assert settings["record"] == {"directory": "/lab/records"}


def test_the_daemon_is_told_of_tiers_costs_and_bandwidths(tmp_path: Path) -> None:
    """As the site file states them; what it does not state is left out, and supervisors name their tiers."""
    folder = LabFolder(tmp_path)
    sites = read_site_file(PROJECT_ROOT / "lab/sites/tiers.toml")
    Fleet(folder, sites, Programs("java", "redis-server", tmp_path), "stormplace")
    network = tomllib.loads(folder.daemon_settings.read_text(encoding="utf-8"))["network"]
    edge = {"name": "edge-a", "tier": "edge", "unit_cost": 0.6, "uplink_bytes_per_s": 125000}
    assert network["site"][0] == edge
    assert network["site"][2] == {"name": "fog-a", "tier": "fog", "unit_cost": 0.4}
    assert network["link"][0] == {"between": ["edge-a", "fog-a"], "cost": 5}
    assert len(network["link"]) == 15
    written = parsed((folder.storm / "fog-a-1" / "storm.yaml").read_text(encoding="utf-8"))
    assert written["supervisor.scheduler.meta"] == {"stormplace.site": "fog-a", "stormplace.tier": "fog"}


def test_a_site_file_may_change_one_host_and_the_daemon(tmp_path: Path) -> None:
    """A host's metadata stands beside its site, its keys and the daemon's in the place of all others."""
    text = (PROJECT_ROOT / "lab/sites/demo.toml").read_text(encoding="utf-8")
    path = tmp_path / "sites.toml"
    own = '[[host]]\nname = "uniroma2-1"\nmeta = { "stormplace.cost" = "2.5" }\nstorm = { "x" = 1 }\n'
    daemon = "[daemon.move]\ncool_down_s = 60\n[daemon.server]\nmax_rounds = 3\n"
    path.write_text(text + own + daemon, encoding="utf-8")
    folder = LabFolder(tmp_path)
    Fleet(folder, read_site_file(path), Programs("java", "redis-server", tmp_path), "stormplace")
    written = parsed((folder.storm / "uniroma2-1" / "storm.yaml").read_text(encoding="utf-8"))
    assert written["supervisor.scheduler.meta"] == {"stormplace.site": "uniroma2", "stormplace.cost": "2.5"}
    assert written["x"] == 1
    settings = tomllib.loads(folder.daemon_settings.read_text(encoding="utf-8"))
    assert settings["move"] == {"cool_down_s": 60}
    assert (settings["server"]["port"], settings["server"]["max_rounds"]) == (7090, 3)
