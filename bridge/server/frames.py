"""Thrift frames on a socket: a length of four bytes, then so many bytes, never more than permitted."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_LENGTH = struct.Struct(">i")
_CHUNK_BYTES = 1 << 16


class FrameError(ValueError):
    """What arrives is no frame, or one that is larger than permitted."""


class PeerGoneError(ConnectionError):
    """The peer closed the connection in the middle of a frame."""


def read_frame(connection: socket.socket, max_bytes: int, patience_s: float) -> bytes | None:
    """Read the next frame.

    Waiting for a frame to begin takes as long as it takes; once begun, no part of it may be late.

    Args:
        connection: A connected socket.
        max_bytes: Largest frame accepted.
        patience_s: How long each part of a frame may take to arrive.

    Returns:
        The frame's content, None if the peer closed the connection between frames.

    Raises:
        FrameError: The length is not positive or above `max_bytes`.
        PeerGoneError: The connection ended inside a frame.
        TimeoutError: The rest of a frame did not arrive.
    """
    connection.settimeout(None)
    first = connection.recv(1)
    if not first:
        return None
    connection.settimeout(patience_s)
    (size,) = _LENGTH.unpack(first + _read_exactly(connection, _LENGTH.size - 1))
    if not 0 < size <= max_bytes:
        raise FrameError(f"a frame of {size} bytes, at most {max_bytes} are accepted")
    return _read_exactly(connection, size)


def write_frame(connection: socket.socket, content: bytes) -> None:
    """Write one frame.

    Raises:
        OSError: The peer is gone or does not read.
    """
    connection.sendall(_LENGTH.pack(len(content)) + content)


def _read_exactly(connection: socket.socket, size: int) -> bytes:
    # The buffer grows with what really arrives: a length alone must not make the daemon reserve memory.
    data = bytearray()
    while len(data) < size:
        part = connection.recv(min(size - len(data), _CHUNK_BYTES))
        if not part:
            raise PeerGoneError(f"the peer left after {len(data)} of {size} bytes")
        data += part
    return bytes(data)
