"""How long one reply of ZooKeeper is waited for, and what a broken connection raises instead of one."""

from __future__ import annotations

from kazoo.exceptions import (
    ConnectionClosedError,
    ConnectionLoss,
    OperationTimeoutError,
    SessionExpiredError,
)
from kazoo.handlers.threading import KazooTimeoutError

REPLY_S = 10.0
"""Longest wait for one reply of ZooKeeper; the session reports its loss, this only bounds the wait."""

CONNECTION_TROUBLE = (
    ConnectionLoss,
    ConnectionClosedError,
    OperationTimeoutError,
    SessionExpiredError,
    KazooTimeoutError,
)
"""The session's own events report it; the next turn repeats what failed."""
