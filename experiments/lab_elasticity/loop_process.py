"""The elastic loop of a turn as a process on the lab's Nimbus host, which may be killed and started again."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import psutil

from experiments.lab_steps import StepError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lab.cluster import LabClient

_END_S = 120.0
"""Longest time that a round takes: it may wait until a host has left."""
_KILLED_S = 20.0


class LabProgram:
    """A Python program on a host of the lab that goes on until it is ended.

    Args:
        lab: The lab, up.
        host: One of its hosts.
        arguments: Of Python.
        out: File that takes its output.
        log: File that takes its errors.

    Attributes:
        killed_s: When it was killed, unix time.
    """

    def __init__(self, lab: LabClient, host: str, arguments: Sequence[str], out: Path, log: Path) -> None:
        self._lab = lab
        self._host = host
        self._arguments = tuple(arguments)
        self._out = out
        self._log = log
        self._process: subprocess.Popen[Any] | None = None
        self.killed_s: list[float] = []

    def start(self) -> None:
        """Start it; files go on where they are.

        Raises:
            lab.errors.LabError: No lab, or no such host.
        """
        with self._out.open("ab") as out, self._log.open("ab") as log:
            command = [sys.executable, *self._arguments]
            self._process = self._lab.exec(self._host, command, stdout=out, stderr=log)

    def kill(self) -> None:
        """Kill the program, and none that it has started, as a machine that runs out of memory would.

        Raises:
            StepError: It does not run.
        """
        process = self._running()
        for each in _own(process.pid, self._arguments):
            each.kill()
        self.killed_s.append(time.time())
        process.wait(_KILLED_S)

    def end(self) -> None:
        """Ask it to end and wait until it has; one that has ended by itself is an error.

        Raises:
            StepError: It does not end, or had ended before.
        """
        process = self._running()
        for each in _own(process.pid, self._arguments):
            each.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            raise StepError(f"{self._title} does not end; see {self._log}") from None

    def discard(self) -> None:
        """End it without ado, after a failure whose reason counts."""
        if self._process is not None and self._process.poll() is None:
            for each in _own(self._process.pid, self._arguments):
                each.kill()
            self._process.kill()
            self._process.wait()

    @property
    def _title(self) -> str:
        return " ".join(self._arguments[1:3])

    def _running(self) -> subprocess.Popen[Any]:
        process = self._process
        if process is None or process.poll() is not None:
            raise StepError(f"{self._title} ended by itself; see {self._log}")
        return process


def _own(pid: int, arguments: Sequence[str]) -> list[psutil.Process]:
    """Return the program behind what enters the lab's namespaces before it."""
    found = []
    for each in psutil.Process(pid).children(recursive=True):
        try:
            if each.cmdline()[1:] == list(arguments):
                found.append(each)
        except psutil.Error:
            continue  # it has ended meanwhile
    return found
