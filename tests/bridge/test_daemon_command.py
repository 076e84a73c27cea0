"""The command `stormplace daemon`, as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys

import psutil
import pytest
from thriftpy2.protocol import TBinaryProtocolFactory
from thriftpy2.rpc import make_client
from thriftpy2.transport import TFramedTransportFactory

from bridge.wire.contract import idl
from bridge.wire.messages import Decision
from bridge.wire.structs import to_thrift
from cli.main import main

pytestmark = pytest.mark.programs


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
    """One line with the address, a plan, exit status 0, and no process left of those that it started."""
    process = command("[server]\nport = 0\n[plan]\ntime_limit_ms = 60000\n")
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
    assert client.plan(to_thrift(make.cluster(make.taxi()))).plans[0].decision == Decision.ASSIGN
    family = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert family
    assert psutil.wait_procs(family, 60)[1] == []
    assert [json.loads(line)["event"] for line in log.splitlines()] == [
        "daemon started",
        "round",
        "daemon stopped",
    ]


def test_sighup_reads_the_settings_again(command, tmp_path):
    """Good ones, then bad ones; the daemon goes on."""
    process = command("[server]\nport = 0\n")
    process.stdout.readline()
    assert json.loads(process.stderr.readline())["event"] == "daemon started"
    for text, event in (
        ("[server]\nport = 0\n[plan]\nseed = 3\n", "settings reloaded"),
        ("[plan]\nseed = -3\n", "settings not reloaded"),
    ):
        (tmp_path / "daemon.toml").write_text(text)
        process.send_signal(signal.SIGHUP)
        assert json.loads(process.stderr.readline())["event"] == event
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["daemon stopped"]


def test_the_command_refuses_bad_input_with_one_sentence_and_status_2(
    command, daemon, tmp_path, monkeypatch, capsys
):
    """Bad settings, a port in use, records that cannot be written; here, and the last as a process too."""
    config = tmp_path / "daemon.toml"
    (tmp_path / "file").touch()
    for text, sentence in (
        ("[server]\nprot = 1\n", f"stormplace: {tmp_path}/daemon.toml: server.prot: unknown key\n"),
        (f"[server]\nport = {daemon.port}\n", f"stormplace: port {daemon.port} of 127.0.0.1 is in use\n"),
        (
            f"[server]\nport = 0\n[record]\ndirectory = '{tmp_path}/file'\n",
            f"stormplace: {tmp_path}/file: records cannot be written there (File exists)\n",
        ),
    ):
        config.write_text(text)
        monkeypatch.setattr(sys, "argv", ["stormplace", "daemon", "--config", str(config)])
        with pytest.raises(SystemExit) as end:
            main()
        assert (*capsys.readouterr(), end.value.code) == ("", sentence, 2)
    process = command(text)
    out, err = process.communicate(timeout=60)
    assert (out, err, process.returncode) == ("", sentence, 2)
