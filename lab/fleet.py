"""All processes of a lab, in the order in which they start."""

from __future__ import annotations

import json
import os
import select
import shutil
import time
from typing import TYPE_CHECKING, Any

from lab import commands
from lab.emulator.forwarder import Endpoint, ForwarderSetup
from lab.emulator.isolation import Isolation
from lab.errors import LabError
from lab.layout import NIMBUS, REDIS, STANDBY, Host, lay_out
from lab.pipes import read_line, write_line
from lab.service import Service
from lab.sites import daemon_tables, narrow_links, site_index
from lab.status import ServiceStatus
from lab.storm_config import SchedulerName, daemon_toml, storm_yaml, zoo_cfg

if TYPE_CHECKING:
    from formats.site_file import SiteFile
    from lab.commands import Command, Programs
    from lab.places import LabFolder


class Fleet:
    """The services, their namespaces and how they are started and reaped.

    The network must stand before anything else, ZooKeeper before the cluster.
    """

    def __init__(
        self, folder: LabFolder, sites: SiteFile, programs: Programs, scheduler: SchedulerName
    ) -> None:
        self.folder = folder
        self.sites = sites
        self.hosts = lay_out(sites)
        self.delays_ms = sites.delays_ms()
        self.isolation = Isolation()
        self.scheduler = scheduler
        self.services: dict[str, Service] = {}
        self.absent = {host.name for host in self.hosts if not host.own.joined}
        self._programs = programs
        self._host_of = {host.name: host for host in self.hosts}
        self._nimbus_hosts = tuple(name for name in (NIMBUS, STANDBY) if name in self._host_of)
        self._write_configuration()

    def _write_configuration(self) -> None:
        """Write all configuration files."""
        folder = self.folder
        for host in self.hosts:
            (folder.storm / host.name).mkdir(parents=True, exist_ok=True)
            if host.name != REDIS:
                self._write_storm_yaml(host)
        folder.zookeeper.mkdir(exist_ok=True)
        (folder.zookeeper / "zoo.cfg").write_text(zoo_cfg(folder), encoding="utf-8")
        toml = daemon_toml(folder, self.sites.executors_per_host, daemon_tables(self.sites))
        folder.daemon_settings.write_text(toml, encoding="utf-8")

    def _write_storm_yaml(self, host: Host) -> None:
        text = storm_yaml(self.folder, host, self.scheduler, self._nimbus_hosts, self.sites.storm)
        (self.folder.storm / host.name / "storm.yaml").write_text(text, encoding="utf-8")

    def start_network(self) -> None:
        """Make one namespace per host and start the wide-area emulator between them.

        Raises:
            LabError: A namespace or a device cannot be made.
        """
        for host in self.hosts:
            self._start(commands.pause(host))
        for host in self.hosts:
            answer = read_line(self.services[f"pause-{host.name}"])
            if answer != "ready":
                raise LabError(f"no network namespace for host {host.name}: {self._reason('pause-', host)}")
        network = self.sites.network
        setup = ForwarderSetup(
            endpoints=tuple(
                Endpoint(self.pause_pid(host.name), host.address, host.site_index) for host in self.hosts
            ),
            delays_ms=self.delays_ms,
            jitter_ms=network.jitter_ms,
            loss=self.sites.loss(),
            seed=network.seed,
            links=narrow_links(self.sites),
            queue_ms=network.queue_ms,
        )
        forwarder = self._start(commands.forwarder())
        write_line(forwarder.input, setup.to_json())
        line = read_line(forwarder)
        reply = json.loads(line) if line else {"error": "the forwarder ended; its log is logs/forwarder.out"}
        if "error" in reply:
            raise LabError(reply["error"])

    def start_base(self) -> None:
        """Start ZooKeeper, Redis and the observer."""
        self._start(commands.zookeeper(self.folder, self._programs))
        self._start(commands.redis(self.folder, self._programs))
        self._start(commands.observer(self._nimbus_hosts))

    def start_cluster(self) -> None:
        """Start Nimbus, supervisors, agents and, for its scheduler, the daemon and the rates collector."""
        self._start(commands.nimbus(self.folder, self._programs, NIMBUS))
        if self.scheduler == "stormplace":
            self.start_daemon()
            self._start_unless_running(commands.rates())
        supervisors = [
            each for each in self.hosts if each.kind == "supervisor" and each.name not in self.absent
        ]
        for host in supervisors:
            self._start(commands.supervisor(self.folder, self._programs, host))
        for host in supervisors:
            self._start(commands.agent(host, self.sites.bandwidth_share))

    def join(self, name: str) -> None:
        """Start the supervisor and the agent of a host, unless they run."""
        host = self._supervisor_host(name)
        self._start_unless_running(commands.supervisor(self.folder, self._programs, host))
        self._start_unless_running(commands.agent(host, self.sites.bandwidth_share))
        self.absent.discard(name)

    def leave(self, name: str) -> None:
        """Stop the supervisor and the agent of a host; workers that run there go on, as Storm has it."""
        host = self._supervisor_host(name)
        self.absent.add(name)
        for prefix in ("supervisor", "agent"):
            self._stop_if_running(f"{prefix}-{host.name}")

    def _supervisor_host(self, name: str) -> Host:
        host = self._host_of.get(name)
        if host is None or host.kind != "supervisor":
            names = ", ".join(each.name for each in self.hosts if each.kind == "supervisor")
            raise LabError(f"no supervisor host is named {name!r}; supervisor hosts are {names}")
        return host

    def start_standby(self) -> None:
        """Start the second Nimbus unless there is none or it runs; called when the first one leads."""
        if STANDBY in self._nimbus_hosts:
            self._start_unless_running(commands.nimbus(self.folder, self._programs, STANDBY))

    def _start(self, command: Command) -> Service:
        """Add a service and start it."""
        service = Service(command, self.folder.logs)
        self.services[command.name] = service
        service.start(self._namespace(service))
        return service

    def _namespace(self, service: Service) -> int | None:
        """Return the process that holds the namespaces which a service enters, or None."""
        host = service.command.host
        return None if host is None else self.pause_pid(host)

    def pause_pid(self, host: str) -> int:
        """Return the process that holds a host's namespaces.

        Raises:
            LabError: It is gone, and the host with it.
        """
        pid = self.services[f"pause-{host}"].pid
        if pid is None:
            raise LabError(f"host {host} has no network any more: the process that held it has ended")
        return pid

    def _reason(self, prefix: str, host: Host) -> str:
        """Return the last thing that a process has printed."""
        log = self.folder.logs / f"{prefix}{host.name}.out"
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1] if lines else "it ended without a word"

    def set_delay(self, site_a: str, site_b: str, delay_ms: float) -> None:
        """Change the one-way delay between two sites while everything runs."""
        a, b = site_index(self.sites, site_a), site_index(self.sites, site_b)
        self._send_to_forwarder({"a": a, "b": b, "delay_ms": delay_ms})
        self.delays_ms[a][b] = self.delays_ms[b][a] = delay_ms

    def isolate(self, site: str) -> None:
        """Drop all packets between a site and the others from now on; delays stay as they are set."""
        self._set_isolation(self.isolation.isolate(site_index(self.sites, site)))

    def rejoin(self, site: str) -> None:
        """Let packets pass again between a site and all others that are not isolated themselves."""
        self._set_isolation(self.isolation.rejoin(site_index(self.sites, site)))

    def _set_isolation(self, isolation: Isolation) -> None:
        self._send_to_forwarder({"isolated": sorted(isolation.sites)})
        self.isolation = isolation

    def expected(self, host: Host) -> bool:
        """Say whether a lab without this host lacks something."""
        return host.name not in self.absent and self.reaches_nimbus(host)

    def reaches_nimbus(self, host: Host) -> bool:
        """Say whether no isolation separates a host from the services' site."""
        return not self.isolation.separates(host.site_index, self._host_of[NIMBUS].site_index)

    def _send_to_forwarder(self, change: dict[str, Any]) -> None:
        """Send the forwarder a change of the network."""
        try:
            write_line(self.services["forwarder"].input, json.dumps(change))
        except OSError as error:
            raise LabError(f"the forwarder takes no change of the network: {error.strerror}") from None

    def use_scheduler(self, scheduler: SchedulerName) -> None:
        """Restart Nimbus with another scheduler, with or without the placement daemon and measured rates."""
        self.scheduler = scheduler
        for name in self._nimbus_hosts:
            self._write_storm_yaml(self._host_of[name])
        if scheduler == "stormplace":
            self.start_daemon()
            self._start_unless_running(commands.rates())
        else:
            self.stop_daemon()
            self._stop_if_running("rates")
        self._stop_if_running(STANDBY)
        self.services[NIMBUS].restart()

    def start_daemon(self) -> None:
        """Start the placement daemon unless it runs."""
        self._start_unless_running(commands.daemon(self.folder))

    def stop_daemon(self) -> None:
        """Stop the placement daemon if it runs."""
        self._stop_if_running("daemon")

    def _start_unless_running(self, command: Command) -> None:
        service = self.services.get(command.name)
        if service is None:
            self._start(command)
        elif service.state in ("down", "stopping"):
            service.restart()

    def _stop_if_running(self, name: str) -> None:
        if name in self.services:
            self.services[name].stop()

    def reap(self) -> None:
        """Take note of all children that have ended, also of strangers that the kernel gave to process 1."""
        while True:
            try:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for service in self.services.values():
                if service.pid == pid:
                    service.ended(wait_status)
                    print(f"{service.command.name}: {service.last_end}, now {service.state}", flush=True)

    def tend(self) -> list[str]:
        """Start what is due to start again and kill what does not end; return the names started."""
        started = []
        for name, service in self.services.items():
            service.kill_if_overdue()
            if service.start_is_due() and not self._is_held_back(service):
                try:
                    service.start(self._namespace(service))
                except LabError as error:
                    service.fail(str(error))
                else:
                    started.append(name)
        return started

    def next_due_s(self) -> float | None:
        """Return when `tend` has something to do, or None."""
        dues = (one.due_s() for one in self.services.values() if not self._is_held_back(one))
        return min((due for due in dues if due is not None), default=None)

    def _is_held_back(self, service: Service) -> bool:
        """Say whether a service is to start again only when its host reaches Nimbus again.

        A supervisor without ZooKeeper would only end once more. On machines of their own such starts cost
        other hosts nothing; here they take the processors from the hosts that are still there.
        """
        host = service.command.host
        return (
            service.state == "waiting" and host is not None and not self.reaches_nimbus(self._host_of[host])
        )

    def stop_politely(self) -> None:
        """End the programs that write files, within their time; the kernel ends everything else."""
        polite = [
            service
            for name, service in self.services.items()
            if service.pid is not None and (name == "daemon" or name.startswith("agent-"))
        ]
        for service in polite:
            service.stop()
        deadline_s = time.monotonic() + max((service.command.stop_s for service in polite), default=0.0)
        while any(service.pid is not None for service in polite) and time.monotonic() < deadline_s:
            self.reap()
            select.select([], [], [], 0.02)

    def statuses(self) -> tuple[ServiceStatus, ...]:
        """Return the states of all services but the pause processes."""
        return tuple(
            ServiceStatus(name, one.command.host, one.state, one.pid, one.unexpected_ends, one.last_end)
            for name, one in self.services.items()
            if not name.startswith("pause-") or one.state != "running"
        )


def clear(folder: LabFolder) -> None:
    """Delete what an earlier lab has left in a state folder, except the placement daemon's records."""
    for part in (folder.logs, folder.storm, folder.zookeeper):
        shutil.rmtree(part, ignore_errors=True)
    for file in (folder.state, folder.socket, folder.sites, folder.hosts, folder.daemon_settings):
        file.unlink(missing_ok=True)
