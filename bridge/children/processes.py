"""Work in child processes that can be killed: `scheduler.contract.children`, with real processes."""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bridge.children.orders import KillableChildren, order_child

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.children.job import ChildJob

PRELOAD = ("scheduler.registry", "networkx", "ortools.math_opt.python.mathopt")
"""What children use and what takes long to load."""

_PATIENCE_S = 0.5


class ChildProcesses(KillableChildren):
    """Starts work in processes of its own; safe to use from several threads.

    All children are gone when it is closed, and when this process ends in whatever way. A terminal's Ctrl-C
    does not reach them, and what they write to standard output and standard error is dropped.

    Args:
        niceness: Added to the niceness of the children (>= 0).
        preload: Names of modules to load before the first child starts.
    """

    def __init__(self, *, niceness: int = 0, preload: Sequence[str] = PRELOAD) -> None:
        self._niceness = niceness
        self._preload = tuple(preload)
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._server: _Server | None = None

    def __enter__(self) -> ChildProcesses:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def warm_up(self) -> None:
        """Begin to load what children need, without waiting for it; otherwise the first child does.

        If no process can be started now, the first child tries again.
        """
        with self._lock, suppress(OSError):
            self._running()

    def close(self) -> None:
        """Kill all children and what started them; a later start begins anew."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.end()

    def _order(self, pickled: bytes) -> ChildJob[Any]:
        with self._lock:
            server = self._running()
            try:
                return order_child(server.orders, next(self._numbers), pickled)
            except (BrokenPipeError, ConnectionResetError):
                # Its server was killed just now: the next one may live longer.
                server.end()
                return order_child(self._running().orders, next(self._numbers), pickled)

    def _running(self) -> _Server:
        if self._server is None or self._server.gone:
            self._server = _Server(self._niceness, self._preload)
        return self._server


class _Server:
    """A process of `bridge.children.fork_server`."""

    def __init__(self, niceness: int, preload: Sequence[str]) -> None:
        self.orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # A server that hangs fails the orders that it has no room for, instead of keeping their owners.
        self.orders.setblocking(False)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from bridge.children.fork_server import serve; "
            f"serve({theirs.fileno()}, {tuple(preload)!r}, {niceness})"
        )
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-c", code],
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Numpy's own threads would be lost in the children, and they have no use for them.
                    env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
                    start_new_session=True,
                )
        except OSError:
            self.orders.close()
            raise

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def end(self) -> None:
        """End it and its children."""
        self.orders.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            # Still loading, so without children; and if not, the kernel kills its children with it.
            self._process.kill()
            self._process.wait()
