"""A Thrift service over loopback whose answers are scripted."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.server import TThreadedServer
from thriftpy2.thrift import TProcessor
from thriftpy2.transport import TFramedTransportFactory, TServerSocket

from formats.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator


class Listening(TServerSocket):  # type: ignore[misc]  # thriftpy2 has no types
    """A socket on a port that the kernel chooses; its address can be awaited."""

    def __init__(self) -> None:
        super().__init__(host="127.0.0.1", port=0)
        self.ready = threading.Event()

    def listen(self) -> None:
        super().listen()
        self.ready.set()

    def address(self) -> Address:
        assert self.ready.wait(60)
        return Address("127.0.0.1", int(self.sock.getsockname()[1]))


@contextmanager
def serving(description: Any, service: object) -> Iterator[Address]:
    """Serve for the block.

    Args:
        description: thriftpy2's description of the service.
        service: Has its methods.
    """
    listening = Listening()
    server = TThreadedServer(
        TProcessor(description, service),
        listening,
        iprot_factory=TBinaryProtocolFactory(),  # type: ignore[no-untyped-call]  # as above
        itrans_factory=TFramedTransportFactory(),
        daemon=True,
    )
    threading.Thread(target=server.serve, daemon=True).start()
    yield listening.address()
    server.close()


def closed_port() -> int:
    """Return a port on which no one listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
