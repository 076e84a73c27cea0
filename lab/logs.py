"""Logs of a lab by name: daemons as `nimbus`, workers as `HOST/TOPOLOGY/PORT`."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from pathlib import Path

    from lab.places import LabFolder

# workers print their whole configuration, about 20 kB, as one line
LONGEST_LINE = 400


def find_logs(folder: LabFolder) -> dict[str, Path]:
    """Return all logs that hold anything: name -> file."""
    found = {
        path.stem if path.suffix == ".log" else path.name: path
        for path in sorted(folder.logs.glob("*"))
        if path.suffix in (".log", ".out")
    }
    for path in sorted(folder.storm.glob("*/workers/*/*/worker.log*")):
        topology, port = path.parts[-3:-1]
        host = path.parts[-5]
        found[f"{host}/{topology}/{port}{path.name.removeprefix('worker.log')}"] = path
    return {name: path for name, path in found.items() if path.stat().st_size > 0}


def read_log(folder: LabFolder, name: str, lines: int) -> list[str]:
    """Return the last lines of a log, long lines cut.

    Raises:
        LabError: There is no such log.
    """
    path = find_logs(folder).get(name)
    if path is None:
        raise LabError(f"no log is named {name!r}; `stormplace lab logs` lists them")
    with path.open(encoding="utf-8", errors="replace") as log:
        return [shorten(line.rstrip("\n")) for line in deque(log, maxlen=lines)]


def shorten(line: str) -> str:
    """Cut a line that no one would read."""
    if len(line) <= LONGEST_LINE:
        return line
    return f"{line[:LONGEST_LINE]}... ({len(line)} characters)"


def last_words(folder: LabFolder, name: str) -> str:
    """Return the last line of a process' log and where it lies."""
    path = folder.logs / name
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{lines[-1][:300] if lines else 'nothing was logged'} (see {path})"
