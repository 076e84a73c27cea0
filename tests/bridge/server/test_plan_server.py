"""Connections: bad clients, too many of them, and a graceful end."""

from __future__ import annotations

import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridge.round.planner import plan_round
from bridge.server import handler as rounds
from bridge.server import plan_server
from bridge.server.places import Places
from bridge.server.plan_server import PlanServer, ServerError
from bridge.settings import ServerSettings
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from formats.log import Log
from tests.bridge.server.connections import bytes_of_a_call, frame, is_closed

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


def test_for_a_new_connection_the_one_that_has_been_idle_for_longest_is_closed(make, running, monkeypatch):
    """Others never lock a client out, and a client that has a place does not notice."""
    admitted = threading.Semaphore(0)
    genuine = Places.admit

    def admit(*arguments):
        try:
            return genuine(*arguments)
        finally:
            admitted.release()

    monkeypatch.setattr(Places, "admit", admit)
    with running(max_connections=3) as daemon:
        client = daemon.client()
        idle = [daemon.connect() for _ in range(2)]
        # A connection is idle from when it has its place, which comes after the client has connected.
        assert all(admitted.acquire(timeout=60) for _ in range(3))
        assert client.plan(to_thrift(make.cluster())).plans == []
        for _ in range(5):
            idle.append(daemon.connect())
            assert is_closed(idle.pop(0))
            assert client.plan(to_thrift(make.cluster())).plans == []
        for connection in idle:
            connection.close()
        client.close()
        assert daemon.events("connection gave way to a new one")


def test_a_connection_without_a_request_is_closed_after_its_time(running):
    """Without a word in the log: that is no fault."""
    with running(idle_timeout_s=0.05) as daemon:
        with daemon.connect() as idle:
            assert is_closed(idle)
        assert daemon.log_text.getvalue() == ""


def test_a_frame_that_does_not_come_whole_ends_its_connection(daemon, monkeypatch):
    """Its time is over."""
    monkeypatch.setattr(plan_server, "_PATIENCE_S", 0.05)
    with daemon.connect() as slow:
        slow.sendall(frame(b"x" * 100)[:50])
        assert is_closed(slow)
    assert daemon.events("connection lost")


def test_a_connection_is_refused_only_while_all_others_are_being_answered(make, monkeypatch, running):
    """The log says why."""
    begun, release = threading.Event(), threading.Event()

    def slow(*arguments, **options):
        begun.set()
        release.wait(60)
        return plan_round(*arguments, **options)

    monkeypatch.setattr(rounds, "plan_round", slow)
    with running(max_connections=1) as daemon, ThreadPoolExecutor(1) as pool:
        client = daemon.client()
        answer = pool.submit(client.plan, to_thrift(make.cluster()))
        begun.wait(60)
        with daemon.connect() as second:
            assert is_closed(second)
        release.set()
        assert answer.result().plans == []
        client.close()
        (event,) = daemon.events("connection refused")
        assert event["reason"] == "all 1 connections are being answered"


def test_a_thousand_bad_clients_are_a_few_lines_of_the_log(make, daemon):
    """With their number; a good client is served in between and afterwards."""
    client = daemon.client()
    for number in range(1000):
        with daemon.connect() as bad:
            bad.sendall(frame(b"{}"))
            assert is_closed(bad)
        if number % 250 == 0:
            assert client.plan(to_thrift(make.cluster())).plans == []
    client.close()
    assert [event["count"] for event in daemon.events("connection closed")] == [1, 10, 100, 1000]
    assert len(daemon.log_text.getvalue().splitlines()) < 20


def test_the_clock_of_a_request_starts_with_its_first_byte(make, daemon, monkeypatch):
    """The rest comes when a minute has passed by the server's clock: no time is left to plan."""
    content = bytes_of_a_call(make.cluster(make.taxi()))
    minute = Clock()
    monkeypatch.setattr(plan_server, "time", minute)
    with daemon.connect() as slow:
        slow.sendall(content[:1])
        assert minute.read.wait(60)
        slow.sendall(content[1:])
        assert slow.recv(4)
    (event,) = daemon.events("topology left to Storm's own scheduler")
    assert event["reason"] == "no time left in this round"
    assert daemon.events("round")[0]["wait_ms"] >= 60_000


class Clock:
    """A clock that is a minute slow: what begins by it began a minute ago."""

    def __init__(self):
        self.read = threading.Event()
        self.sleep = time.sleep

    def monotonic(self):
        self.read.set()
        return time.monotonic() - 60.0


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
