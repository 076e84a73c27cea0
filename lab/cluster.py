"""The Python interface of a lab: bring it up, look at it, change it, run commands in it, take it down."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from formats.site_file import MAX_DELAY_MS
from lab.anchor import Anchor, is_locked, take_lock
from lab.checks import check_machine, check_programs, check_shim, install_shim
from lab.control import ask, keeper_pid
from lab.entry import inside
from lab.errors import LabError, NoLabError
from lab.fleet import clear
from lab.logs import last_words
from lab.places import DEFAULT_FOLDER, LabFolder
from lab.readiness import ReadinessCheck
from lab.sites import read_site_file
from lab.start import start_anchor
from lab.status import LabStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.storm_config import SchedulerName

    Progress = Callable[[LabStatus], None]

_POLL_S = 0.25
_START_S = 600.0
_CHANGE_S = 180.0
_STOP_S = 20.0
_KILL_S = 10.0
_LAST_MOMENTS_S = 1.0


class LabClient:
    """One lab, known by its state folder; any process may use it."""

    def __init__(self, folder: Path = DEFAULT_FOLDER) -> None:
        self.folder = LabFolder(folder.absolute())
        self._anchor: subprocess.Popen[bytes] | None = None
        self._tie: int | None = None

    def up(
        self,
        site_file: Path,
        scheduler: SchedulerName,
        progress: Progress | None = None,
        *,
        tied: bool = False,
    ) -> LabStatus:
        """Start a lab and return when it is ready; on any error or interrupt nothing is left running.

        Args:
            site_file: TOML file of sites and delays.
            scheduler: Scheduler that Nimbus uses.
            progress: Called again and again with the state of things.
            tied: Whether the lab also ends later with this process, even if that is killed.

        Raises:
            LabError: Something is missing or wrong, a lab is already running, or the start failed.
        """
        read_site_file(site_file)
        programs = check_programs()
        check_shim(scheduler)
        check_machine(self.folder.root)
        self._claim_folder()
        lock = take_lock(self.folder)
        if lock is None:
            raise LabError(
                f"a lab is already running in {self.folder.root}; {self.folder.command('down')} ends it"
            )
        starter, still_here = os.pipe()
        try:
            try:
                clear(self.folder)
                install_shim()
                self.folder.logs.mkdir()
                shutil.copyfile(site_file, self.folder.sites)
                self._anchor = start_anchor(self.folder, programs, scheduler, starter, lock)
                Anchor.of(self._anchor.pid).write(self.folder)
            finally:
                # from here on the lab alone holds its lock
                os.close(lock)
                os.close(starter)
            status = self.await_ready(_START_S, progress)
        except BaseException:
            os.close(still_here)
            self._kill()
            raise
        if tied:
            self._tie = still_here
        else:
            os.write(still_here, b"1")
            os.close(still_here)
        return status

    def _claim_folder(self) -> None:
        """Make the state folder, or see that it is one: its contents will be deleted."""
        root = self.folder.root
        try:
            root.mkdir(parents=True, exist_ok=True)
            if not self.folder.marker.exists():
                if any(root.iterdir()):
                    raise LabError(f"{root} is not empty and no lab's folder; give another one with --dir")
                self.folder.marker.touch()
        except OSError as error:
            raise LabError(f"{root}: {error.strerror}") from None

    def await_ready(self, limit_s: float, progress: Progress | None = None) -> LabStatus:
        """Wait until the lab is ready, and no longer than `limit_s` seconds.

        Raises:
            LabError: The lab ended, a part ends again and again, or the time is over.
        """
        deadline_s = time.monotonic() + limit_s
        check = ReadinessCheck(self.folder)
        while True:
            try:
                status = self.status()
            except LabError:
                if time.monotonic() > deadline_s:
                    raise
                continue  # dozens of processes at once keep the keeper busy for longer than a client waits
            if progress is not None:
                progress(status)
            if check.is_ready(status):
                return status
            if time.monotonic() > deadline_s:
                missing = ", ".join(status.pending)
                raise LabError(
                    f"not ready after {limit_s:.0f} s, missing: {missing}; logs are in {self.folder.logs}"
                )
            time.sleep(_POLL_S)

    def down(self) -> bool:
        """End the lab; return whether one was running.

        Raises:
            LabError: It does not end.
        """
        if is_locked(self.folder):
            patience_s = _STOP_S
            try:
                ask(self.folder.socket, {"do": "stop"})
            except LabError:
                patience_s = 0.0  # a keeper that does not answer will not end by itself
            self._kill(patience_s)
            return True
        self._forget()
        return False

    def _kill(self, patience_s: float = 0.0) -> None:
        """Kill the lab if it has not ended after some time, and clean up."""
        if not self._await_end(patience_s):
            if self._anchor is not None:
                self._anchor.kill()
            elif (anchor := Anchor.read(self.folder)) is not None:
                anchor.kill()
            if not self._await_end(_KILL_S):
                raise LabError(
                    f"the lab in {self.folder.root} does not end; who runs it is in {self.folder.state}"
                )
        self._forget()

    def _await_end(self, limit_s: float) -> bool:
        """Wait until the lab has ended; return whether it has."""
        deadline_s = time.monotonic() + limit_s
        while is_locked(self.folder):
            if time.monotonic() >= deadline_s:
                return False
            time.sleep(0.05)
        return True

    def _forget(self) -> None:
        """Remove what points to a lab that has ended; logs and records stay for the reader."""
        if self._anchor is not None:
            self._anchor.wait()
            self._anchor = None
        if self._tie is not None:
            os.close(self._tie)
            self._tie = None
        self.folder.socket.unlink(missing_ok=True)
        self.folder.state.unlink(missing_ok=True)

    def status(self) -> LabStatus:
        """Return the state of the lab; `absent` when none runs.

        Raises:
            LabError: A lab runs but does not answer.
        """
        if not is_locked(self.folder):
            return LabStatus("absent")
        if not self.folder.socket.exists():
            return LabStatus("starting", pending=("network",))
        try:
            return LabStatus.from_json(ask(self.folder.socket, {"do": "status"})["status"])
        except LabError:
            # it may have been asked in its last moments
            if self._await_end(_LAST_MOMENTS_S):
                return LabStatus("absent")
            raise

    def keepers_last_words(self) -> str:
        """Return what the keeper logged last, which says why a lab has ended, and where its log lies."""
        return last_words(self.folder, "keeper.log")

    def set_delay(self, a: str, b: str, ms: float) -> None:
        """Change the one-way delay between two sites; twice the same site changes its local delay.

        Raises:
            LabError: Unknown site, delay out of range, or no lab.
        """
        if not 0.0 <= ms <= MAX_DELAY_MS:
            raise LabError(f"a delay is a number from 0 to {MAX_DELAY_MS:.0f} ms, not {ms}")
        self._ask({"do": "delay", "between": [a, b], "delay_ms": float(ms)})

    def isolate(self, site: str) -> None:
        """Drop every packet between hosts of a site and all others; within the site traffic goes on.

        Packets under way still arrive. Delays stay, and may be set meanwhile. The services' site may be
        isolated as well: commands and the lab's own control do not pass the emulated network. An isolated
        site stays isolated. Hosts that are cut off from Nimbus are not missed by a lab that is `ready`.

        Raises:
            LabError: Unknown site, or no lab.
        """
        self._ask({"do": "isolate", "site": site})

    def rejoin(self, site: str) -> None:
        """Let packets pass again between a site and all others that are not isolated themselves.

        Returns at once; the lab is `ready` when Nimbus knows the site's supervisors again and their agents
        publish. A site that is not isolated stays joined.

        Raises:
            LabError: Unknown site, or no lab.
        """
        self._ask({"do": "rejoin", "site": site})

    def join(self, host: str) -> None:
        """Start the supervisor and the agent of a host that is absent; one that is there stays.

        Returns at once; the lab is `ready` when Nimbus knows the supervisor and its agent publishes.

        Raises:
            LabError: Unknown host, or no lab.
        """
        self._ask({"do": "join", "host": host})

    def leave(self, host: str) -> None:
        """Stop the supervisor and the agent of a host and return when Nimbus does not list it any more.

        Workers that run there go on, as Storm has it.

        Raises:
            LabError: Unknown host, no lab, or Nimbus goes on to list it.
        """
        self._ask({"do": "leave", "host": host})
        deadline_s = time.monotonic() + _CHANGE_S
        while (found := self.status().host(host)) is not None and (found.slots is not None or found.agent):
            if time.monotonic() > deadline_s:
                raise LabError(f"Nimbus lists {host} still after {_CHANGE_S:.0f} s")
            time.sleep(_POLL_S)

    def use_scheduler(self, name: SchedulerName, progress: Progress | None = None) -> LabStatus:
        """Restart Nimbus with another scheduler and return when it leads again.

        Raises:
            LabError: No lab, no shim, or Nimbus does not come back.
        """
        check_shim(name)
        self._ask({"do": "scheduler", "name": name})
        return self.await_ready(_CHANGE_S, progress)

    def stop_daemon(self) -> None:
        """Stop the placement daemon and return when it has ended."""
        self._ask({"do": "stop-daemon"})
        deadline_s = time.monotonic() + _CHANGE_S
        while any(one.name == "daemon" and one.state != "down" for one in self.status().services):
            if time.monotonic() > deadline_s:
                raise LabError(f"the placement daemon does not end within {_CHANGE_S:.0f} s")
            time.sleep(_POLL_S)

    def start_daemon(self) -> LabStatus:
        """Start the placement daemon and return when it listens."""
        self._ask({"do": "start-daemon"})
        return self.await_ready(_CHANGE_S)

    def _ask(self, request: dict[str, Any]) -> None:
        """Send a request to a lab that must be running."""
        if not is_locked(self.folder):
            raise self._absence()
        ask(self.folder.socket, request)

    def _absence(self) -> NoLabError:
        return NoLabError(f"no lab is running in {self.folder.root}; {self.folder.command('up')} starts one")

    def exec(self, host: str, argv: Sequence[str], **popen: Any) -> subprocess.Popen[Any]:
        """Run a command on a host: in its network, with the lab's host names and processes.

        It ends with the lab, and gets SIGTERM when the returned process is killed.

        Args:
            host: A host of the lab.
            argv: Program and arguments.
            popen: Further arguments of `subprocess.Popen`.

        Raises:
            LabError: No lab, or no such host.
        """
        status = self.status()
        found = status.host(host)
        if found is None:
            if status.state == "absent":
                raise self._absence()
            names = ", ".join(one.name for one in status.hosts)
            raise LabError(f"no host is named {host!r}; hosts are {names}")
        folder = Path(popen.pop("cwd", None) or Path.cwd())
        command = inside(keeper_pid(self.folder.socket), found.pause_pid, folder, argv)
        environment = dict(popen.pop("env", None) or os.environ)
        environment["PATH"] = f"{environment.get('PATH', os.defpath)}:/usr/sbin:/sbin"
        process: subprocess.Popen[Any] = subprocess.Popen(command, env=environment, **popen)
        return process
