"""Thrift frames on a socket: a length of four bytes, then so many bytes, never more than permitted."""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_LENGTH = struct.Struct(">i")
_CHUNK_BYTES = 1 << 16


class FrameError(ValueError):
    """What arrives is no frame, or one that is larger than permitted."""


class PeerGoneError(ConnectionError):
    """The peer closed the connection in the middle of a frame."""


def await_frame(connection: socket.socket, idle_s: float) -> bytes | None:
    """Wait until a frame begins.

    Args:
        connection: A connected socket.
        idle_s: How long that may take.

    Returns:
        The frame's first byte, None if the peer closed the connection or was silent for so long.
    """
    connection.settimeout(idle_s)
    try:
        return connection.recv(1) or None
    except TimeoutError:
        return None


def read_frame(connection: socket.socket, first: bytes, max_bytes: int, patience_s: float) -> bytes:
    """Read a frame that has begun.

    Args:
        connection: A connected socket.
        first: The frame's first byte.
        max_bytes: Largest frame accepted.
        patience_s: How long the whole of it may take to arrive.

    Raises:
        FrameError: The length is not positive or above `max_bytes`.
        PeerGoneError: The connection ended inside the frame.
        TimeoutError: The rest of the frame did not arrive in time.
    """
    end_s = time.monotonic() + patience_s
    (size,) = _LENGTH.unpack(first + _read_exactly(connection, _LENGTH.size - 1, end_s))
    if not 0 < size <= max_bytes:
        raise FrameError(f"a frame of {size} bytes, at most {max_bytes} are accepted")
    return _read_exactly(connection, size, end_s)


def write_frame(connection: socket.socket, content: bytes, patience_s: float) -> None:
    """Write one frame.

    Args:
        connection: A connected socket.
        content: What it holds.
        patience_s: How long the peer may take to read the whole of it.

    Raises:
        OSError: The peer is gone or does not read.
    """
    connection.settimeout(patience_s)
    connection.sendall(_LENGTH.pack(len(content)) + content)


def _read_exactly(connection: socket.socket, size: int, end_s: float) -> bytes:
    # The buffer grows with what really arrives: a length alone must not make the daemon reserve memory.
    data = bytearray()
    while len(data) < size:
        # A byte now and then must not keep a connection: what is left of the time bounds each part.
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError(f"{len(data)} of {size} bytes in time")
        connection.settimeout(left_s)
        part = connection.recv(min(size - len(data), _CHUNK_BYTES))
        if not part:
            raise PeerGoneError(f"the peer left after {len(data)} of {size} bytes")
        data += part
    return bytes(data)
