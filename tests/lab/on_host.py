"""Running programs on a host of the lab."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from streamparse.thrift import LocalStateData, LSWorkerHeartbeat
from thriftpy2.utils import deserialize

if TYPE_CHECKING:
    from lab.cluster import LabClient

WAIT_S = 240.0
"""Longest time that a command may take."""


def begin(lab: LabClient, host: str, *arguments: str) -> subprocess.Popen[str]:
    """Begin a command and keep what it prints."""
    command = [sys.executable, "-m", "cli.main", *arguments]
    return lab.exec(host, command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def stormplace(lab: LabClient, *arguments: str, host: str = "nimbus") -> str:
    """Run a command to its good end and return what it printed."""
    process = begin(lab, host, *arguments)
    out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0, f"{' '.join(arguments)}: {err}"
    return str(out)


def run(lab: LabClient, host: str, *argv: str) -> str:
    """Run a program to its good end and return what it printed."""
    process = lab.exec(host, argv, stdout=subprocess.PIPE, text=True)
    output, _ = process.communicate(timeout=WAIT_S)
    assert process.returncode == 0
    return str(output)


def worker_commands(lab: LabClient, topology_id: str) -> list[list[str]]:
    """Return process id and command line of each worker JVM of a topology.

    The last four arguments are supervisor id, its port, the slot's port, and an id that is new at each start.
    """
    pattern = f"org.apache.storm.daemon.worker.Worker {topology_id}"
    process = lab.exec("nimbus", ["pgrep", "-fa", pattern], stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate(timeout=WAIT_S)
    return [line.split() for line in out.splitlines()]


def first_tasks(lab: LabClient, host: str, worker: str) -> set[int]:
    """Return the first task of each executor that a worker last said to run; none before it has said so.

    Args:
        worker: The id that is new at each start. The worker writes a sign of life each second into its folder
            (Storm's LocalState: the newest file that has a twin with the ending `.version`).
    """
    folder = lab.folder.storm / host / "local" / "workers" / worker / "heartbeats"
    try:
        newest = max(folder.glob("*.version"), key=lambda path: int(path.stem), default=None)
        content = newest and newest.with_suffix("").read_bytes()
    except FileNotFoundError:  # replaced by a newer one, or the worker has ended: the caller asks again
        return set()
    if not content:
        return set()
    state = deserialize(LocalStateData(), content)
    (part,) = state.serialized_parts.values()
    beat = deserialize(LSWorkerHeartbeat(), part.bits)
    return {executor.task_start for executor in beat.executors if executor.task_start >= 0}
