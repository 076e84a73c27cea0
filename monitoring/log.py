"""Logs one JSON line per change of state, on standard error."""

from __future__ import annotations

import sys
from typing import Any, Protocol, TextIO

import structlog


class Log(Protocol):
    """What the agent needs of a log: an event's name and its fields."""

    def info(self, event: str, **fields: Any) -> Any:
        """Log a change for the better or a neutral one."""

    def warning(self, event: str, **fields: Any) -> Any:
        """Log a change that an operator should know about."""


def json_log(host: str, stream: TextIO | None = None) -> Log:
    """Make a log whose every line names the host.

    Args:
        host: Name of this host.
        stream: Where lines go; standard error by default.
    """
    log: Log = structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
        host=host,
    )
    return log
