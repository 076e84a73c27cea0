"""The process that forks children: solvers are loaded in it once, so that a child starts within milliseconds.

It runs beside the process that needs children (`bridge.child_process`) and takes its orders from a socket.
It starts no threads, so that forking it is safe, whatever threads its owner has. When the owner ends, however
that happens, the socket ends, and with it this process and its children.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import pickle
import selectors
import signal
import socket
import struct
import time
import traceback
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from scheduler.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Sequence

START, KILL = b"S", b"K"
"""Orders. Two file descriptors come with a start: a socket to speak on and a file with the pickled work."""
ORDER = struct.Struct("!cQ")
"""An order and the number of the child that it is about; one message of the socket."""

SAID, DONE, FAILED = "said", "done", "failed"
"""What a child speaks: pairs of one of these with the message, None or the reason."""

_PR_SET_PDEATHSIG = 1


def serve(control: int, preload: Sequence[str], niceness: int) -> NoReturn:
    """Fork a child for every order until the owner's end of the socket is closed.

    Args:
        control: File descriptor of the socket that brings orders.
        preload: Names of the modules to load first; one that does not exist is loaded by nobody.
        niceness: Added to the niceness of the children.
    """
    # A terminal's Ctrl-C and a service manager's SIGTERM reach the whole group: the owner decides what ends.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.nice(niceness)
    with suppress(OSError):
        # Where memory is short a solver goes first, not a daemon.
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")
    for module in preload:
        with suppress(ImportError):
            importlib.import_module(module)
    # What is loaded now is shared with the children and never collected: no page of it needs a copy.
    gc.freeze()
    _Server(socket.socket(fileno=control)).run()
    os._exit(0)


class _Server:
    """Forks, kills and reaps."""

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._process: dict[int, int] = {}
        self._woken, self._waker = socket.socketpair()
        for each in (self._woken, self._waker):
            each.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Obey until the owner is gone."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._orders, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self._woken in ready:
                    self._woken.recv(4096)
                    self._reap()
                if self._orders in ready and not self._obey():
                    break
        for process in self._process.values():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)

    def _obey(self) -> bool:
        order, descriptors, _, _ = socket.recv_fds(self._orders, ORDER.size, 2)
        if not order:
            return False
        kind, child = ORDER.unpack(order)
        if kind == START:
            self._start(child, *descriptors)
        elif child in self._process:
            # Not reaped yet, so the number still belongs to that child.
            os.kill(self._process[child], signal.SIGKILL)
        return True

    def _start(self, child: int, speaking: int, work: int) -> None:
        server = os.getpid()
        try:
            process = os.fork()
        except OSError:
            # No process to be had: the owner hears of a socket that ends.
            process = -1
        if process == 0:
            _become_child(server, speaking, work)
        if process > 0:
            self._process[child] = process
        os.close(speaking)
        os.close(work)

    def _reap(self) -> None:
        for child, process in list(self._process.items()):
            ended, _ = os.waitpid(process, os.WNOHANG)
            if ended:
                del self._process[child]


def _become_child(server: int, speaking: int, work: int) -> NoReturn:
    """Do the work and end, whatever happens."""
    try:
        # Should the server be killed, its children have nobody else to end them.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if os.getppid() == server:
            with Connection(speaking) as connection, os.fdopen(work, "rb") as file:
                _work(connection, file)
    finally:
        # Nothing of the server's may run on in its copy.
        os._exit(0)


def _work(connection: Connection[Any, Any], file: Any) -> None:
    def say(message: object) -> None:
        connection.send((SAID, message))

    try:
        work, argument, at = pickle.load(file)  # noqa: S301  # written by this process' owner
        deadline = Deadline.none() if at is None else Deadline(time.monotonic, at)
        work(argument, deadline, say)
        last: tuple[str, str | None] = (DONE, None)
    except BrokenPipeError:
        # Nobody listens any more.
        return
    except MemoryError:
        last = (FAILED, "its process is out of memory")
    except Exception as error:  # noqa: BLE001  # the owner decides what a failure means
        place = traceback.extract_tb(error.__traceback__)[-1]
        last = (FAILED, f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})")
    with suppress(BrokenPipeError):
        connection.send(last)
