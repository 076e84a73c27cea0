"""One supervised process: start, stop, restart after a growing pause."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Literal

from lab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.commands import Command

ServiceState = Literal["down", "running", "stopping", "waiting", "failed"]

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
STABLE_AFTER_S = 60.0


def restart_pause_s(failures: int) -> float:
    """Return how long to wait before the next start after so many failures in a row (1, 2, 4 ... 30 s)."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (failures - 1))


class Service:
    """A process and the wish that it runs.

    States: `down` not wanted, `running`, `stopping` asked to end, `waiting` ended unexpectedly and due to
    start again, `failed` ended unexpectedly for good. The owner reaps children and reports them by `ended`.
    """

    def __init__(self, command: Command, logs: Path) -> None:
        self.command = command
        self.state: ServiceState = "down"
        self.pid: int | None = None
        self.unexpected_ends = 0
        self.last_end = ""
        self.started_s = 0.0
        self._wanted = False
        self._failures = 0
        self._due_s = 0.0
        self._log = logs / f"{command.name}.out"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, pause_pid: int | None) -> None:
        """Start the process in the namespaces held by a pause process, or in the keeper's own.

        Raises:
            LabError: The program cannot be started.
        """
        argv = self.command.argv
        if pause_pid is not None:
            holder = f"/proc/{pause_pid}/ns"
            argv = ("nsenter", f"--net={holder}/net", f"--uts={holder}/uts", "--", *argv)
        pipe = subprocess.PIPE if self.command.piped else None
        try:
            with self._log.open("ab") as log:
                self._process = subprocess.Popen(
                    argv,
                    stdin=pipe or subprocess.DEVNULL,
                    stdout=pipe or log,
                    stderr=log,
                    env={**os.environ, **self.command.environment},
                )
        except OSError as error:
            raise LabError(f"cannot start {self.command.name}: {error}") from None
        self._wanted = True
        self.pid = self._process.pid
        self.started_s = time.monotonic()
        self.state = "running"

    @property
    def input(self) -> int:
        """The descriptor of a piped process' standard input."""
        return self._pipe(output=False)

    @property
    def output(self) -> int:
        """The descriptor of a piped process' standard output."""
        return self._pipe(output=True)

    def _pipe(self, *, output: bool) -> int:
        if self._process is not None and self.pid is not None:
            stream = self._process.stdout if output else self._process.stdin
            if stream is not None:
                return stream.fileno()
        raise LabError(f"{self.command.name} does not run")

    def stop(self) -> None:
        """Ask the process to end; it stays down."""
        self._wanted = False
        self._ask_to_end()

    def restart(self) -> None:
        """Ask the process to end and start it again at once when it has."""
        self._wanted = True
        if self.pid is None:
            self._await_start(0.0)
        else:
            self._ask_to_end()

    def _ask_to_end(self) -> None:
        if self.pid is None:
            self.state = "down"
            return
        os.kill(self.pid, signal.SIGTERM)
        self.state = "stopping"
        self._due_s = time.monotonic() + self.command.stop_s

    def _await_start(self, pause_s: float) -> None:
        self.state = "waiting"
        self._due_s = time.monotonic() + pause_s

    def ended(self, wait_status: int) -> None:
        """Take note that the process has ended, and decide what comes next."""
        code = os.waitstatus_to_exitcode(wait_status)
        asked = self.state == "stopping"
        self.last_end = f"exit status {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"
        if self._process is not None:
            # Reaped by the keeper's own wait; without this the Popen object would wait for a stranger's pid.
            # The output stays open until the next start: the keeper still reads its end.
            self._process.returncode = code
            if self._process.stdin is not None:
                self._process.stdin.close()
        self.pid = None
        if not self._wanted:
            self.state = "down"
        elif asked:
            self._await_start(0.0)
        elif not self.command.restart:
            self.unexpected_ends += 1
            self.state = "failed"
        else:
            self.unexpected_ends += 1
            lived_s = time.monotonic() - self.started_s
            self._failures = 1 if lived_s > STABLE_AFTER_S else self._failures + 1
            self._await_start(restart_pause_s(self._failures))

    def fail(self, reason: str) -> None:
        """Give up a service that cannot be started any more."""
        self.last_end = reason
        self.state = "failed"

    def due_s(self) -> float | None:
        """Return when `act` has something to do, or None."""
        return self._due_s if self.state in ("waiting", "stopping") else None

    def start_is_due(self) -> bool:
        """Say whether the pause before the next start is over."""
        return self.state == "waiting" and time.monotonic() >= self._due_s

    def kill_if_overdue(self) -> None:
        """Kill a process that did not end in the time it has for that."""
        if self.state == "stopping" and self.pid is not None and time.monotonic() >= self._due_s:
            os.kill(self.pid, signal.SIGKILL)
            self._due_s = float("inf")
