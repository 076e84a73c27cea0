"""The daemon's log: one JSON object per line on standard error."""

from __future__ import annotations

import logging
import sys

import structlog


def json_log(level: str) -> structlog.typing.FilteringBoundLogger:
    """Return a logger that writes events of at least a level.

    Args:
        level: `debug`, `info`, `warning` or `error`.
    """
    logger: structlog.typing.FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        context_class=dict,
    )
    return logger
