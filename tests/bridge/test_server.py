"""The contract over a real connection: plans, refusals, bad clients, several at once, a graceful end."""

from __future__ import annotations

import io
import json
import signal
import socket
import struct
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest
import structlog
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.transport import TFramedTransportFactory

from bridge import rounds
from bridge.contract import idl
from bridge.messages import Decision
from bridge.planner import plan_round
from bridge.record import RecordWriter, read_records
from bridge.rounds import RoundHandler
from bridge.server import PlanServer, ServerError
from bridge.settings import PlanSettings, ServerSettings, Settings
from bridge.wire import encode_response, request_to_thrift, response_to_thrift

UNHURRIED = PlanSettings(time_limit_ms=60_000)


class Daemon:
    """A server on a free loopback port with everything that a test may look at."""

    def __init__(self, recorder=None, **server):
        self.log_text = io.StringIO()
        log = structlog.wrap_logger(
            structlog.PrintLogger(self.log_text),
            processors=[structlog.processors.add_log_level, structlog.processors.JSONRenderer(default=str)],
            wrapper_class=structlog.make_filtering_bound_logger(0),
            context_class=dict,
        )
        self.settings = Settings(server=ServerSettings(port=0, **server), plan=UNHURRIED)
        self.handler = RoundHandler(self.settings, recorder, log)
        self.server = PlanServer(self.settings.server, self.handler, log)
        self.host, self.port = self.server.listen()
        self.thread = threading.Thread(target=self.server.serve)
        self.thread.start()

    def client(self):
        return make_client(
            idl.PlacementDaemon,
            self.host,
            self.port,
            proto_factory=TBinaryProtocolFactory(),
            trans_factory=TFramedTransportFactory(),
            timeout=60_000,
        )

    def connect(self):
        return socket.create_connection((self.host, self.port), timeout=60)

    def events(self, name):
        return [
            each for each in map(json.loads, self.log_text.getvalue().splitlines()) if each["event"] == name
        ]

    def stop(self):
        self.server.stop()
        self.thread.join(60)
        assert not self.thread.is_alive()


@contextmanager
def running(**options):
    daemon = Daemon(**options)
    try:
        yield daemon
    finally:
        daemon.stop()


@pytest.fixture
def daemon():
    with running() as daemon:
        yield daemon


def test_a_plan_over_the_wire_is_that_of_the_planner(make, daemon):
    """Any framed binary client gets what the pure function answers, call after call on one connection."""
    request = make.cluster(make.taxi("a"), make.assigned(make.taxi("b"), [0, 0, 1, 1, 2, 2, 3, 3], 6701))
    expected = response_to_thrift(plan_round(request, daemon.settings, lambda: 0.0).response)
    client = daemon.client()
    assert client.plan(request_to_thrift(request)) == expected
    assert client.plan(request_to_thrift(request)) == expected
    client.close()


def test_what_the_answer_leaves_out_is_logged_with_its_reason(make, daemon, monkeypatch):
    """The shim falls back for that topology alone."""

    def broken(*_):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr("bridge.planner.place_missing", broken)
    client = daemon.client()
    assert client.plan(request_to_thrift(make.cluster(make.taxi()))).plans == []
    client.close()
    (event,) = daemon.events("topology left to Storm's own scheduler")
    assert event["topology"] == "taxi-1"
    assert event["reason"] == "planning failed (ZeroDivisionError: boom)"


def test_each_round_is_one_line_of_the_log(make, daemon):
    """Round, topologies with decision, strategy, objective and moves, time and where the delays come from."""
    client = daemon.client()
    client.plan(request_to_thrift(make.cluster(make.taxi())))
    client.close()
    (event,) = daemon.events("round")
    assert (event["round_id"], event["executors"], event["moves"], event["timed_out"]) == (
        "round-1",
        8,
        0,
        False,
    )
    assert event["data"].startswith("delays from coordinates 7/7")
    assert event["plan_ms"] > 0
    (topology,) = event["topologies"]
    assert (topology["id"], topology["decision"], topology["strategy"]) == (
        "taxi-1",
        "ASSIGN",
        "local-search",
    )


def test_faults_are_logged_when_they_change_not_in_every_round(make, daemon):
    """Two rounds with the same bad key, then one without: two lines."""
    client = daemon.client()
    bad = request_to_thrift(make.cluster(make.taxi(settings={"colour": "red"})))
    for request in (bad, bad, request_to_thrift(make.cluster(make.taxi()))):
        client.plan(request)
    client.close()
    events = daemon.events("faults in readings, metadata or settings")
    assert [len(event["faults"]) for event in events] == [1, 0]


