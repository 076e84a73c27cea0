"""Rules of measuring workers, on a made /proc."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from formats.script_key import script_key
from monitoring.agent.worker_cpu import LOOK_S, WorkerMeter
from monitoring.reading import WorkerCpu

if TYPE_CHECKING:
    from pathlib import Path

TICKS_PER_LOOK = LOOK_S * os.sysconf("SC_CLK_TCK")
MAIN = "org.apache.storm.daemon.worker.Worker"
WORKER = (MAIN, "taxi-1", "sup", "6628", "6700", "0a-1b")
HERE = "net:[1]"
BUSY = """
import sys, time

print(time.process_time(), flush=True)
sys.stdin.readline()
began_s = time.process_time()
while time.process_time() - began_s < 0.5:
    pass
print(time.process_time(), flush=True)
sys.stdin.readline()
"""


class Proc:
    """A made /proc whose processes use as many ticks per look as a test says."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.meter = WorkerMeter(folder)
        self.now_s = 0.0
        self.share: dict[int, float] = {}
        self._used: dict[int, float] = {}
        self._stat: dict[int, tuple[str, int]] = {}
        (folder / "self/ns").mkdir(parents=True)
        (folder / "self/ns/net").symlink_to(HERE)
        (folder / "meminfo").write_text("")

    def add(
        self, pid: int, parent: int, name: str, arguments: tuple[str, ...] = (), space: str = HERE
    ) -> None:
        (self.folder / str(pid) / "ns").mkdir(parents=True)
        (self.folder / str(pid) / "ns/net").symlink_to(space)
        (self.folder / str(pid) / "cmdline").write_bytes(
            b"".join(each.encode() + b"\0" for each in arguments)
        )
        self._stat[pid] = name, parent
        self._used[pid] = 1000.0 * pid
        self.share.setdefault(pid, 0.0)

    def end(self, pid: int) -> None:
        (self.folder / str(pid) / "stat").unlink()
        del self._stat[pid]

    def look(self) -> tuple[WorkerCpu, ...]:
        for pid, (name, parent) in self._stat.items():
            ticks = int(self._used[pid])
            text = f"{pid} ({name}) S {parent} " + "0 " * 9 + f"{ticks} {0} " + "0 " * 6 + "77 0 0"
            (self.folder / str(pid) / "stat").write_text(text)
            self._used[pid] += self.share[pid] * TICKS_PER_LOOK
        self.meter.look(self.now_s)
        self.now_s += LOOK_S
        return self.meter.found

    def looks(self, number: int) -> tuple[WorkerCpu, ...]:
        return [self.look() for _ in range(number)][-1]


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    """A supervisor with the process that writes a worker's log, the worker, and two that it started."""
    made = Proc(tmp_path)
    made.add(1, 0, "init")
    made.add(10, 1, "java", ("java", "org.apache.storm.daemon.supervisor.Supervisor"))
    made.add(20, 10, "java", ("java", "org.apache.storm.LogWriter", "java", "-server", *WORKER))
    made.add(30, 20, "java", ("java", "-server", *WORKER))
    made.add(40, 30, "python) S 1 (3", ("python",))
    made.add(41, 40, "sort")
    return made


def test_a_worker_is_measured_with_all_that_it_started(proc: Proc) -> None:
    """Its log, its own threads, and what its components run; not the supervisor."""
    proc.share |= {10: 1.0, 20: 0.01, 30: 0.3, 40: 0.4, 41: 0.08}
    assert proc.looks(6) == (WorkerCpu(6700, "taxi-1", 79.4),)


def test_a_young_worker_is_not_measured(proc: Proc) -> None:
    """Its start costs more than its work, and does not count later either."""
    proc.share[30] = 2.0
    assert proc.looks(2) == ()
    proc.share[30] = 0.1
    assert proc.looks(3) == ()
    assert proc.look() == (WorkerCpu(6700, "taxi-1", 10.0),)


def test_a_worker_that_restarted_is_another_one(proc: Proc) -> None:
    proc.share[30] = 0.1
    proc.looks(6)
    for pid in (20, 30, 40, 41):
        proc.end(pid)
    proc.add(50, 10, "java", ("java", *WORKER[:-1], "2c-3d"))
    proc.share[50] = 0.5
    assert proc.looks(5) == ()
    assert proc.look() == (WorkerCpu(6700, "taxi-1", 50.1),)


def test_a_process_that_comes_or_goes_counts_while_it_is_there(proc: Proc) -> None:
    proc.share |= {30: 0.1, 40: 0.5}
    proc.looks(5)
    proc.end(40)
    proc.end(41)
    # Two of the last three times between looks had the child.
    assert proc.looks(2) == (WorkerCpu(6700, "taxi-1", 31.6),)


def test_workers_of_hosts_that_share_the_kernel_are_left_to_their_agents(proc: Proc) -> None:
    """The same port in another network namespace is another host's."""
    proc.add(60, 1, "java", ("java", MAIN, "taxi-1", "sup-2", "6628", "6700", "4e-5f"), space="net:[2]")
    proc.share |= {30: 0.1, 60: 1.0}
    assert proc.looks(6) == (WorkerCpu(6700, "taxi-1", 10.0),)


