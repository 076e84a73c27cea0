"""Runs a command on a host of the lab, passes its lines on, and does other things meanwhile."""

from __future__ import annotations

import queue
import subprocess
import threading
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lab.cluster import LabClient

_LAST_LINES_S = 5.0


class Errands(Protocol):
    """Things to do while a command runs; called from the thread that waits for the command."""

    def due_s(self) -> float | None:
        """Return in how many seconds something is to be done, None for nothing."""
        ...

    def act(self) -> None:
        """Do what is due; an exception ends the command."""
        ...


def run_on_host(
    lab: LabClient,
    host: str,
    command: Sequence[str],
    take: Callable[[str], None],
    errands: Errands | None = None,
) -> int:
    """Run a command to its end; however this is left, the command does not go on.

    Args:
        lab: The lab, up.
        host: One of its hosts.
        command: Program and arguments.
        take: Gets each line of output and errors.
        errands: What is to be done meanwhile.

    Returns:
        Exit status.

    Raises:
        lab.errors.LabError: No lab, or no such host.
    """
    process = lab.exec(
        host, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
    )
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def pass_on() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    reader = threading.Thread(target=pass_on, daemon=True)
    reader.start()
    try:
        _take_all(lines, take, errands)
        return int(process.wait())
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        reader.join(_LAST_LINES_S)


def _take_all(
    lines: queue.SimpleQueue[str | None], take: Callable[[str], None], errands: Errands | None
) -> None:
    """Wait for the next line or the next thing to do, whichever comes first, until the output ends."""
    while True:
        due_s = None if errands is None else errands.due_s()
        if errands is not None and due_s is not None and due_s <= 0.0:
            errands.act()
            continue
        try:
            line = lines.get(timeout=due_s)
        except queue.Empty:
            continue
        if line is None:
            return
        take(line)