def test_another_version_is_refused_with_a_clear_message(make, daemon):
    """The shim gets the exception of the contract, and the connection goes on."""
    client = daemon.client()
    with pytest.raises(idl.Refused) as caught:
        client.plan(request_to_thrift(replace(make.cluster(), version=2)))
    assert caught.value.reason == "request: contract version 2 is not known here, version 1 is spoken"
    assert client.plan(request_to_thrift(make.cluster())).plans == []
    client.close()


def test_a_fault_of_the_daemon_is_refused_and_logged_with_its_trace(make, daemon, monkeypatch):
    """The shim is answered at once instead of waiting for its deadline."""

    def broken(*_):
        raise ZeroDivisionError("boom")

    monkeypatch.setattr(rounds, "plan_round", broken)
    client = daemon.client()
    with pytest.raises(idl.Refused) as caught:
        client.plan(request_to_thrift(make.cluster()))
    client.close()
    assert caught.value.reason == "the daemon failed to plan: ZeroDivisionError: boom"
    assert daemon.events("round failed")


def test_rounds_are_recorded_with_the_bytes_that_were_answered(make, tmp_path):
    """The record's response is the client's."""
    with running(recorder=RecordWriter(tmp_path, 65536, 2)) as daemon:
        client = daemon.client()
        answer = client.plan(request_to_thrift(make.cluster(make.taxi())))
        client.close()
    (record,) = read_records(tmp_path)
    expected = plan_round(make.cluster(make.taxi()), daemon.settings, lambda: 0.0).response
    assert record.response == encode_response(expected)
    assert response_to_thrift(expected) == answer
    assert set(record.timings_ms) == {"wait", "plan"}


def test_a_record_that_cannot_be_written_costs_no_plan(make, tmp_path):
    """The disk is full: the plan comes, the log says so and counts."""
    writer = RecordWriter(tmp_path, 65536, 2)
    (tmp_path / "rounds-00000001.jsonl.gz").symlink_to("/dev/full")
    with running(recorder=writer) as daemon:
        client = daemon.client()
        for _ in range(2):
            assert (
                client.plan(request_to_thrift(make.cluster(make.taxi()))).plans[0].decision == Decision.ASSIGN
            )
        client.close()
    assert [event["failures"] for event in daemon.events("round not recorded")] == [1, 2]
    assert daemon.handler.record_failures == 2


def test_several_clients_are_served_at_once(make, daemon, monkeypatch):
    """Two rounds (the default limit) run side by side: each waits for the other to have begun."""
    both = threading.Barrier(2, timeout=60)

    def together(*arguments):
        both.wait()
        return plan_round(*arguments)

    monkeypatch.setattr(rounds, "plan_round", together)

    def ask(number):
        client = daemon.client()
        answer = client.plan(request_to_thrift(replace(make.cluster(), round_id=str(number))))
        client.close()
        return answer.round_id

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, range(2))) == ["0", "1"]


def test_a_round_that_finds_no_place_before_its_deadline_is_refused(make, daemon, monkeypatch):
    """Two rounds hang: the third is told so when its own time is over."""
    begun, release = threading.Barrier(3, timeout=60), threading.Event()

    def hanging(*arguments):
        begun.wait()
        release.wait(60)
        return plan_round(*arguments)

    monkeypatch.setattr(rounds, "plan_round", hanging)

    def ask(deadline_ms):
        client = daemon.client()
        try:
            return client.plan(request_to_thrift(replace(make.cluster(), deadline_ms=deadline_ms)))
        except idl.Refused as refused:
            return refused.reason
        finally:
            client.close()

    with ThreadPoolExecutor(3) as pool:
        first, second = pool.submit(ask, 60_000), pool.submit(ask, 60_000)
        begun.wait()
        assert ask(1) == "2 rounds are being planned already"
        release.set()
        assert first.result().plans == second.result().plans == []


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
    good.plan(request_to_thrift(make.cluster()))
    with daemon.connect() as bad:
        bad.sendall(content)
        assert is_closed(bad)
    assert good.plan(request_to_thrift(make.cluster())).plans == []
    good.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(min_size=0, max_size=300))
def test_random_bytes_harm_nobody(make, daemon, content):
    """Framed or not, the next client is served."""
    for bytes_ in (content, frame(content)):
        with daemon.connect() as bad:
            bad.sendall(bytes_)
    client = daemon.client()
    assert client.plan(request_to_thrift(make.cluster())).plans == []
    client.close()


