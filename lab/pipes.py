"""Lines of JSON from the pipe of another process."""

from __future__ import annotations

import json
import os
from typing import Any


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
