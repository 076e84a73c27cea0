"""Connections: bad clients, too many of them, and a graceful end."""

from __future__ import annotations

import struct
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.round.planner import plan_round
from bridge.server import handler as rounds
from bridge.server.plan_server import PlanServer, ServerError
from bridge.settings import ServerSettings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log


def is_closed(connection):
    """Whether the daemon closed; bytes that it did not read turn the close into a reset."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def frame(content):
    return struct.pack(">i", len(content)) + content


BAD_BYTES = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    struct.pack(">i", 0),
    struct.pack(">i", -1),
    struct.pack(">i", 2**31 - 1),
    frame(b"\x80\x01\x00\x01"),
    frame(b"\x80\x01\x00\x01\x00\x00\x00\x04plan\x00\x00\x00\x01\x0f\x00\x01\x00\x7f\xff\xff\xff\x00"),
    frame(b"{}"),
]


@pytest.mark.parametrize("content", BAD_BYTES)
def test_bad_frames_close_their_connection_and_no_other(make, daemon, content):
    """Oversize, empty, another protocol, a truncated message, a bomb: the good client does not notice."""
    good = daemon.client()
    good.plan(to_thrift(make.cluster()))
    with daemon.connect() as bad:
        bad.sendall(content)
        assert is_closed(bad)
    assert good.plan(to_thrift(make.cluster())).plans == []
    good.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(min_size=0, max_size=300))
def test_random_bytes_harm_no_client(make, daemon, content):
    """Framed or not, the next client is served."""
    for bytes_ in (content, frame(content)):
        with daemon.connect() as bad:
            bad.sendall(bytes_)
    client = daemon.client()
    assert client.plan(to_thrift(make.cluster())).plans == []
    client.close()


def test_a_frame_above_the_limit_is_refused_before_it_is_read(running):
    """The limit is a setting, and the log says what was sent."""
    with running(max_frame_bytes=1024) as daemon, daemon.connect() as bad:
        bad.sendall(struct.pack(">i", 1025))
        assert is_closed(bad)
        (event,) = daemon.events("connection closed")
        assert event["reason"] == "no request: a frame of 1025 bytes, at most 1024 are accepted"


def test_clients_that_leave_in_the_middle_are_tolerated(make, daemon):
    """Half a frame, and a call whose answer no one waits for."""
    with daemon.connect() as half:
        half.sendall(struct.pack(">i", 100) + b"half")
    hasty = daemon.client()
    hasty._oprot.trans.flush()
    hasty._send("plan", request=to_thrift(make.cluster(make.taxi())))
    hasty.close()
    client = daemon.client()
    assert client.plan(to_thrift(make.cluster())).plans == []
    client.close()


def test_connections_beyond_the_limit_are_closed(make, running):
    """One is served, the second is closed, and a place that is left is given again."""
    with running(max_connections=1) as daemon:
        first = daemon.client()
        first.plan(to_thrift(make.cluster()))
        with daemon.connect() as second:
            assert is_closed(second)
        first.close()
        assert daemon.events("connection refused")


def test_stopping_lets_a_running_round_finish(make, monkeypatch, running):
    """The round under way is answered, an idle connection closed, and nothing listens any more."""
    begun, release = threading.Event(), threading.Event()

    def slow(*arguments, **options):
        begun.set()
        release.wait(60)
        return plan_round(*arguments, **options)

    monkeypatch.setattr(rounds, "plan_round", slow)
    with running() as daemon:
        idle, client = daemon.connect(), daemon.client()
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(client.plan, to_thrift(make.cluster(make.taxi())))
            begun.wait(60)
            daemon.server.stop()
            assert is_closed(idle)
            release.set()
            assert answer.result().plans[0].decision == Decision.ASSIGN
    client.close()
    idle.close()
    with pytest.raises(ConnectionRefusedError):
        daemon.connect()


def test_stopping_before_the_first_connection_is_awaited(monkeypatch, running):
    """A thread that begins to serve while another one stops the server leaves that one its socket."""
    with running() as daemon:
        listener = daemon.server._listener

        class SlowlyShut:
            """A listener to which something comes between the server's flag and its end."""

            def __getattr__(self, name):
                return getattr(listener, name)

            def shutdown(self, how):
                daemon.connect().close()  # lets `serve` look at the flag, if it does
                daemon.thread.join(0.1)
                assert listener.fileno() >= 0
                listener.shutdown(how)

        monkeypatch.setattr(daemon.server, "_listener", SlowlyShut())
        daemon.server.stop()
        monkeypatch.undo()
        daemon.server.stop()
        daemon.thread.join(60)
        assert not daemon.thread.is_alive()


def test_a_port_in_use_is_one_sentence(daemon):
    """A second daemon on the same port is refused, even one that shares ports."""
    settings_ = ServerSettings(port=daemon.port)
    with pytest.raises(ServerError, match=f"port {daemon.port} of 127.0.0.1 is in use"):
        PlanServer(settings_, daemon.handler, Log()).listen()


def test_an_unknown_address_is_one_sentence(daemon):
    """The name does not resolve."""
    with pytest.raises(ServerError, match=r"port 7090 of no\.such\.host\.invalid cannot be used"):
        PlanServer(ServerSettings(host="no.such.host.invalid"), daemon.handler, Log()).listen()
