"""Orders to the server of children: how an owner, or a child in its turn, has work done by children."""

from __future__ import annotations

import io
import itertools
import os
import pickle
import socket
import struct
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, BinaryIO

from bridge.children.job import ChildJob, Work
from scheduler.base.deadline import Deadline

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.contract.children import Argument, Children, Message

START, KILL = b"S", b"K"
"""Orders. Two file descriptors come with a start: a socket to speak on and a file with the pickled work."""
ORDER = struct.Struct("!cQ")
"""An order and the number of the child that it is about; one message of the socket."""

_CHILDREN = "children"


class OfThisProcess:
    """What starts children of this process: in a child's argument it becomes what starts that child's."""


class KillableChildren(OfThisProcess, ABC):
    """Work in child processes, as `scheduler.contract.children.Children` has it."""

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
        pickled = pickle_work(work, argument, deadline)
        try:
            return self._order(pickled)
        except OSError as error:
            return ChildJob(None, None, f"no process could be started ({error.strerror})")

    @abstractmethod
    def _order(self, pickled: bytes) -> ChildJob[Any]:
        """Start what `pickle_work` returned; an `OSError` says why that is not possible."""


class GrandChildren(KillableChildren):
    """Children of a child.

    Args:
        orders: The child's own socket to the server.
    """

    def __init__(self, orders: socket.socket) -> None:
        self._orders = orders
        self._numbers = itertools.count()

    def _order(self, pickled: bytes) -> ChildJob[Any]:
        return order_child(self._orders, next(self._numbers), pickled)


def order_child(orders: socket.socket, number: int, pickled: bytes) -> ChildJob[Any]:
    """Have the server start a child.

    Args:
        orders: Socket to the server, of the kind `SOCK_SEQPACKET`: it keeps the bounds of messages.
        number: The child's number on this socket.
        pickled: What `pickle_work` returned.

    Raises:
        OSError: The server is gone, or memory or file descriptors are short.
    """

    def kill() -> None:
        # Without the server there is no child either.
        with suppress(OSError):
            orders.send(ORDER.pack(KILL, number))

    # A file in memory takes the work at once, however long the server is still loading.
    with os.fdopen(os.memfd_create("work"), "wb") as file:
        file.write(pickled)
        file.flush()
        os.lseek(file.fileno(), 0, os.SEEK_SET)
        ours, theirs = socket.socketpair()
        with theirs:
            connection: Connection[Any, Any] = Connection(ours.detach())
            try:
                socket.send_fds(orders, [ORDER.pack(START, number)], [theirs.fileno(), file.fileno()])
            except OSError:
                connection.close()
                raise
    return ChildJob(connection, kill)


def pickle_work(work: object, argument: object, deadline: Deadline) -> bytes:
    """Pickle work for a child."""
    at = None if deadline.unlimited else time.monotonic() + deadline.remaining()
    pickled = io.BytesIO()
    _Pickler(pickled).dump((work, argument, at))
    return pickled.getvalue()


def unpickle_work(file: BinaryIO, children: Children) -> Work:
    """Return what `pickle_work` was given, in a child that has its children started by `children`."""
    work, argument, at = _Unpickler(file, children).load()
    return work, argument, Deadline.none() if at is None else Deadline(time.monotonic, at)


class _Pickler(pickle.Pickler):
    def persistent_id(self, each: object) -> str | None:
        return _CHILDREN if isinstance(each, OfThisProcess) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BinaryIO, children: Children) -> None:
        super().__init__(file)
        self._children = children

    def persistent_load(self, _: object) -> Children:
        return self._children
