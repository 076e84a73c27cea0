"""What is measured on a real cluster is right: rates of streams, and response times beside predicted ones.

Whatever else is at work on the machine shows in both, so that these tests need it for themselves.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from formats.script_key import script_key
from tests.lab.on_host import run, stormplace

if TYPE_CHECKING:
    from pathlib import Path

    from lab.cluster import LabClient
    from tests.lab.conftest import LiveReadings

pytestmark = [pytest.mark.lab, pytest.mark.alone, pytest.mark.timeout(600)]

FOLLOW_S = 60.0

CLOCK_MS = 0.5
"""Delays of the emulator are kept to within so much."""

CHILDREN = """
import json
from monitoring.agent.worker_cpu import LOOK_S, WorkerMeter

meter = WorkerMeter()
for look in range(6):
    meter.look(LOOK_S * look)
print(json.dumps([script for worker in meter.found for script in worker.children]))
"""
"""What an agent finds on a host, in six looks at once."""


def test_a_replicated_application_takes_what_is_predicted(lab: LabClient, tmp_path: Path) -> None:
    """Under even scheduling, across three sites: nothing is lost, and delays are those of the places.

    And agents can tell what workers started by the scripts that Nimbus has.
    """
    where = ("--nimbus=nimbus:6627", "--name=synthetic")
    redis = ("--redis=redis:6379", "--run=lab")
    stormplace(
        *(lab, "synthetic", "submit", *where, *redis, "--application=replicated", "--operators=5"),
        *("--rate=10", "--work-ms=2", "--tuple-bytes=300", "--tuples=160", "--warm-up=10"),
    )
    # it ends with 1 if any tuple is missing
    stormplace(lab, "synthetic", "collect", *redis, f"--out={tmp_path}", "--timeout=120")
    answer = stormplace(
        lab, "synthetic", "check", str(tmp_path), *where, f"--sites={lab.folder.sites}", "--json"
    )
    comparison = json.loads(answer)
    hosts = set(comparison["hosts"].values())
    children = {each for host in hosts for each in json.loads(run(lab, host, sys.executable, "-c", CHILDREN))}
    stormplace(lab, "taxi", "kill", *where)
    parts = ("Source", "Inner", "Sink")
    assert children == {script_key(f"topologies.synthetic.components.{each}") for each in parts}
    assert len(hosts) > 1
    assert len(comparison["paths"]) == 2
    for path in comparison["paths"]:
        assert path["tuples"] == 40
        assert path["measured_p50_ms"] > path["predicted_ms"] - CLOCK_MS
    assert comparison["measured_p50_ms"] >= max(path["measured_p50_ms"] for path in comparison["paths"])


def test_measured_rates_are_right(lab: LabClient, readings: LiveReadings) -> None:
    """Streams of 10 and of 1,000 tuples/s are measured within 5 %, those of acking too; two slots used."""
    root, python = "/rates-of-a-test", [sys.executable, "-m"]
    begin = [*python, "cli.main", "rates", "--nimbus=nimbus:6627", "--zookeeper=nimbus:2181"]
    collector = lab.exec(
        "nimbus", [*begin, f"--root={root}", "--interval-s=1", "--window-s=20"], stderr=subprocess.DEVNULL
    )
    paced = [*python, "benchmarks.paced_topology"]
    watch = lab.exec(
        "nimbus",
        [*paced, "watch", "--zookeeper=nimbus:2181", f"--root={root}"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        run(
            lab, "nimbus", *paced, "submit", "--nimbus=nimbus:6627", "--sample-rate=1", "slow=10", "fast=1000"
        )
        assert watch.stdout is not None
        first = json.loads(watch.stdout.readline())
        reading = first
        # the first window holds the start of the workers
        while reading["time"] < first["time"] + 10 or not reading["complete"]:
            reading = json.loads(watch.stdout.readline())
        rates = {(one["from"], one["stream"], one["to"]): one["rate"] for one in reading["streams"]}
        for spout, rate in (("slow", 10), ("fast", 1000)):
            for edge in (
                (spout, "default", f"{spout}Sink"),
                (spout, "__ack_init", "__acker"),
                (f"{spout}Sink", "__ack_ack", "__acker"),
                ("__acker", "__ack_ack", spout),
            ):
                assert rates[edge] == pytest.approx(rate, rel=0.05), edge
        assert reading["sample_rate"] == 1
        readings.until(FOLLOW_S, lambda seen: [] if slots_used(seen) == 2 else [f"slots: {slots_used(seen)}"])
        run(lab, "nimbus", *python, "cli.main", "taxi", "kill", "--nimbus=nimbus:6627", "--name=paced")
    finally:
        watch.kill()
        collector.kill()


def slots_used(readings: dict[str, Any]) -> int:
    return sum(one["load"]["slots_used"] for one in readings.values())