def test_a_frame_above_the_limit_is_refused_before_it_is_read():
    """The limit is a setting, and the log says what was sent."""
    with running(max_frame_bytes=1024) as daemon, daemon.connect() as bad:
        bad.sendall(struct.pack(">i", 1025))
        assert is_closed(bad)
        (event,) = daemon.events("connection closed")
        assert event["reason"] == "no request: a frame of 1025 bytes, at most 1024 are accepted"


def test_clients_that_leave_in_the_middle_are_tolerated(make, daemon):
    """Half a frame, and a call whose answer nobody waits for."""
    with daemon.connect() as half:
        half.sendall(struct.pack(">i", 100) + b"half")
    hasty = daemon.client()
    hasty._oprot.trans.flush()
    hasty._send("plan", request=request_to_thrift(make.cluster(make.taxi())))
    hasty.close()
    client = daemon.client()
    assert client.plan(request_to_thrift(make.cluster())).plans == []
    client.close()


def test_connections_beyond_the_limit_are_closed(make):
    """One is served, the second is closed, and a place that is left is given again."""
    with running(max_connections=1) as daemon:
        first = daemon.client()
        first.plan(request_to_thrift(make.cluster()))
        with daemon.connect() as second:
            assert is_closed(second)
        first.close()
        assert daemon.events("connection refused")


def test_stopping_lets_a_running_round_finish(make, monkeypatch):
    """The round under way is answered, an idle connection closed, and nothing listens any more."""
    begun, release = threading.Event(), threading.Event()

    def slow(*arguments):
        begun.set()
        release.wait(60)
        return plan_round(*arguments)

    monkeypatch.setattr(rounds, "plan_round", slow)
    daemon = Daemon()
    idle, client = daemon.connect(), daemon.client()
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(client.plan, request_to_thrift(make.cluster(make.taxi())))
        begun.wait(60)
        daemon.server.stop()
        assert is_closed(idle)
        release.set()
        assert answer.result().plans[0].decision == Decision.ASSIGN
    daemon.stop()
    client.close()
    idle.close()
    with pytest.raises(ConnectionRefusedError):
        daemon.connect()


def test_a_port_in_use_is_one_sentence(daemon):
    """A second daemon on the same port is refused, even one that shares ports."""
    settings_ = ServerSettings(port=daemon.port)
    with pytest.raises(ServerError, match=f"port {daemon.port} of 127.0.0.1 is in use"):
        PlanServer(settings_, daemon.handler, structlog.get_logger()).listen()


def test_an_unknown_address_is_one_sentence(daemon):
    """The name does not resolve."""
    with pytest.raises(ServerError, match=r"port 7090 of no\.such\.host\.invalid cannot be used"):
        PlanServer(
            ServerSettings(host="no.such.host.invalid"), daemon.handler, structlog.get_logger()
        ).listen()


@pytest.fixture
def command(tmp_path):
    """Run `stormplace daemon` with settings; processes are ended at the end of the test."""
    started = []

    def start(text):
        config = tmp_path / "daemon.toml"
        config.write_text(text)
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", "daemon", "--config", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_command_says_when_it_is_ready_and_ends_on_a_signal(make, command, number):
    """One line with the address, a plan, exit status 0."""
    process = command("[server]\nport = 0\n")
    ready = process.stdout.readline()
    assert ready.startswith("stormplace daemon ready on 127.0.0.1:")
    client = make_client(
        idl.PlacementDaemon,
        "127.0.0.1",
        int(ready.rsplit(":", 1)[1]),
        proto_factory=TBinaryProtocolFactory(),
        trans_factory=TFramedTransportFactory(),
        timeout=60_000,
    )
    assert client.plan(request_to_thrift(make.cluster(make.taxi()))).plans[0].decision == Decision.ASSIGN
    process.send_signal(number)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert [json.loads(line)["event"] for line in log.splitlines()] == [
        "daemon started",
        "round",
        "daemon stopped",
    ]


def test_the_command_refuses_bad_input_with_one_sentence_and_status_2(command, daemon, tmp_path):
    """Bad settings, a port in use, records that cannot be written."""
    (tmp_path / "file").touch()
    for text, sentence in (
        ("[server]\nprot = 1\n", f"stormplace: {tmp_path}/daemon.toml: server.prot: unknown key\n"),
        (f"[server]\nport = {daemon.port}\n", f"stormplace: port {daemon.port} of 127.0.0.1 is in use\n"),
        (
            f"[server]\nport = 0\n[record]\ndirectory = '{tmp_path}/file'\n",
            f"stormplace: {tmp_path}/file: records cannot be written there (File exists)\n",
        ),
    ):
        process = command(text)
        out, err = process.communicate(timeout=60)
        assert (out, err, process.returncode) == ("", sentence, 2)
