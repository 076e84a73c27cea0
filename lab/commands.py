"""Command lines of everything that runs inside a lab."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lab.jvm_flags import jvm_flags
from lab.layout import AGENT_PORT, NIMBUS, NIMBUS_PORT, REDIS, REDIS_PORT, ZOOKEEPER_PORT, Host
from lab.places import WORKER_JAVA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.places import LabFolder


@dataclass(frozen=True)
class Programs:
    """Programs and files that a lab is made of."""

    java: str
    redis_server: str
    storm_home: Path


@dataclass(frozen=True)
class Command:
    """What to run.

    Attributes:
        name: Name of the service, also of its log.
        host: Host whose namespaces it enters; None stays in the keeper's.
        argv: Program and arguments.
        piped: Whether the keeper talks to it through standard input and output.
        restart: Whether an unexpected end is answered by a new start.
        stop_s: How long it may take to end when asked.
    """

    name: str
    host: str | None
    argv: tuple[str, ...]
    piped: bool = False
    restart: bool = True
    stop_s: float = 3.0
    environment: dict[str, str] = field(default_factory=dict)


def zookeeper(folder: LabFolder, programs: Programs) -> Command:
    """Return ZooKeeper's own server, from the copy inside Storm's jars."""
    argv = _jvm(folder, programs, "zookeeper", 64)
    main = "org.apache.storm.shade.org.apache.zookeeper.server.ZooKeeperServerMain"
    return Command("zookeeper", NIMBUS, (*argv, main, str(folder.zookeeper / "zoo.cfg")))


def redis(folder: LabFolder, programs: Programs) -> Command:
    """Return a Redis that keeps nothing on disk and is reached from the lab only."""
    argv = (programs.redis_server, "--port", str(REDIS_PORT), "--bind", "0.0.0.0", "--protected-mode", "no")  # noqa: S104 - all addresses of its own namespace
    return Command(
        "redis", REDIS, (*argv, "--save", "", "--appendonly", "no", "--dir", str(folder.storm / REDIS))
    )


def nimbus(folder: LabFolder, programs: Programs, host: str) -> Command:
    """Return the Nimbus of a host; the service has the host's name."""
    argv = _storm_daemon(folder, programs, host, 384)
    # its shutdown hook gives up leadership; killed earlier, the next Nimbus waits for the session to expire
    return Command(host, host, (*argv, "org.apache.storm.daemon.nimbus.Nimbus"), stop_s=12.0)


def supervisor(folder: LabFolder, programs: Programs, host: Host) -> Command:
    """Return the supervisor of a host."""
    name = f"supervisor-{host.name}"
    argv = _storm_daemon(folder, programs, name, 96)
    argv = (*argv, "org.apache.storm.daemon.supervisor.Supervisor")
    return Command(name, host.name, argv, environment={"JAVA_HOME": str(WORKER_JAVA)})


def agent(host: Host, bandwidth_share: float | None = None) -> Command:
    """Return the monitoring agent of a host, with what it may use of bandwidth to measure it."""
    argv = (sys.executable, "-m", "cli.main", "agent", "--host", host.name, "--site", host.site)
    where = ("--zookeeper", f"{NIMBUS}:{ZOOKEEPER_PORT}", "--advertise", host.address)
    slots = ("--slot-ports", ",".join(map(str, host.slot_ports)))
    share = () if bandwidth_share is None else ("--bandwidth-share", f"{bandwidth_share:g}")
    return Command(
        f"agent-{host.name}", host.name, (*argv, *where, "--port", str(AGENT_PORT), *slots, *share)
    )


def rates() -> Command:
    """Return the rates collector."""
    argv = (sys.executable, "-m", "cli.main", "rates", "--nimbus", f"{NIMBUS}:{NIMBUS_PORT}")
    return Command("rates", NIMBUS, (*argv, "--zookeeper", f"{NIMBUS}:{ZOOKEEPER_PORT}", "--interval-s", "5"))


def daemon(folder: LabFolder) -> Command:
    """Return the placement daemon."""
    argv = (sys.executable, "-m", "cli.main", "daemon", "--config", str(folder.daemon_settings))
    return Command("daemon", NIMBUS, argv, stop_s=8.0)


def pause(host: Host) -> Command:
    """Return the process that holds a host's network and host name, and says `ready` once it does."""
    script = 'ip link set lo up && hostname "$1" && echo ready && exec sleep infinity'
    argv = ("unshare", "--net", "--uts", "--", "sh", "-c", script, "pause", host.name)
    return Command(f"pause-{host.name}", None, argv, piped=True, restart=False)


def forwarder() -> Command:
    """Return the wide-area emulator."""
    return Command(
        "forwarder", None, (sys.executable, "-m", "lab.emulator.forwarder"), piped=True, restart=False
    )


def observer(nimbus_hosts: Sequence[str]) -> Command:
    """Return the process that looks at the cluster from Nimbus' host."""
    return Command("observer", NIMBUS, (sys.executable, "-m", "lab.observer", *nimbus_hosts), piped=True)


def _jvm(folder: LabFolder, programs: Programs, name: str, heap_mb: int) -> tuple[str, ...]:
    """Return the start of a Storm daemon's command line, as bin/storm.py builds it."""
    classpath = ":".join(
        str(programs.storm_home / part) for part in ("*", "lib/*", "extlib/*", "extlib-daemon/*", "conf")
    )
    return (
        programs.java,
        "-server",
        f"-Xmx{heap_mb}m",
        *jvm_flags("lib"),
        f"-Ddaemon.name={name.split('-', maxsplit=1)[0]}",
        f"-Dstorm.home={programs.storm_home}",
        f"-Dstorm.log.dir={folder.logs}",
        f"-Dlogfile.name={name}.log",
        f"-Dlog4j.configurationFile={programs.storm_home / 'log4j2/cluster.xml'}",
        "-Djava.deserialization.disabled=true",
        "-cp",
        classpath,
    )


def _storm_daemon(folder: LabFolder, programs: Programs, name: str, heap_mb: int) -> tuple[str, ...]:
    """Return the command line of a Nimbus, by its host, or of `supervisor-HOST` up to its main class."""
    configuration = folder.storm / name.removeprefix("supervisor-") / "storm.yaml"
    argv = _jvm(folder, programs, name, heap_mb)
    return (argv[0], "-Dstorm.options=", f"-Dstorm.conf.file={configuration}", *argv[1:])
