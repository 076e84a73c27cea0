"""Metrics over HTTP, in the Prometheus text format: one port, one thread."""

from __future__ import annotations

import errno
import socket
import threading
from contextlib import contextmanager
from socketserver import TCPServer
from typing import TYPE_CHECKING
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import make_wsgi_app

from cli.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry

_PATIENCE_S = 2.0
"""Silence after which a scraper is cut off: only other scrapers wait for it."""
_LAST_PORT = 65535


class _Handler(WSGIRequestHandler):
    """A request; scrapes are no news for the log."""

    timeout = _PATIENCE_S

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        """Say nothing."""


class _Server(WSGIServer):
    """Serves one scrape after the other."""

    allow_reuse_port = False

    def __init__(self, address: tuple[str, int], family: socket.AddressFamily) -> None:
        self.address_family = family
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without looking up the host's name, which may take as long as its name service is away."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])
        self.setup_environ()

    def handle_error(self, request: object, client_address: object) -> None:
        """Drop a scraper that stalled or left half-way; it gets nothing, and the next one is served."""


@contextmanager
def serving(registry: CollectorRegistry, host: str, port: int) -> Iterator[str]:
    """Serve metrics while the block lasts.

    Args:
        registry: The metrics.
        host: Address to listen on.
        port: TCP port; 0 takes a free one.

    Returns:
        The address, `HOST:PORT`.

    Raises:
        UserError: The address is unknown, or the port none, taken or forbidden.
    """
    if not 0 <= port <= _LAST_PORT:
        msg = f"metrics: port {port} is not from 0 to {_LAST_PORT}"
        raise UserError(msg)
    server = _bound(host, port)
    server.set_app(make_wsgi_app(registry))
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    try:
        yield f"{server.server_name}:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _bound(host: str, port: int) -> _Server:
    try:
        family, _, _, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return _Server((str(address[0]), port), family)
    except OSError as error:
        why = "is in use" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        msg = f"metrics: port {port} of {host} {why}"
        raise UserError(msg) from error
