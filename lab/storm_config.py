"""Configuration of the cluster's parts: storm.yaml per host, zoo.cfg, the daemon's settings.

Storm's own timings are for large clusters and hours of work; a lab is looked at for minutes, so Nimbus
schedules and statistics flow more often. Everything that influences response times is the same under every
scheduler.
"""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

from lab.jvm_flags import jvm_flags
from lab.layout import (
    DAEMON_PORT,
    NIMBUS,
    NIMBUS_PORT,
    SUPERVISOR_PORT,
    ZOOKEEPER_PORT,
    Host,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lab.places import LabFolder

SchedulerName = Literal["stormplace", "even", "default", "ras"]
SCHEDULERS: tuple[SchedulerName, ...] = get_args(SchedulerName)
NEEDS_SHIM: frozenset[SchedulerName] = frozenset({"stormplace", "ras"})

_SCHEDULER_KEYS: dict[SchedulerName, dict[str, Any]] = {
    "even": {"storm.scheduler": "org.apache.storm.scheduler.EvenScheduler"},
    "default": {"storm.scheduler": "org.apache.storm.scheduler.DefaultScheduler"},
    "ras": {
        "storm.scheduler": "org.apache.storm.scheduler.resource.ResourceAwareScheduler",
        "storm.network.topography.plugin": "io.stormplace.HostNameTopography",
    },
    "stormplace": {
        "storm.scheduler": "io.stormplace.PlacementScheduler",
        "stormplace.daemon.host": NIMBUS,
        "stormplace.daemon.port": DAEMON_PORT,
    },
}


def storm_yaml(
    folder: LabFolder,
    host: Host,
    scheduler: SchedulerName,
    nimbus_hosts: Sequence[str] = (NIMBUS,),
    more: Mapping[str, object] = MappingProxyType({}),
) -> str:
    """Return a host's storm.yaml; the scheduler's keys are Nimbus' only.

    Args:
        folder: The lab's state folder.
        host: A host that runs a part of Storm.
        scheduler: Scheduler that Nimbus uses.
        nimbus_hosts: Hosts of Nimbus.
        more: Further keys, or other values.
    """
    home = folder.storm / host.name
    flags = " ".join(jvm_flags("lib-worker"))
    keys: dict[str, Any] = {
        "storm.zookeeper.servers": [NIMBUS],
        "storm.zookeeper.port": ZOOKEEPER_PORT,
        "storm.zookeeper.session.timeout": 10_000,
        "storm.zookeeper.connection.timeout": 10_000,
        "nimbus.seeds": nimbus_hosts,
        "nimbus.thrift.port": NIMBUS_PORT,
        "storm.local.dir": str(home / "local"),
        "storm.local.hostname": host.name,
        "storm.workers.artifacts.dir": str(home / "workers"),
        # every supervisor opens a connection to Nimbus that often, workers or not
        "worker.heartbeat.frequency.secs": 5,
        "executor.metrics.frequency.secs": 5,
        "worker.metrics": {},
        # how long a thread without work sleeps decides most of a hop's latency at low rates
        "topology.bolt.wait.strategy": "org.apache.storm.policy.WaitStrategyPark",
        "topology.bolt.wait.park.microsec": 100,
        "worker.childopts": f"-Xmx128m {flags}",
    }
    if host.kind == "supervisor":
        keys |= {
            "supervisor.thrift.port": SUPERVISOR_PORT,
            "supervisor.slots.ports": host.slot_ports,
            "supervisor.scheduler.meta": _meta(host),
            "supervisor.cpu.capacity": 100.0,
        }
    elif host.name in nimbus_hosts:
        keys |= {
            "nimbus.monitor.freq.secs": 3,
            "nimbus.task.timeout.secs": 20,
            "supervisor.worker.heartbeats.max.timeout.secs": 15,
            # a supervisor that was restarted on purpose must not be shut out for half an hour
            "blacklist.scheduler.tolerance.count": 1_000_000,
            "blacklist.scheduler.assume.supervisor.bad.based.on.bad.slot": False,
        }
        if len(nimbus_hosts) > 1:
            # each may hold its blob store while it fetches a blob from the other, and both then wait so long
            keys["storm.thrift.socket.timeout.ms"] = 30_000
        keys |= _SCHEDULER_KEYS[scheduler]
    keys |= dict(more) | dict(host.own.storm)
    # each JSON value is a YAML value
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in keys.items())


def _meta(host: Host) -> dict[str, str]:
    tier = {"stormplace.tier": host.tier} if host.tier else {}
    return {"stormplace.site": host.site} | tier | dict(host.own.meta)


def zoo_cfg(folder: LabFolder) -> str:
    """Return ZooKeeper's configuration."""
    return (
        "tickTime=1000\n"
        f"dataDir={folder.zookeeper / 'data'}\n"
        f"clientPort={ZOOKEEPER_PORT}\n"
        "maxClientCnxns=0\n"
        "minSessionTimeout=4000\n"
        "maxSessionTimeout=60000\n"
        "admin.enableServer=false\n"
        # the state is thrown away with the lab
        "forceSync=no\n"
    )


def daemon_toml(
    folder: LabFolder,
    executors_per_host: int | None,
    more: Mapping[str, Mapping[str, object]] = MappingProxyType({}),
) -> str:
    """Return the placement daemon's settings.

    Args:
        folder: The lab's state folder.
        executors_per_host: Capacity of a host; None: the daemon's own.
        more: Further settings by section, or other values.
    """
    sections: dict[str, dict[str, object]] = {
        "server": {"host": "0.0.0.0", "port": DAEMON_PORT},  # noqa: S104 - all addresses of its own namespace
        "record": {"directory": str(folder.records)},
    }
    if executors_per_host is not None:
        sections["capacity"] = {"executors_per_host": executors_per_host}
    for name, settings in more.items():
        sections[name] = sections.get(name, {}) | dict(settings)
    return toml_text(sections)


def toml_text(sections: Mapping[str, Mapping[str, object]]) -> str:
    """Return sections as TOML; values are texts, numbers, flags, and lists and tables of these."""
    return "\n".join(
        f"[{name}]\n" + "".join(f"{key} = {_toml_value(value)}\n" for key, value in settings.items())
        for name, settings in sections.items()
    )


def _toml_value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml_value(each)}' for key, each in value.items())} }}"
    return json.dumps(value)  # of a text, number or flag it is the TOML value too
