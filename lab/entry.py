"""Runs a command inside a lab: in its mounts and processes, and in the network of one host."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def inside(keeper_pid: int, pause_pid: int, folder: Path, argv: Sequence[str]) -> list[str]:
    """Return the command line that runs a command on a host of a lab; it ends with who starts it.

    Ctrl-C is the command's alone: what stands around it waits until it has ended.

    Args:
        keeper_pid: Process id of the lab's keeper.
        pause_pid: Process id, inside the lab, of the process that holds the host's namespaces.
        folder: Working directory.
        argv: Program and arguments.
    """
    enter = ["nsenter", "--target", str(keeper_pid), "--mount", "--pid"]
    if Path(f"/proc/{keeper_pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink():
        enter += ["--user", "--preserve-credentials"]
    holder = f"/proc/{pause_pid}/ns"
    settings = ["setpriv", "--pdeathsig", "TERM", "--", "env", f"--chdir={folder.absolute()}"]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # what a background job ignores stays ignored
        # else the outer `nsenter` ends at once, which cuts short how the command ends
        enter = ["env", "--ignore-signal=INT", *enter]
        settings.append("--default-signal=INT")
    host = ["nsenter", f"--net={holder}/net", f"--uts={holder}/uts", "--"]
    return [*enter, "--", *settings, *host, *argv]
