"""What results carry: machine, date and commit."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Provenance:
    """Where and when a figure was measured.

    Attributes:
        machine: Cores, memory, processor and kernel in a few words.
        date: UTC date.
        commit: Short commit of the source tree, with `+` where it was changed; `unknown` outside a checkout.
    """

    machine: str
    date: str
    commit: str

    def line(self) -> str:
        """All three on one line."""
        return f"{self.machine}; {self.date}; commit {self.commit}"


def provenance() -> Provenance:
    """Describe this machine and this source tree."""
    memory_gib = psutil.virtual_memory().total / 2**30
    machine = f"{psutil.cpu_count()} cores ({_processor()}), {memory_gib:.0f} GiB, Linux {platform.release()}"
    return Provenance(machine=machine, date=f"{datetime.now(UTC):%Y-%m-%d}", commit=_commit())


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def _commit() -> str:
    root, head = _git("rev-parse", "--show-toplevel"), _git("rev-parse", "--short=10", "HEAD")
    # an installed copy may lie inside another project's repository, whose commit says nothing of this one
    if Path(root) != PROJECT or not head:
        return "unknown"
    return f"{head}+" if _git("status", "--porcelain", "--untracked-files=no") else head


def _git(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(PROJECT), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