@pytest.mark.parametrize("arguments", [(), (MAIN,), (MAIN, "taxi-1", "sup", "port", "id"), ("other", "6700")])
def test_a_java_process_that_is_no_worker_is_left_out(proc: Proc, arguments: tuple[str, ...]) -> None:
    proc.add(60, 1, "java", ("java", *arguments))
    proc.share |= {30: 0.1, 60: 1.0}
    assert [each.port for each in proc.looks(6)] == [6700]


def test_processes_in_a_circle_do_not_hold_the_agent(proc: Proc) -> None:
    """An id that was given anew between two files that were read."""
    proc.add(70, 71, "a")
    proc.add(71, 70, "b")
    assert [each.port for each in proc.looks(6)] == [6700]


def test_a_look_does_not_hold_the_event_loop(proc: Proc, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers to probes are read in time, and no second look begins beside one."""
    begun: list[float] = []
    goes_on = threading.Event()

    def slow(now_s: float) -> None:
        begun.append(now_s)
        assert goes_on.wait(60.0)

    async def looks() -> None:
        proc.meter.look_soon(0.0)
        proc.meter.look_soon(LOOK_S)
        goes_on.set()

    monkeypatch.setattr(proc.meter, "look", slow)
    asyncio.run(looks())  # which waits for its threads
    assert begun == [0.0]


def test_a_look_that_fails_ends_the_agent(proc: Proc, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_now_s: float) -> None:
        raise ZeroDivisionError

    async def looks() -> None:
        proc.meter.look_soon(0.0)
        while True:
            await asyncio.sleep(0)
            proc.meter.look_soon(LOOK_S)

    monkeypatch.setattr(proc.meter, "look", failing)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(looks())


def test_a_system_without_proc_has_no_workers(tmp_path: Path) -> None:
    meter = WorkerMeter(tmp_path / "absent")
    meter.look(0.0)
    assert meter.found == ()


def test_children_are_measured_by_their_scripts_since_they_were_first_seen(proc: Proc) -> None:
    """All of the same script together, each with what it started; not what they used before."""
    for pid in (50, 51):
        proc.add(pid, 30, "python", ("python", "/bin/streamparse_run", "bolts.Rank"))
    proc.add(52, 50, "sort", ("sort", "-n"))
    proc.add(53, 30, "python", ("python", "/bin/streamparse_run", "bolts.Count"))
    proc.share |= {30: 0.5, 50: 0.2, 51: 0.1, 52: 0.05, 53: 0.01}
    (worker,) = proc.looks(6)
    assert worker.children == {
        script_key("bolts.Rank"): pytest.approx(0.35 * 5 * LOOK_S, abs=0.1),
        script_key("bolts.Count"): pytest.approx(0.01 * 5 * LOOK_S, abs=0.1),
    }


def test_of_children_that_come_and_go_few_are_followed(proc: Proc) -> None:
    proc.looks(5)
    for pid in range(100, 200):
        proc.add(pid, 30, "convert", ("convert", f"{pid}.png"))
    (worker,) = proc.look()
    assert len(worker.children) == 64
    for pid in range(100, 200):
        proc.end(pid)
    (worker,) = proc.look()
    assert worker.children == {}


def test_a_real_process_is_found(tmp_path: Path) -> None:
    """A shell by the name of Java, with a worker's arguments and a child, on the clock of this test."""
    java = tmp_path / "java"
    java.symlink_to("/bin/sh")
    own = (MAIN, "t-" + tmp_path.name, "sup", "6628", "6700", tmp_path.name)
    command = (java, "-c", "echo; read line; :", *own)
    meter = WorkerMeter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # until it runs Linux may know its name, but not its arguments yet
        process.stdout.readline()
        for look in range(6):
            meter.look(LOOK_S * look)
        assert process.stdin is not None
        process.stdin.close()
    assert ("t-" + tmp_path.name, 6700) in {(each.topology, each.port) for each in meter.found}


def test_processor_time_of_a_real_child_is_that_which_the_kernel_counts(tmp_path: Path) -> None:
    """A shell by the name of Java that starts a Python program as Storm does: command, then script."""
    java, run = tmp_path / "java", tmp_path / "run.py"
    java.symlink_to("/bin/sh")
    run.write_text(BUSY, encoding="utf-8")
    own = (MAIN, "t-" + tmp_path.name, "sup", "6628", "6700", tmp_path.name)
    command = (java, "-c", f"{sys.executable} {run} bolts.Rank; :", *own)
    meter = WorkerMeter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        first_s = float(process.stdout.readline())
        for look in range(5):
            meter.look(LOOK_S * look)
        process.stdin.write("on\n")
        process.stdin.flush()
        last_s = float(process.stdout.readline())
        meter.look(LOOK_S * 5)
        process.stdin.close()
    (worker,) = [each for each in meter.found if each.topology == "t-" + tmp_path.name]
    # ticks of user and system time are cut off apart, at either end
    ticks_s = 4.0 / os.sysconf("SC_CLK_TCK")
    assert worker.children == {script_key("bolts.Rank"): pytest.approx(last_s - first_s, abs=ticks_s)}
    assert last_s - first_s >= 0.5
