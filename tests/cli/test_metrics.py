"""Metrics are served over HTTP by each process that is asked to, and by no other."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from prometheus_client import CollectorRegistry, Counter
from prometheus_client.parser import text_string_to_metric_families

from cli.errors import UserError
from cli.metrics import LOOPBACK, metrics_served
from cli.metrics_server import serving
from monitoring.agent.probe import Probe, encode_probe
from tests.scripted_server import closed_port

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.programs

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60


def scrape(address: str) -> dict[str, float]:
    """Every sample by name and labels, as a scraper reads them."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=PATIENCE_S) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain")
        text = answer.read().decode()
    return {
        sample.name + "".join(f"[{value}]" for value in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server((LOOPBACK, 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture
def command() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `stormplace`; processes are ended at the end of the test."""
    started = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "cli.main", *arguments],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def free_udp_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port


def event(process: subprocess.Popen[str], name: str) -> dict[str, str]:
    """Wait for a line of the log."""
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if name in line:
            found: dict[str, str] = json.loads(line)
            return found
    raise AssertionError(f"no {name} in {seen}")


def test_the_daemon_serves_its_metrics_where_its_settings_say(command: Callable, tmp_path: Path) -> None:
    """Address of the port 0 in the log, counts of every outcome and kind of fault at 0."""
    config = tmp_path / "daemon.toml"
    config.write_text("[server]\nport = 0\n[metrics]\nport = 0\n")
    samples = scrape(event(command("daemon", "--config", str(config)), "daemon started")["metrics"])
    assert samples["stormplace_daemon_rounds_total[planned]"] == 0
    assert samples["stormplace_daemon_faults_total[two_agents]"] == 0


def test_the_agent_serves_its_metrics_while_its_zookeeper_is_away(command: Callable) -> None:
    """What strangers send is counted each time and logged once; nothing listens on the port of ZooKeeper."""
    with socket.socket() as unused, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        unused.bind((LOOPBACK, 0))
        stranger.bind((LOOPBACK, 0))
        stranger.settimeout(PATIENCE_S)
        port = free_udp_port()
        away = f"{LOOPBACK}:{unused.getsockname()[1]}"
        local = ("--bind", LOOPBACK, "--port", str(port), "--metrics-port", "0")
        process = command("agent", "--host", "a", "--zookeeper", away, *local)
        address = event(process, "metrics-served")["address"]
        event(process, "agent-started")
        for datagram in (b"nonsense", b"nonsense", b"", encode_probe(Probe(1, 5))):
            stranger.sendto(datagram, (LOOPBACK, port))
        stranger.recv(200)  # the answer to the last one: the others have been read
        samples = scrape(address)
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        assert len([line for line in process.stderr if "datagram-refused" in line]) == 1
    assert samples["stormplace_agent_datagrams_refused_total[malformed]"] == 3
    assert samples["stormplace_agent_probes_answered_total"] == 1
    assert samples["stormplace_agent_peers"] == samples["stormplace_agent_publications_total"] == 0
    assert samples["stormplace_agent_coordinate_error_ratio"] == 1.5


def test_the_collector_counts_its_looks_at_a_nimbus_that_is_away(command: Callable) -> None:
    """The first look is failed by the time that the log says so."""
    with socket.socket() as unused:
        unused.bind((LOOPBACK, 0))
        away = f"{LOOPBACK}:{unused.getsockname()[1]}"
        process = command("rates", "--nimbus", away, "--zookeeper", away, "--metrics-port", "0")
        address = event(process, "metrics-served")["address"]
        event(process, "nimbus-silent")
        samples = scrape(address)
    assert samples["stormplace_rates_looks_total[failed]"] == 1
    assert samples["stormplace_rates_looks_total[answered]"] == samples["stormplace_rates_topologies"] == 0


def test_the_elastic_loop_counts_its_rounds_while_its_nimbus_is_away(
    command: Callable, tmp_path: Path
) -> None:
    """The first round is counted by the time that the log says so."""
    config = tmp_path / "elastic.toml"
    config.write_text(elastic_settings(tmp_path, 0))
    process = command("elastic", "--config", str(config))
    address = event(process, "metrics-served")["address"]
    event(process, "nimbus-silent")
    samples = scrape(address)
    assert samples["stormplace_elastic_rounds_total[advise][nimbus_silent]"] >= 1
    assert samples["stormplace_elastic_steps_total[advise][host_lost]"] == 0


def elastic_settings(folder: Path, port: int) -> str:
    return f"""
        nimbus = "{LOOPBACK}:{closed_port()}"
        state_directory = "{folder / "state"}"
        graphite = "{LOOPBACK}:{closed_port()}"
        [metrics]
        port = {port}
        [topology.taxi]
    """


@pytest.mark.parametrize(
    "arguments",
    [
        ("daemon", "--config", "{config}"),
        ("elastic", "--config", "{elastic}"),
        ("agent", "--host", "a", "--zookeeper", "127.0.0.1:1", "--metrics-port", "{port}"),
        ("rates", "--nimbus", "127.0.0.1:1", "--zookeeper", "127.0.0.1:1", "--metrics-port", "{port}"),
    ],
)
def test_a_port_that_is_taken_ends_the_process_at_its_start(
    command: Callable, tmp_path: Path, taken: int, arguments: tuple[str, ...]
) -> None:
    """One sentence, exit status 2, nothing begun."""
    config = tmp_path / "daemon.toml"
    config.write_text(f"[server]\nport = 0\n[metrics]\nport = {taken}\n")
    elastic = tmp_path / "elastic.toml"
    elastic.write_text(elastic_settings(tmp_path, taken))
    process = command(*(each.format(config=config, elastic=elastic, port=taken) for each in arguments))
    _, err = process.communicate(timeout=PATIENCE_S)
    assert err == f"stormplace: metrics: port {taken} of 127.0.0.1 is in use\n"
    assert process.returncode == 2


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        (LOOPBACK, 65536, "port 65536 is not from 0 to 65535"),
        (LOOPBACK, -1, "port -1 is not from 0 to 65535"),
        ("no-such-host.invalid", 0, "port 0 of no-such-host.invalid cannot be used"),
    ],
)
def test_an_address_that_cannot_be_is_refused_in_one_sentence(host: str, port: int, why: str) -> None:
    """With the port or the host in it."""
    with pytest.raises(UserError, match=f"^metrics: {why}"), metrics_served(host, port):
        pass


def test_without_a_port_there_are_no_metrics() -> None:
    """Off by default."""
    with metrics_served(LOOPBACK, None) as metrics:
        assert metrics is None


def test_a_scraper_that_stalls_or_leaves_keeps_no_other_from_the_next_answer() -> None:
    """One sends half a request, one hangs up, one asks by another method; the last one is served."""
    registry = CollectorRegistry()
    Counter("rows", "Rows.", registry=registry).inc(3)
    with serving(registry, LOOPBACK, 0) as address:
        at = (LOOPBACK, int(address.rpartition(":")[2]))
        with socket.create_connection(at) as stalled:
            stalled.sendall(b"GET /metrics")
            socket.create_connection(at).close()
            with pytest.raises(urllib.error.HTTPError, match="405"):
                urllib.request.urlopen(f"http://{address}/", data=b"rows 4", timeout=PATIENCE_S)
            assert scrape(address)["rows_total"] == 3


def test_a_server_that_has_ended_gives_its_port_back() -> None:
    """And its registry is no other's."""
    with metrics_served(LOOPBACK, 0) as first:
        assert first is not None
        Counter("rows", "Rows.", registry=first.registry)
    port = int(first.address.rpartition(":")[2])
    with metrics_served(LOOPBACK, port) as second:
        assert second is not None
        assert scrape(second.address) == {}
