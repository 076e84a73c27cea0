"""A process that has too few descriptors or threads neither ends nor spins, and serves when it has some."""

from __future__ import annotations

import errno
import io
import json
import socket
import threading

import pytest

from bridge.server import plan_server
from bridge.server.handler import RoundHandler
from bridge.server.plan_server import PlanServer
from bridge.settings import ServerSettings, Settings
from bridge.wire.structs import to_thrift
from formats.log import Log
from tests.bridge.server.connections import client_of, is_closed


class Short:
    """A listener of a process that has too little of something for its first calls."""

    def __init__(self, listener, *errors):
        self.listener = listener
        self.errors = list(errors)
        self.calls = 0

    def accept(self):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.listener.accept()

    def __getattr__(self, name):
        return getattr(self.listener, name)


@pytest.fixture
def server(make):
    """A server that does not serve yet, with what its log has and a client that asks it once."""
    text = io.StringIO()
    log = Log(stream=text)
    settings_ = Settings(server=ServerSettings(port=0))
    server = PlanServer(settings_.server, RoundHandler(settings_, None, log), log)
    server.port = server.listen()[1]
    server.events = lambda: [json.loads(line)["event"] for line in text.getvalue().splitlines()]
    server.ask = lambda: client_of(server.port).plan(to_thrift(make.cluster()))
    yield server
    server.stop()


def serve(server):
    thread = threading.Thread(target=server.serve)
    thread.start()
    return thread


def test_too_few_descriptors_neither_end_nor_spin_the_server(server, monkeypatch):
    """It waits a moment after each failure, and serves when there are some again."""
    pauses = []
    monkeypatch.setattr(plan_server.time, "sleep", pauses.append)
    shortage = [OSError(number, "too few") for number in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS)]
    listener = server._listener = Short(server._listener, *shortage, OSError(errno.ECONNABORTED, "left"))
    thread = serve(server)
    assert server.ask().plans == []
    server.stop()
    thread.join(60)
    assert not thread.is_alive()
    assert pauses == [plan_server._RELIEF_S] * 3
    assert listener.calls == 6
    assert server.events().count("connection not accepted") == 1


def test_where_descriptors_are_short_an_idle_connection_gives_way(server, monkeypatch):
    """The one that it has is ended, and the next client is served."""
    monkeypatch.setattr(plan_server.time, "sleep", lambda _: None)
    thread = serve(server)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as idle:
        assert server.ask().plans == []  # so the idle one has its place
        server._relieve()
        assert is_closed(idle)
    assert server.ask().plans == []
    server.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_a_thread_that_cannot_be_started_costs_one_connection(server, monkeypatch):
    """Not the server: it says so, frees the place and serves the next client."""
    monkeypatch.setattr(plan_server.time, "sleep", lambda _: None)

    class Unstartable(threading.Thread):
        def start(self):
            raise RuntimeError("can't start new thread")

    thread = serve(server)
    with monkeypatch.context() as patch:
        patch.setattr(plan_server.threading, "Thread", Unstartable)
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as refused:
            assert is_closed(refused)
    assert server._places.all() == ()
    assert server.ask().plans == []
    assert "connection refused" in server.events()
    server.stop()
    thread.join(60)
    assert not thread.is_alive()
