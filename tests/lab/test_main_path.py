"""The whole path on a real cluster: agents, Nimbus with the shim, the daemon, a topology's workers."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from bridge.record.record import read_records
from bridge.record.replay_record import replay
from bridge.wire.encoding import decode_request, decode_response
from tests.lab.on_host import stormplace, worker_commands
from tests.lab.running import running_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from lab.cluster import LabClient

pytestmark = [pytest.mark.lab, pytest.mark.timeout(600)]

SITES = """
executors_per_host = 48
[[site]]
name = "rome"
supervisors = 2
slots = 8
services = true
[[site]]
name = "far"
supervisors = 2
slots = 8
[[link]]
between = ["rome", "far"]
delay_ms = 60.0
"""
COMPONENTS = 8
WAIT_S = 90.0


@dataclass(frozen=True)
class Cluster:
    """A lab that is up, with the few questions that the tests ask."""

    lab: LabClient
    folder: Path

    def taxi(self, *arguments: str) -> str:
        """Run `stormplace taxi` on Nimbus' host and return what it prints."""
        return stormplace(self.lab, "taxi", *arguments)

    def submit(self, name: str) -> None:
        """Submit the taxi query under a name, source and sink pinned to Rome."""
        pins = [f"--pin={component}=site:rome" for component in ("dataSource", "globalRank")]
        self.taxi(
            "submit", "--nimbus=nimbus:6627", "--redis=redis:6379", f"--run={name}", f"--name={name}", *pins
        )

    def placement(self, name: str) -> dict[str, Any]:
        """Ask Nimbus where a topology's executors are."""
        answer: dict[str, Any] = json.loads(self.taxi("placement", "--nimbus=nimbus:6627", f"--name={name}"))
        return answer

    def slots(self, name: str) -> dict[str, tuple[str, int]]:
        """Component -> (host, port) of the executors that have a slot."""
        executors = self.placement(name)["executors"]
        return {one["component"]: (one["host"], one["port"]) for one in executors if one["port"]}

    def workers(self, topology_id: str) -> set[int]:
        """Process ids of the topology's worker JVMs."""
        return {int(command[0]) for command in worker_commands(self.lab, topology_id)}

    def shim_warnings(self) -> list[str]:
        """Lines that the shim has logged as warnings."""
        log = (self.folder / "logs" / "nimbus.log").read_text(encoding="utf-8", errors="replace")
        return [line for line in log.splitlines() if "[WARN]" in line and " i.s." in line]

    def rounds(self) -> list[Any]:
        """Every recorded round, oldest first."""
        return list(read_records(self.folder / "records"))


def until(what: str, probe: Callable[[], bool]) -> None:
    """Wait for something that Nimbus says only when asked."""
    end_s = time.monotonic() + WAIT_S
    while not probe():
        assert time.monotonic() < end_s, f"waited {WAIT_S:.0f} s for {what}"
        time.sleep(0.5)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_lab(tmp_path_factory.mktemp("main-path"), SITES, "stormplace") as lab:
        yield Cluster(lab, lab.folder.root)


def planned_slots(record: Any, name: str) -> dict[str, tuple[str, int]] | None:
    """Where a record's response puts a topology, or None if that round did not assign it."""
    request, response = decode_request(record.request), decode_response(record.response)
    topology = next((one for one in request.topologies if one.name == name), None)
    if topology is None:
        return None
    plan = next(one for one in response.plans if one.topology_id == topology.id)
    if not plan.executor_supervisor:
        return None
    return {
        topology.component_names[component]: (request.supervisors[supervisor].host, port)
        for component, supervisor, port in zip(
            topology.executor_component, plan.executor_supervisor, plan.executor_port, strict=True
        )
    }


def test_the_cluster_follows_the_daemon_and_outlives_it(cluster: Cluster) -> None:
    """A topology runs where the record says, outlives the daemon, and is left alone on its return."""
    cluster.submit("first")
    until("the first topology to be placed", lambda: len(cluster.slots("first")) == COMPONENTS)
    first = cluster.slots("first")
    planned = [slots for record in cluster.rounds() if (slots := planned_slots(record, "first"))]
    assert planned
    assert first == planned[-1]
    assert {host.rsplit("-", 1)[0] for host, _ in (first["dataSource"], first["globalRank"])} == {"rome"}
    topology_id = str(cluster.placement("first")["id"])
    wanted = len(set(first.values()))
    until("the first topology's workers", lambda: len(cluster.workers(topology_id)) >= wanted)
    workers = cluster.workers(topology_id)

    warnings_before = len(cluster.shim_warnings())
    cluster.lab.stop_daemon()
    rounds_before = len(cluster.rounds())
    cluster.submit("second")
    until("Storm's own scheduler to place the second", lambda: len(cluster.slots("second")) == COMPONENTS)
    assert cluster.slots("first") == first
    assert cluster.workers(topology_id) == workers
    assert len(cluster.rounds()) == rounds_before
    warnings = cluster.shim_warnings()[warnings_before:]
    assert len(warnings) == 1, warnings  # the change of state, not one line per round
    assert "no plan" in warnings[0]

    cluster.lab.start_daemon()
    # until it answers, Storm's own scheduler places what comes
    until("the daemon to plan again", lambda: len(cluster.rounds()) > rounds_before)
    cluster.taxi("kill", "--nimbus=nimbus:6627", "--name=second")
    cluster.submit("third")
    until("the daemon to place the third", lambda: len(cluster.slots("third")) == COMPONENTS)
    planned = [slots for record in cluster.rounds() if (slots := planned_slots(record, "third"))]
    assert planned
    assert cluster.slots("third") == planned[-1]
    assert cluster.slots("first") == first
    assert cluster.workers(topology_id) == workers

    replayable = [record for record in cluster.rounds() if not record.timed_out]
    assert replayable
    for record in replayable[-3:]:
        assert replay(record) == record.response
    for name in ("first", "third"):
        cluster.taxi("kill", "--nimbus=nimbus:6627", f"--name={name}")


def test_a_drained_host_is_emptied_and_given_back(cluster: Cluster) -> None:
    """What runs elsewhere stays in its slot, and the drain ends with the command that takes it back."""
    zookeeper = "--zookeeper=nimbus:2181"
    cluster.submit("leaving")
    until("the topology to be placed", lambda: len(cluster.slots("leaving")) == COMPONENTS)
    topology_id = str(cluster.placement("leaving")["id"])
    before = cluster.slots("leaving")
    until("its workers", lambda: len(cluster.workers(topology_id)) >= len(set(before.values())))
    host = before["dataSource"][0]
    shown = stormplace(cluster.lab, "plan", "leaving", f"--drain=host:{host}")
    assert "executors leave drained hosts; placed by" in " ".join(shown.split())
    assert shown.endswith("Nothing was moved.\n")
    assert cluster.slots("leaving") == before
    try:
        stormplace(cluster.lab, "drain", host, zookeeper)
        until("it to be empty", lambda: host not in {where for where, _ in cluster.slots("leaving").values()})
        after = cluster.slots("leaving")
        assert len(after) == COMPONENTS
        stayed = {component: slot for component, slot in before.items() if slot[0] != host}
        assert {component: after[component] for component in stayed} == stayed
        assert f"Drained: 1 (host {host} until undrain)" in stormplace(cluster.lab, "network", zookeeper)
    finally:
        assert stormplace(cluster.lab, "undrain", host, zookeeper) == f"Given back: host:{host}.\n"
        cluster.taxi("kill", "--nimbus=nimbus:6627", "--name=leaving")
