"""Process 1 of a lab: when it ends, the kernel ends everything else in the lab.

Started by `lab.cluster` inside new PID and mount namespaces. It brings the lab up, watches it, answers on the
control socket and ends on request, or when its starter ends before it has let go of the lab.
"""

from __future__ import annotations

import argparse
import os
import selectors
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from lab.commands import Programs
from lab.control import ControlServer
from lab.errors import LabError
from lab.fleet import Fleet
from lab.layout import NIMBUS, hosts_file
from lab.observer import Observation
from lab.pipes import LineReader
from lab.places import LabFolder
from lab.sites import read_site_file
from lab.status import HostStatus, LabState, LabStatus
from lab.storm_config import SCHEDULERS, SchedulerName

if TYPE_CHECKING:
    from collections.abc import Callable

    from lab.layout import Host

_IDLE_S = 5.0


@dataclass
class _Progress:
    """How far the start has come."""

    cluster_started: bool = False
    ready_once: bool = False
    stopping: bool = False


class Keeper:
    """The event loop around a fleet."""

    def __init__(self, fleet: Fleet, starter: int) -> None:
        """Take the fleet and the descriptor whose end shows that the starter is gone."""
        self._fleet = fleet
        self._starter = starter
        self._progress = _Progress()
        self._observation = Observation(begun_s=0.0)
        self._packets: dict[str, int] = {}
        self._links: list[dict[str, Any]] = []
        self._readers: dict[str, LineReader] = {}
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        """Bring the lab up and keep it until it is to end."""
        wakeup, on_signal = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(on_signal, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._end())
        server = ControlServer(self._fleet.folder.socket)
        self._fleet.start_network()
        self._fleet.start_base()
        self._watch(wakeup, lambda: self._drain(wakeup))
        self._watch(server.fileno(), lambda: server.serve_one(self._handle))
        self._watch(self._starter, self._read_starter)
        self._connect("forwarder")
        self._connect("observer")
        while not self._progress.stopping:
            due_s = self._fleet.next_due_s()
            timeout_s = _IDLE_S if due_s is None else min(_IDLE_S, max(0.0, due_s - time.monotonic()))
            for key, _ in self._selector.select(timeout_s):
                key.data()
            self._fleet.reap()
            for name in self._fleet.tend():
                self._started(name)
            self._advance()
        self._fleet.stop_politely()

    def _watch(self, descriptor: int, action: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, action)

    def _end(self) -> None:
        self._progress.stopping = True

    @staticmethod
    def _drain(descriptor: int) -> None:
        os.read(descriptor, 4096)

    def _connect(self, name: str) -> None:
        """Listen to a piped service that has just been started."""
        output = self._fleet.services[name].output
        self._readers[name] = LineReader(output)
        self._watch(output, lambda: self._read(name, output))

    def _read(self, name: str, output: int) -> None:
        """Take the lines that a piped service has written."""
        lines = self._readers[name].read()
        if lines is None:
            self._selector.unregister(output)
            return
        for content in lines:
            if name == "forwarder":
                self._packets, self._links = content["counters"], content["links"]
            else:
                self._observation = Observation.from_json(content)

    def _read_starter(self) -> None:
        """End with a starter that ends; it writes a byte when the lab is ready and may outlive it."""
        if not os.read(self._starter, 1):
            print("keeper: the command that the lab hangs on has ended", flush=True)
            self._end()
        self._selector.unregister(self._starter)
        os.close(self._starter)

    def _started(self, name: str) -> None:
        """Follow up on a service that was started again."""
        if name == "observer":
            self._connect(name)
        self._look_soon()

    def _look_soon(self) -> None:
        """Have the observer look at once and often for a while."""
        observer = self._fleet.services["observer"]
        if observer.pid is not None:
            os.write(observer.input, b"look\n")

    def _advance(self) -> None:
        """Start the cluster once ZooKeeper answers, and a second Nimbus once the first one leads."""
        progress = self._progress
        if not progress.cluster_started and self._observation.zookeeper:
            progress.cluster_started = True
            self._fleet.start_cluster()
        if self._observation.leader and self._seen_since_start(NIMBUS):
            self._fleet.start_standby()
        progress.ready_once = progress.ready_once or not self._pending()

    def _pending(self) -> tuple[str, ...]:
        """Return what is missing until the lab is ready."""
        seen = self._observation
        # a host that is cut off from Nimbus, or has not joined, on purpose is not missing
        hosts = [host for host in self._fleet.hosts if self._fleet.expected(host)]
        names = [host.name for host in hosts if host.kind == "supervisor"]
        missing = []
        for name, answers in (("ZooKeeper", seen.zookeeper), ("Redis", seen.redis)):
            if not answers:
                missing.append(name)
        leads = seen.leader and self._seen_since_start(NIMBUS)
        if not leads:
            missing.append("Nimbus as leader")
        if self._daemon_wanted() and not (seen.daemon and self._seen_since_start("daemon")):
            missing.append("placement daemon")
        supervisors = seen.supervisors if leads else {}
        for what, there in (("supervisors", supervisors), ("agents", seen.agents)):
            absent = sorted(set(names) - set(there))
            if absent:
                missing.append(f"{what} ({len(names) - len(absent)} of {len(names)})")
        missing += [f"{one.name} ({one.last_end})" for one in self._fleet.statuses() if one.state == "failed"]
        return tuple(missing)

    def _seen_since_start(self, name: str) -> bool:
        """Say whether the last look has met the present process of a service, not one before it."""
        service = self._fleet.services.get(name)
        return (
            service is not None
            and service.state == "running"
            and self._observation.begun_s >= service.started_s
        )

    def _daemon_wanted(self) -> bool:
        if self._fleet.scheduler != "stormplace":
            return False
        daemon = self._fleet.services.get("daemon")
        return daemon is None or daemon.state not in ("down", "stopping")

    def _state(self, pending: tuple[str, ...]) -> LabState:
        if self._progress.stopping:
            return "stopping"
        if not pending:
            return "ready"
        return "degraded" if self._progress.ready_once else "starting"

    def _status(self) -> LabStatus:
        """Return everything that is known about the lab."""
        pending = self._pending()
        fleet = self._fleet
        sites = [site.name for site in fleet.sites.site]
        return LabStatus(
            state=self._state(pending),
            scheduler=fleet.scheduler,
            pending=pending,
            services=fleet.statuses(),
            hosts=tuple(self._host_status(host) for host in fleet.hosts),
            delays_ms=tuple(
                (sites[a], sites[b], fleet.delays_ms[a][b])
                for a in range(len(sites))
                for b in range(a, len(sites))
            ),
            absent=tuple(sorted(fleet.absent)),
            isolated=tuple(sites[index] for index in sorted(fleet.isolation.sites)),
            packets=tuple(self._packets.items()),
            links=tuple((each["name"], each["bytes"], each["dropped"]) for each in self._links),
        )

    def _host_status(self, host: Host) -> HostStatus:
        slots, used_slots = self._observation.supervisors.get(host.name, (None, None))
        pause_pid = self._fleet.services[f"pause-{host.name}"].pid or 0
        agent = host.name in self._observation.agents
        return HostStatus(host.name, host.kind, host.site, host.address, pause_pid, slots, used_slots, agent)

    def _handle(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request of the control socket.

        Raises:
            LabError: The request is refused.
        """
        match request:
            case {"do": "status"}:
                return {"status": self._status().to_json()}
            case {"do": "delay", "between": [str(a), str(b)], "delay_ms": float(delay_ms)}:
                self._fleet.set_delay(a, b, delay_ms)
            case {"do": "isolate" | "rejoin" as change, "site": str(site)}:
                (self._fleet.isolate if change == "isolate" else self._fleet.rejoin)(site)
            case {"do": "join" | "leave" as change, "host": str(host)}:
                (self._fleet.join if change == "join" else self._fleet.leave)(host)
                self._look_soon()
            case {"do": "scheduler", "name": str(name)} if name in SCHEDULERS:
                self._fleet.use_scheduler(name)
            case {"do": "start-daemon"}:
                self._fleet.start_daemon()
            case {"do": "stop-daemon"}:
                self._fleet.stop_daemon()
            case {"do": "stop"}:
                self._end()
            case _:
                raise LabError(f"the keeper knows no request {request!r}")
        return {"status": self._status().to_json()}


def _own_files(folder: LabFolder) -> None:
    """Give the lab its own /etc/hosts, and no name server: a lookup must never leave the lab."""
    empty = folder.root / "resolv.conf"
    empty.write_text("", encoding="utf-8")
    for source, target in ((folder.hosts, Path("/etc/hosts")), (empty, Path("/etc/resolv.conf"))):
        if not target.exists():
            continue
        done = subprocess.run(
            ["mount", "--bind", str(source), str(target)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise LabError(f"cannot mount over {target}: {done.stderr.strip()}")


def main() -> None:
    """Run a lab in the current PID and mount namespaces."""
    parser = argparse.ArgumentParser(prog="lab.keeper")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--scheduler", choices=get_args(SchedulerName), required=True)
    parser.add_argument("--java", required=True)
    parser.add_argument("--redis-server", required=True)
    parser.add_argument("--storm-home", type=Path, required=True)
    parser.add_argument("--starter", type=int, required=True, help="descriptor held open by the starter")
    parser.add_argument("--lock", type=int, required=True, help="descriptor of the folder's lock")
    options = parser.parse_args()
    # the lock is to be held as long as this process, not as long as any of its children
    os.set_inheritable(options.lock, False)
    os.set_inheritable(options.starter, False)
    folder = LabFolder(options.folder)
    try:
        sites = read_site_file(folder.sites)
        programs = Programs(options.java, options.redis_server, options.storm_home)
        fleet = Fleet(folder, sites, programs, options.scheduler)
        folder.hosts.write_text(hosts_file(fleet.hosts), encoding="utf-8")
        _own_files(folder)
        Keeper(fleet, options.starter).run()
    except LabError as error:
        # the last line of the log is what the starting command shows
        sys.stdout.flush()
        sys.stderr.write(f"keeper: {error}\n")
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
