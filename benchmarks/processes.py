"""What a process and all that it starts use, looked at from outside."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

STEP_S = 0.5


@dataclass(frozen=True)
class Watched:
    """What processes used.

    Attributes:
        peak_bytes: Greatest sum of resident sets at one look.
        cpu_s: Processor time of all processes seen, up to the last look at each.
    """

    peak_bytes: int
    cpu_s: float


def watch(process: psutil.Process) -> Watched:
    """Look at a process and its descendants until it ends; its output must fit a pipe's buffer (64 KiB)."""
    peak = 0
    cpu: dict[int, float] = {}
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        total = 0
        for each in _family(process):
            try:
                with each.oneshot():
                    total += each.memory_info().rss
                    times = each.cpu_times()
            except psutil.NoSuchProcess:
                continue
            cpu[each.pid] = times.user + times.system
        peak = max(peak, total)
        time.sleep(STEP_S)
    return Watched(peak, sum(cpu.values()))


def _family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []
