"""Lines of Storm's Graphite reporter, as a worker of Storm 2.8.3 sends them."""

from __future__ import annotations

import socket
import threading

import pytest

from formats.address import Address
from provisioning.measuring.graphite import GraphiteReceiver, MetricLine, parsed

TOPOLOGY = "words-1-1795843981"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            f"storm.worker.{TOPOLOGY}.near-2.report.41.6703-receive-queue-population 3 1795843995",
            MetricLine(TOPOLOGY, 41, "receive-queue-population", 3.0),
        ),
        (
            f"storm.worker.{TOPOLOGY}.h.report.default.41.6703-__execute-count-totals:default.count 5140 1",
            MetricLine(TOPOLOGY, 41, "__execute-count-totals:default.count", 5140.0),
        ),
        (
            "storm.worker.taxi.rush-hour-12-1795843981.host_a_b.x.7.6700-__execute-latency-s:default 0.33 1",
            MetricLine("taxi.rush-hour-12-1795843981", 7, "__execute-latency-s:default", 0.33),
        ),
        # of a whole worker, of its JVM, without a number, and of something else
        (f"storm.worker.{TOPOLOGY}.near-2.__system.-1.6703-receive-queue-population 0 1795843995", None),
        (f"storm.topology.{TOPOLOGY}.near-2.__system.-1.6703-workerCpuUsage 0.08 1795843995", None),
        (f"storm.worker.{TOPOLOGY}.near-2.report.41.6703-receive-queue-population x 1795843995", None),
        ("carbon.agents.a.cpuUsage 0.1 1795843995", None),
        ("", None),
    ],
)
def test_lines(line: str, found: MetricLine | None) -> None:
    assert parsed(line) == found


def test_a_worker_is_listened_to_whatever_another_one_says() -> None:
    """Two connections, one of which sends what is no text."""
    taken: list[MetricLine] = []
    arrived = threading.Semaphore(0)

    def take(line: MetricLine) -> None:
        taken.append(line)
        arrived.release()

    receiver = GraphiteReceiver(Address("127.0.0.1", 0), take)
    receiver.start()
    try:
        with (
            socket.create_connection(("127.0.0.1", receiver.port), timeout=10) as one,
            socket.create_connection(("127.0.0.1", receiver.port), timeout=10) as other,
        ):
            other.sendall(b"\xff\xfe\x00" * 5000 + b"\n")
            one.sendall(f"storm.worker.{TOPOLOGY}.h.c.5.6700-receive-queue-population 2 1\n".encode())
            assert arrived.acquire(timeout=30)
            other.sendall(f"storm.worker.{TOPOLOGY}.h.c.6.6700-receive-queue-population 4 1\n".encode())
            assert arrived.acquire(timeout=30)
    finally:
        receiver.stop()
    assert [(each.task, each.value) for each in taken] == [(5, 2.0), (6, 4.0)]
