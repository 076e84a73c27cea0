"""Finds the process that a lab hangs on, and whether it still runs.

The state folder's lock is held by the anchor and the keeper only, so the kernel itself says whether a lab
runs. The state file names the anchor by process id and start time: no stranger with the same id is ever taken
for it.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.places import LabFolder

_FLOCK = struct.Struct("hhqqi4x")  # struct flock: type, whence, start, length, pid


def take_lock(folder: LabFolder) -> int | None:
    """Return a descriptor that holds the folder's lock, or None when another process holds it."""
    descriptor = os.open(folder.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def is_locked(folder: LabFolder) -> bool:
    """Say whether a lab runs or starts in this folder, without touching the lock."""
    try:
        descriptor = os.open(folder.lock, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise LabError(f"{folder.lock}: {error.strerror}") from None
    try:
        question = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        answer = fcntl.fcntl(descriptor, fcntl.F_OFD_GETLK, question)
    finally:
        os.close(descriptor)
    return bool(_FLOCK.unpack(answer)[0] != fcntl.F_UNLCK)


@dataclass(frozen=True)
class Anchor:
    """The process whose end ends the lab.

    Attributes:
        started: Boot id and start time, which no other process with the same id shares.
    """

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> Anchor:
        """Return the anchor that is a living process of this machine."""
        return cls(pid, _start_of(pid))

    @classmethod
    def read(cls, folder: LabFolder) -> Anchor | None:
        """Return the anchor that the state file names, or None without a readable file."""
        try:
            return cls(**json.loads(folder.state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def write(self, folder: LabFolder) -> None:
        """Note the anchor in the state file."""
        partial = folder.state.with_suffix(".partial")
        partial.write_text(json.dumps(asdict(self)), encoding="utf-8")
        partial.replace(folder.state)

    def kill(self) -> None:
        """Kill the anchor, and with it the whole lab, if it is still the same process."""
        try:
            handle = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return
        try:
            # the descriptor pins the process, so it cannot be replaced between look and kill
            if _start_of(self.pid) == self.started:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        except (ProcessLookupError, FileNotFoundError):
            return
        finally:
            os.close(handle)


def _start_of(pid: int) -> str:
    """Return boot id and start time in clock ticks of a process."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    # the second field, the program's name, may hold blanks and brackets
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return f"{boot}:{fields[19]}"
