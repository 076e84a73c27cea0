"""Lines from and to the pipes of other processes."""

from __future__ import annotations

import json
import os
import select
import time
from typing import TYPE_CHECKING, Any

from lab.errors import LabError

if TYPE_CHECKING:
    from lab.service import Service

_START_S = 30.0


class LineReader:
    """Collects what a pipe delivers and hands it out line by line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._pending = b""

    def read(self) -> list[Any] | None:
        """Read once, without waiting if data is there; return the complete lines' values, None at the end."""
        chunk = os.read(self._descriptor, 65_536)
        if not chunk:
            return None
        *lines, self._pending = (self._pending + chunk).split(b"\n")
        return [json.loads(line) for line in lines]


def read_line(service: Service) -> str:
    """Read one line that a process has to say when it is ready."""
    line = b""
    deadline_s = time.monotonic() + _START_S
    while not line.endswith(b"\n"):
        readable, _, _ = select.select([service.output], [], [], max(0.0, deadline_s - time.monotonic()))
        if not readable:
            raise LabError(f"{service.command.name} was not ready within {_START_S:.0f} s")
        byte = os.read(service.output, 1)
        if not byte:
            break
        line += byte
    return line.decode().strip()


def write_line(descriptor: int, line: str) -> None:
    """Write one line to a pipe."""
    content: Any = memoryview(line.encode() + b"\n")
    while content:
        content = content[os.write(descriptor, content) :]
