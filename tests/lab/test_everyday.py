"""A cluster without any setting of Stormplace's: first placement, a lost host, rebalances, fail-over.

Storm's own keys that the site file sets make the lab quick or patient enough, but for one: without it
supervisors restart all workers of a topology half a minute after a changed setting, wherever they run.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from bridge.record.record import read_records
from bridge.wire.encoding import decode_request
from lab.checks import check_programs
from lab.jvm_flags import jvm_flags
from lab.layout import NIMBUS, STANDBY
from lab.places import STORM_HOME
from tests.lab.on_host import first_tasks, worker_commands
from tests.lab.running import running_lab
from tests.lab.words_on_nimbus import CHAIN, NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.cluster import LabClient

pytestmark = [pytest.mark.lab, pytest.mark.timeout(2000)]

SITES = """
standby_nimbus = true
[storm]
"supervisor.cpu.capacity" = 400.0  # Storm's own default
"nimbus.task.launch.secs" = 90     # so long an executor without a sign of life counts as starting
# that often supervisors look for a changed configuration, and restart the topology's workers for it: not here
"supervisor.localizer.update.blob.interval.secs" = 3600
"storm.nimbus.retry.interval.millis" = 200
"supervisor.worker.heartbeats.max.timeout.secs" = 60
[[site]]
name = "near"
supervisors = 3
slots = 4
services = true
[[site]]
name = "edge"
supervisors = 1
slots = 4
[[link]]
between = ["near", "edge"]
delay_ms = 0.25
"""
HOSTS = ("near-1", "near-2", "near-3", "edge-1")
LOST = "edge-1"
EXECUTORS = 40
WAIT_S = 600.0

Slot: TypeAlias = tuple[str, int]
"""Host and port."""


@dataclass(frozen=True)
class View:
    """What the leading Nimbus says of the topology.

    Attributes:
        status: The scheduler's status line.
        slots: First task -> slot.
        components: First task -> component.
        running: Whether all executors that have a slot have sent statistics.
        copies: Nimbus hosts that have the topology's code and configuration.
    """

    leader: str
    topology_id: str
    active: bool
    status: str
    slots: dict[int, Slot]
    components: dict[int, str]
    running: bool
    copies: int

    @classmethod
    def of(cls, answer: dict[str, Any]) -> View:
        executors = answer["executors"]
        return cls(
            leader=answer["leader"],
            topology_id=answer["id"],
            active=answer["status"] == "ACTIVE",
            status=answer["scheduler_status"],
            slots={one["task"]: tuple(one["slot"]) for one in executors},
            components={one["task"]: one["component"] for one in executors},
            running=all(one["uptime_s"] for one in executors),
            copies=answer["copies"],
        )

    @property
    def complete(self) -> bool:
        return self.active and len(self.slots) == EXECUTORS

    def loads(self) -> Counter[str]:
        return Counter(host for host, _ in self.slots.values())


class Cluster:
    """A lab with the topology on it."""

    def __init__(self, lab: LabClient) -> None:
        self.lab = lab
        self._hosts = {host.address: host.name for host in lab.status().hosts}
        command = [sys.executable, "-m", "tests.lab.words_on_nimbus", NIMBUS, STANDBY]
        self._asking = lab.exec(NIMBUS, command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask("submit")
        self.first = self.placed()

    def ask(self, request: str) -> dict[str, Any]:
        assert self._asking.stdin is not None
        assert self._asking.stdout is not None
        self._asking.stdin.write(f"{request}\n")
        self._asking.stdin.flush()
        answer: dict[str, Any] = json.loads(self._asking.stdout.readline())
        return answer

    def close(self) -> None:
        self._asking.kill()
        self._asking.communicate()

    def until(self, what: str, holds: Callable[[View], bool]) -> View:
        """Ask Nimbus again and again: it says nothing by itself."""
        end_s = time.monotonic() + WAIT_S
        while True:
            answer = self.ask("look")
            if "error" not in answer and holds(view := View.of(answer)):
                return view
            assert time.monotonic() < end_s, f"waited {WAIT_S:.0f} s for {what}; last answer: {answer}"
            time.sleep(0.3)

    def placed(self) -> View:
        """Wait until every executor has a slot."""
        return self.until("40 executors to be placed", lambda view: view.complete)

    def settled(self) -> tuple[View, dict[Slot, str]]:
        """Wait until every executor runs; return also the workers."""
        view = self.until("all executors to run", lambda view: view.complete and view.running)
        return view, self.workers(view)

    def workers(self, view: View) -> dict[Slot, str]:
        """Wait until workers run a placement's executors; return slot -> id, which is new at each start.

        A worker whose executors have changed runs on with the old ones until its supervisor ends it.
        """
        wanted = {
            slot: {task for task, one in view.slots.items() if one == slot} for slot in view.slots.values()
        }
        end_s = time.monotonic() + WAIT_S
        while True:
            found = self._workers(view.topology_id)
            running = {slot: first_tasks(self.lab, slot[0], worker) for slot, worker in found.items()}
            if all(running.get(slot) == tasks for slot, tasks in wanted.items()):
                return {slot: found[slot] for slot in wanted}
            assert time.monotonic() < end_s, f"{wanted} are to be run, {running} are"
            time.sleep(0.3)

    def _workers(self, topology_id: str) -> dict[Slot, str]:
        found = {}
        for command in worker_commands(self.lab, topology_id):
            supervisor, _, port, worker = command[-4:]
            # a supervisor's id ends with its address
            found[self._hosts[supervisor.rpartition("-")[2]], int(port)] = worker
        return found

    def rebalance(self, *options: str) -> View:
        """Run `storm rebalance` without a pause, and return when Nimbus has carried it out."""
        settings = self.lab.folder.storm / NIMBUS / "storm.yaml"
        java = [check_programs().java, *jvm_flags("lib"), f"-Dstorm.conf.file={settings}"]
        main = ["-cp", f"{STORM_HOME}/lib/*", "org.apache.storm.command.Rebalance"]
        command = [*java, *main, NAME, "-w", "0", *options]
        process = self.lab.exec(NIMBUS, command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said, _ = process.communicate(timeout=WAIT_S)
        assert process.returncode == 0, said
        # it is REBALANCING from before the command's end until the new assignment is written
        return self.until("the rebalance", lambda view: view.active)

    def await_setting(self, key: str, value: object) -> None:
        """Wait until a round with this setting is recorded, which is after its answer."""
        end_s = time.monotonic() + WAIT_S
        while self._last_settings().get(key) != value:
            assert time.monotonic() < end_s, f"waited {WAIT_S:.0f} s for a round with {key} = {value}"
            time.sleep(0.3)

    def _last_settings(self) -> dict[str, Any]:
        *_, last = read_records(self.lab.folder.records)
        found: dict[str, Any] = json.loads(decode_request(last.request).topologies[0].settings_json)
        return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with running_lab(tmp_path_factory.mktemp("everyday"), SITES, "stormplace") as lab:
        cluster = Cluster(lab)
        try:
            yield cluster
        finally:
            cluster.close()


def test_forty_executors_are_spread_over_four_hosts(cluster: Cluster) -> None:
    """Without any setting all executors get slots, and no host has more of them than it must."""
    assert sum(CHAIN.values()) + 1 == EXECUTORS
    assert cluster.first.loads() == dict.fromkeys(HOSTS, EXECUTORS // len(HOSTS))


def test_a_lost_host_restarts_no_worker_of_the_others(cluster: Cluster) -> None:
    """Its executors take free slots of several others, which run on.

    Whatever ran before, some slots of the others are free, though not on each of them.
    """
    before, workers = cluster.settled()
    cluster.lab.isolate("edge")
    try:
        cluster.until(
            "the lost executors to be placed", lambda view: view.complete and LOST not in view.loads()
        )
        # on a port that a worker of before still holds, none comes up, and they are placed once more
        after, now = cluster.settled()
        assert LOST not in after.loads()
        assert {task: after.slots[task] for task in before.slots if before.slots[task][0] != LOST} == {
            task: slot for task, slot in before.slots.items() if slot[0] != LOST
        }
        healthy = {slot for slot in before.slots.values() if slot[0] != LOST}
        lost = {task for task, slot in before.slots.items() if slot[0] == LOST}
        assert not healthy & {after.slots[task] for task in lost}
        # A worker that had just started counts as alive for longer, so that they may be lost in two rounds.
        assert len({after.slots[task][0] for task in lost}) > 1
        assert {slot: now[slot] for slot in healthy} == {slot: workers[slot] for slot in healthy}
    finally:
        cluster.lab.rejoin("edge")
    cluster.lab.await_ready(WAIT_S)


def test_a_changed_setting_moves_nothing(cluster: Cluster) -> None:
    """`storm rebalance -t` of a key that asks for no move leaves every executor in its worker."""
    before, workers = cluster.settled()
    cluster.rebalance("-t", json.dumps({"topology.stormplace.seed": 7}))
    cluster.await_setting("topology.stormplace.seed", 7)
    after = cluster.placed()
    assert after.slots == before.slots
    assert cluster.workers(after) == workers


def test_a_new_pin_moves_what_it_names(cluster: Cluster) -> None:
    """`storm rebalance -t` of a pin moves the component to its place, and no other executor to another host.

    The two workers that start anew do so on other ports.
    """
    before = cluster.placed()
    (task,) = (task for task, component in before.components.items() if component == "report")
    target = next(host for host in HOSTS if host not in {LOST, before.slots[task][0]})
    cluster.rebalance("-t", json.dumps({"topology.stormplace.pin": {"report": f"host:{target}"}}))
    after = cluster.until("the pin", lambda view: view.complete and view.slots[task][0] == target)
    assert {one for one, slot in after.slots.items() if slot[0] != before.slots[one][0]} == {task}
    others = {one for one, slot in after.slots.items() if slot != before.slots[one]} - {task}
    assert {before.slots[one][0] for one in others} <= {before.slots[task][0], target}


def test_as_many_workers_as_are_asked_for(cluster: Cluster) -> None:
    """`storm rebalance -n` gives it so many workers, and no host too many executors."""
    before = len(set(cluster.placed().slots.values()))
    wanted = 10 if before == 8 else 8
    after = cluster.rebalance("-n", str(wanted))
    assert len(set(after.slots.values())) == wanted
    assert max(after.loads().values()) <= math.ceil(EXECUTORS / len(HOSTS))


def test_the_elastic_loop_sees_and_changes_executors(cluster: Cluster) -> None:
    """Its look has what Nimbus has, and its change is carried out."""
    cluster.placed()
    seen = cluster.ask("seen")
    assert (seen["executors"], seen["tasks"], seen["fault"]) == (CHAIN, CHAIN, "")
    assert set(seen["hosts"]) == set(HOSTS)
    try:
        assert cluster.ask("scale totals 7") == {}
        fewer = cluster.until(
            "seven executors", lambda view: view.active and len(view.slots) == EXECUTORS - 6
        )
        assert Counter(fewer.components[task] for task in fewer.slots)["totals"] == 7
    finally:
        assert cluster.ask("scale totals 13") == {}
        cluster.placed()


def test_another_nimbus_moves_nothing(cluster: Cluster) -> None:
    """When the leader is killed the other one plans with the daemon; every executor stays in its worker."""
    cluster.until("the code to be with both", lambda view: view.copies == 2)
    before, workers = cluster.settled()
    leader = next(one for one in cluster.lab.status().services if one.name == before.leader)
    cluster.lab.exec(NIMBUS, ["kill", "-KILL", str(leader.pid)]).wait(WAIT_S)
    # a Nimbus knows what its own scheduler said, and nothing of what another one's did; its first rounds may
    # have no time for a plan
    after = cluster.until(
        "the other to plan",
        lambda view: view.leader != before.leader and view.status[:7] not in {"", "No plan"},
    )
    assert after.status.startswith("kept")
    assert after.slots == before.slots
    assert cluster.workers(after) == workers
    cluster.lab.await_ready(WAIT_S)
