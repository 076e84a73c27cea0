"""The process that forks children: solvers are loaded in it once, so a child starts within milliseconds.

It runs beside the process that needs children (`bridge.children.processes`) and takes its orders from a
socket. It starts no threads, so that forking it is safe, whatever threads its owner has. When the owner ends,
however that happens, the socket ends, and with it this process and its children. Each child has such a socket
too for children of its own: it may have run a solver, whose threads a fork would lose.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import os
import selectors
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from bridge.children.job import perform
from bridge.children.orders import ORDER, START, GrandChildren, unpickle_work

if TYPE_CHECKING:
    from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1
_DESCRIPTORS = 2


def serve(orders: int, preload: Sequence[str], niceness: int) -> NoReturn:
    """Fork a child for every order until the owner's end of the socket is closed.

    Args:
        orders: File descriptor of the socket that brings orders.
        preload: Names of the modules to load first; one that does not exist is left out.
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
    _Server(_Owner(socket.socket(fileno=orders))).run()
    os._exit(0)


@dataclass(eq=False)
class _Owner:
    """Who gives orders, with the process of each child that is not reaped yet."""

    orders: socket.socket
    children: dict[int, int] = field(default_factory=dict)


class _Server:
    """Forks, kills and reaps."""

    def __init__(self, first: _Owner) -> None:
        self._first = first
        self._owners = {first}
        self._selector = selectors.DefaultSelector()
        self._selector.register(first.orders, selectors.EVENT_READ, first)
        woken, waker = socket.socketpair()
        for each in (woken, waker):
            each.setblocking(False)
        self._waking = (woken, waker)
        self._selector.register(woken, selectors.EVENT_READ)
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def run(self) -> None:
        """Obey until the first owner is gone."""
        while self._first in self._owners:
            for key, _ in self._selector.select():
                if key.data is None:
                    self._waking[0].recv(4096)
                    self._reap()
                elif not self._obey(key.data):
                    self._leave(key.data)
        for owner in list(self._owners):
            self._leave(owner)

    def _obey(self, owner: _Owner) -> bool:
        try:
            order, descriptors, _, _ = socket.recv_fds(owner.orders, ORDER.size, _DESCRIPTORS)
        except ConnectionResetError:
            return False
        if not order:
            return False
        kind, number = ORDER.unpack(order)
        if kind == START:
            if len(descriptors) == _DESCRIPTORS:
                self._start(owner, number, *descriptors)
            else:
                # File descriptors are short here: without the child's the owner sees a socket that ends.
                for each in descriptors:
                    os.close(each)
        elif number in owner.children:
            # Not reaped yet, so the process number still belongs to that child.
            os.kill(owner.children[number], signal.SIGKILL)
        return True

    def _leave(self, owner: _Owner) -> None:
        """End the children of an owner that is gone."""
        self._owners.remove(owner)
        self._selector.unregister(owner.orders)
        owner.orders.close()
        for process in owner.children.values():
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)

    def _start(self, owner: _Owner, number: int, speaking: int, work: int) -> None:
        server = os.getpid()
        # Where no process or socket is to be had, the owner sees a socket that ends.
        with suppress(OSError):
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                try:
                    process = os.fork()
                except OSError:
                    ours.close()
                    raise
                if process == 0:
                    ours.close()
                    self._become_child(server, theirs, speaking, work)
                owner.children[number] = process
                child = _Owner(ours)
                self._owners.add(child)
                self._selector.register(ours, selectors.EVENT_READ, child)
        os.close(speaking)
        os.close(work)

    def _reap(self) -> None:
        for owner in self._owners:
            for number, process in list(owner.children.items()):
                ended, _ = os.waitpid(process, os.WNOHANG)
                if ended:
                    del owner.children[number]

    def _become_child(self, server: int, orders: socket.socket, speaking: int, work: int) -> NoReturn:
        """Do the work and end, whatever happens."""
        try:
            # Should the server be killed, no one else ends its children.
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for owner in self._owners:
                # Or the end of an owner would go unnoticed as long as this child lives.
                owner.orders.close()
            if os.getppid() == server:
                with Connection(speaking) as connection, os.fdopen(work, "rb") as file:
                    perform(connection, lambda: unpickle_work(file, GrandChildren(orders)))
        finally:
            # Nothing of the server's may run on in its copy.
            os._exit(0)
