"""A frame has so much time as a whole, and a connection without one is let go."""

from __future__ import annotations

import socket
import struct

import pytest

from bridge.server import frames
from bridge.server.frames import FrameError, PeerGoneError, await_frame, read_frame


@pytest.fixture
def pair():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def read(ours, max_bytes=100, patience_s=60.0):
    return read_frame(ours, await_frame(ours, 60.0), max_bytes, patience_s)


def test_a_frame_is_read_as_it_was_written(pair):
    """In however many parts it comes."""
    ours, theirs = pair
    frames.write_frame(theirs, b"hello", 60.0)
    assert read(ours) == b"hello"


def test_silence_and_a_peer_that_left_are_no_frame(pair):
    """Neither is an error."""
    ours, theirs = pair
    assert await_frame(ours, 1e-3) is None
    theirs.close()
    assert await_frame(ours, 60.0) is None


class Dripping:
    """A connection that brings a byte each time, and a clock that goes on by 4 s with each."""

    def __init__(self, content):
        self.content = content
        self.now_s = 0.0
        self.timeouts = []

    def settimeout(self, timeout_s):
        self.timeouts.append(timeout_s)

    def recv(self, _size):
        self.now_s += 4.0
        first, self.content = self.content[:1], self.content[1:]
        return first

    def monotonic(self):
        return self.now_s


def test_a_byte_now_and_then_does_not_prolong_a_frame(monkeypatch):
    """Each part comes within the patience, the frame does not."""
    connection = Dripping(struct.pack(">i", 5)[1:] + b"hello")
    monkeypatch.setattr(frames, "time", connection)
    with pytest.raises(TimeoutError, match="0 of 5 bytes in time"):
        read_frame(connection, b"\0", 100, 10.0)
    assert connection.timeouts == [10.0, 6.0, 2.0]


@pytest.mark.parametrize("size", [0, -1, 101])
def test_a_length_that_is_none_is_refused(pair, size):
    """Empty, negative, above the limit."""
    ours, theirs = pair
    theirs.sendall(struct.pack(">i", size))
    with pytest.raises(FrameError, match=f"a frame of {size} bytes, at most 100 are accepted"):
        read(ours)


def test_a_peer_that_leaves_within_a_frame_is_named_with_what_came(pair):
    """Four of ten bytes."""
    ours, theirs = pair
    theirs.sendall(struct.pack(">i", 10) + b"half")
    theirs.close()
    with pytest.raises(PeerGoneError, match="after 4 of 10 bytes"):
        read(ours)
