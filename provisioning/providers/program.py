"""Other programs: run without a shell, for a bounded time, with a reason in one line if they fail."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING

from provisioning.providers.provider import ProviderError

if TYPE_CHECKING:
    from collections.abc import Sequence

_READ_BYTES = 4_194_304
_LAST_BYTES = 4096
_LINE_LENGTH = 300


class ProgramFailedError(ProviderError):
    """It could not be started, or ended with a status other than 0 by itself.

    Attributes:
        status: With which it ended; None: it could not be started.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ProgramKilledError(ProviderError):
    """It took too long, or was ended by a signal: it is unknown what it has done."""


def run_program(what: str, arguments: Sequence[str], limit_s: float) -> str:
    """Run a program and return what it printed, at most 4 MiB of it.

    Its process group is killed with it if it takes too long. What it leaves running when it ends by itself
    goes on.

    Args:
        what: What it is for, as errors name it, such as ``start``.
        arguments: The program and its arguments.
        limit_s: It is killed after that time, s.

    Raises:
        ProgramFailedError: See there.
        ProgramKilledError: See there.
    """
    # files, not pipes: a process that it leaves behind would keep a pipe open, and the reader waiting
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        try:
            process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True
            )
        except OSError as error:
            raise ProgramFailedError(f"{what}: {arguments[0]} cannot be run ({error.strerror})") from None
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            raise ProgramKilledError(
                f"{what}: {arguments[0]} did not end within {limit_s:g} s and was killed{_last_line(errors)}"
            ) from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if status < 0:
            raise ProgramKilledError(
                f"{what}: {arguments[0]} was ended by signal {-status}{_last_line(errors)}"
            )
        if status > 0:
            why = f"{what}: {arguments[0]} ended with status {status}{_last_line(errors)}"
            raise ProgramFailedError(why, status)
        output.seek(0)
        return output.read(_READ_BYTES).decode(errors="replace")


def _last_line(errors: IO[bytes]) -> str:
    """Return the last line that a program wrote to standard error, after a colon; empty if it wrote none."""
    size = errors.seek(0, os.SEEK_END)
    errors.seek(max(0, size - _LAST_BYTES))
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1].strip()[:_LINE_LENGTH]}" if lines else ""
