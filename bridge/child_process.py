"""Work in child processes that can be killed: what `scheduler.children` promises, with real processes."""

from __future__ import annotations

import itertools
import math
import os
import pickle
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, Generic

from bridge.child_server import DONE, KILL, ORDER, SAID, START
from scheduler.children import Spoken

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from scheduler.children import Argument, Message
    from scheduler.deadline import Deadline

PRELOAD = (
    "scheduler.registry",
    "networkx",
    "ortools.sat.python.cp_model",
    "ortools.math_opt.python.mathopt",
)
"""What children use and what takes long to load."""

_PATIENCE_S = 0.5


class ChildProcesses:
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

        Raises:
            OSError: No process can be started.
        """
        with self._lock:
            self._running()

    def start(
        self,
        work: Callable[[Argument, Deadline, Callable[[Message], None]], None],
        argument: Argument,
        deadline: Deadline,
    ) -> ChildJob[Message]:
        """Start a module-level function on an argument; both and its messages can be pickled.

        The child counts its deadline from now on its own clock. If no process can be had, the job has ended
        and its failure says why.
        """
        at = None if deadline.unlimited else time.monotonic() + deadline.remaining()
        pickled = pickle.dumps((work, argument, at))
        try:
            return self._start(pickled)
        except OSError as error:
            return ChildJob(None, None, f"no process could be started ({error.strerror})")

    def close(self) -> None:
        """Kill all children and what started them; a later start begins anew."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.end()

    def _start(self, pickled: bytes) -> ChildJob[Any]:
        # A file in memory takes the work at once, however long the server is still loading.
        with os.fdopen(os.memfd_create("work"), "wb") as file:
            file.write(pickled)
            file.flush()
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            ours, theirs = socket.socketpair()
            with theirs:
                connection: Connection[Any, Any] = Connection(ours.detach())
                number = next(self._numbers)
                try:
                    server = self._ordered(number, [theirs.fileno(), file.fileno()])
                except OSError:
                    connection.close()
                    raise
        return ChildJob(connection, lambda: server.kill(number))

    def _ordered(self, number: int, descriptors: Sequence[int]) -> _Server:
        """Order a child from the server, a new one if the last one is gone."""
        with self._lock:
            server = self._running()
            try:
                server.start(number, descriptors)
            except (BrokenPipeError, ConnectionResetError):
                server.end()
                server = self._running()
                server.start(number, descriptors)
            return server

    def _running(self) -> _Server:
        if self._server is None or self._server.gone:
            self._server = _Server(self._niceness, self._preload)
        return self._server


class _Server:
    """The owner's side of `bridge.child_server`."""

    def __init__(self, niceness: int, preload: Sequence[str]) -> None:
        # Messages keep their bounds and their descriptors on such a socket.
        self._orders, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; from bridge.child_server import serve; "
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
            self._orders.close()
            raise

    @property
    def gone(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def start(self, number: int, descriptors: Sequence[int]) -> None:
        """Order a child."""
        socket.send_fds(self._orders, [ORDER.pack(START, number)], descriptors)

    def kill(self, number: int) -> None:
        """Order the end of a child; without the server there is none."""
        with suppress(OSError):
            self._orders.send(ORDER.pack(KILL, number))

    def end(self) -> None:
        """End it and its children."""
        self._orders.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            # Still loading, so without children; and if not, the kernel kills its children with it.
            self._process.kill()
            self._process.wait()


class ChildJob(Generic[Spoken]):
    """Work in a child process; used by one thread.

    Args:
        connection: Where the child speaks; None if there is none.
        kill: Kills the child.
        failure: Why there is no child.
    """

    def __init__(
        self,
        connection: Connection[Any, Any] | None,
        kill: Callable[[], None] | None,
        failure: str | None = None,
    ) -> None:
        self._connection = connection
        self._kill = kill
        self._failure = failure
        self._said: list[Spoken] = []

    @property
    def ended(self) -> bool:
        """Whether the work has ended, by itself or not; messages may still be unread."""
        self._listen(0.0)
        return self._connection is None

    @property
    def failure(self) -> str | None:
        """Why it ended without finishing; None while it runs and after a good end."""
        self._listen(0.0)
        return self._failure

    def messages(self) -> list[Spoken]:
        """Return what it has said since the last call, without waiting."""
        self._listen(0.0)
        said, self._said = self._said, []
        return said

    def wait(self, seconds: float) -> bool:
        """Wait until there is a message or the work has ended, at most so long; return whether so."""
        self._listen(0.0 if self._said else max(seconds, 0.0))
        return bool(self._said) or self._connection is None

    def stop(self) -> None:
        """Kill it, without waiting for its end. What it has said is kept."""
        if self._connection is not None and self._kill is not None:
            self._kill()
            self._listen(0.0)
            self._end("it was stopped")

    def _listen(self, seconds: float) -> None:
        """Take in what is there, after waiting so long for the first word."""
        patience = None if math.isinf(seconds) else seconds
        while self._connection is not None:
            try:
                if not self._connection.poll(patience):
                    return
                kind, content = self._connection.recv()
            except (EOFError, OSError):
                self._end("its process was killed")
                return
            if kind == SAID:
                self._said.append(content)
            else:
                self._end(None if kind == DONE else str(content))
            patience = 0.0

    def _end(self, failure: str | None) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self._failure = failure
