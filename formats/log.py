"""Logs of the daemon and the agents: one JSON object per line on standard error."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, TextIO

LEVELS = ("debug", "info", "warning", "error")


class Log:
    """Writes events as lines; safe to use from several threads.

    Args:
        level: Least level written, one of LEVELS.
        stream: Where lines go; standard error by default.
        fields: What every line carries, such as the name of the host.
    """

    def __init__(self, level: str = LEVELS[0], stream: TextIO | None = None, **fields: Any) -> None:
        self._written = LEVELS[LEVELS.index(level) :]
        self._stream = stream or sys.stderr
        self._fields = fields
        self._lock = threading.Lock()

    def info(self, event: str, **fields: Any) -> None:
        """Log a change for the better or a neutral one."""
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Log a change that an operator should know about."""
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Log a failure of our own."""
        self._write("error", event, fields)

    def exception(self, event: str, **fields: Any) -> None:
        """Log a failure of our own with the trace of the exception that is being handled."""
        self._write("error", event, {**fields, "exception": traceback.format_exc().rstrip()})

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if level not in self._written:
            return
        now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        entry = {**self._fields, **fields, "event": event, "level": level, "timestamp": now}
        line = json.dumps(entry, default=repr)
        # a full disk or a reader that is gone ends nothing that works
        with self._lock, suppress(OSError):
            self._stream.write(line + "\n")
            self._stream.flush()
