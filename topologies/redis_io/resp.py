"""One connection to Redis on which many requests may be under way.

The usual client waits for each reply. A source or sink far from Redis would then pay a round trip per row, so
requests are sent ahead here and replies read by another thread. redis-py's connections are no help: they are
of one thread, and one that broke connects anew by itself, which hides what was lost. Version 2 of the Redis
protocol.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from formats.address import Address

Reply = bytes | int | None | list["Reply"]

_CRLF = b"\r\n"
_USER_TIMEOUT_MS = 10_000
_CONNECT_TIMEOUT_S = 5.0
_BUFFER_BYTES = 65_536


class RedisGoneError(Exception):
    """Redis cannot be reached, closed the connection or does not answer."""


class RedisReplyError(Exception):
    """Redis answered a request with an error; its text is the message."""


def encode_command(*arguments: str | int | bytes) -> bytes:
    """Return one request in Redis' wire format."""
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)


class RedisConnection:
    """A connection that one thread may write to while another reads.

    Args:
        address: Where Redis listens.
        timeout_s: Longest silence while a reply is waited for, seconds; None: for ever.

    Raises:
        RedisGoneError: No connection could be made within 5 s.
    """

    def __init__(self, address: Address, timeout_s: float | None = None) -> None:
        self._address = address
        try:
            self._socket = socket.create_connection((address.host, address.port), _CONNECT_TIMEOUT_S)
        except OSError as error:
            raise RedisGoneError(f"Redis {address} cannot be reached: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # a peer that vanished without a word is noticed by the kernel, also when only we send
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _USER_TIMEOUT_MS)
        self._socket.settimeout(timeout_s)
        self._replies = self._socket.makefile("rb", _BUFFER_BYTES)

    def send(self, data: bytes) -> None:
        """Send encoded requests without waiting for replies.

        Raises:
            RedisGoneError: The connection is broken.
        """
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise RedisGoneError(f"Redis {self._address} is gone: {error}") from error

    def call(self, *arguments: str | int | bytes) -> Reply:
        """Send one request and wait for its reply; only for use while nothing else is under way.

        Raises:
            RedisGoneError: As `send` and `read_reply`.
            RedisReplyError: Redis refused the request.
        """
        self.send(encode_command(*arguments))
        return self.read_reply()

    def read_reply(self) -> Reply:
        """Wait for the next reply.

        Raises:
            RedisGoneError: The connection is broken or was closed.
            RedisReplyError: The reply is an error.
        """
        line = self._read()
        kind, rest = line[:1], line[1:]
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"-":
            raise RedisReplyError(rest.decode(errors="replace"))
        if kind == b"$":
            return self._read(int(rest)) if int(rest) >= 0 else None
        if kind == b"*":
            return [self.read_reply() for _ in range(int(rest))] if int(rest) >= 0 else None
        raise RedisGoneError(f"{self._address} does not speak the Redis protocol: it sent {line[:40]!r}")

    def close(self) -> None:
        """Close the connection; a thread that waits in `read_reply` gets a `RedisGoneError`."""
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the peer was faster
        finally:
            self._socket.close()

    def _read(self, length: int | None = None) -> bytes:
        """Return the next line, or so many bytes, without the line end behind them."""
        try:
            data = self._replies.readline() if length is None else self._replies.read(length + len(_CRLF))
        except OSError as error:
            raise RedisGoneError(f"Redis {self._address} is gone: {error}") from error
        if not data.endswith(_CRLF):
            raise RedisGoneError(f"Redis {self._address} closed the connection")
        return data[: -len(_CRLF)]
