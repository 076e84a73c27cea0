"""Nothing lost and nothing doubled on a real cluster, whatever dies during a run."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lab.on_host import begin, stormplace
from tests.lab.running import running_lab
from tests.reference.query1 import Answers, query1
from tests.reference.query2 import query2
from tests.reference.rows import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lab.cluster import LabClient

pytestmark = [pytest.mark.lab, pytest.mark.timeout(420)]

ROWS = Path(__file__).parents[2] / "data" / "debs2015" / "debs2015_20day_head10004.csv.gz"
SITES = """
executors_per_host = 16
[[site]]
name = "one"
supervisors = 2
slots = 2
services = true
"""
REDIS_PORT = "6380"
RUN = "recovery"
WAIT_S = 120.0


class Cluster:
    """A lab with a Redis of its own that keeps what it took: killed, it comes back as it was."""

    def __init__(self, lab: LabClient, folder: Path) -> None:
        self.lab = lab
        self._folder = folder
        self._redis = self._start_redis()

    def _start_redis(self) -> subprocess.Popen[str]:
        keeping = ["--appendonly", "yes", "--appendfsync", "always", "--save", "", "--dir", str(self._folder)]
        return self.lab.exec(
            "redis",
            ["redis-server", "--port", REDIS_PORT, "--bind", "0.0.0.0", "--protected-mode", "no", *keeping],  # noqa: S104 - an address in the lab's own namespaces
            stdout=subprocess.DEVNULL,
            text=True,
        )

    def restart_redis(self) -> None:
        self.close()
        self._redis = self._start_redis()

    def close(self) -> None:
        """SIGKILL to the server itself; what entered the host for it ends with it."""
        self.kill("redis-server .*:" + REDIS_PORT)
        self._redis.wait(WAIT_S)

    def kill(self, pattern: str) -> None:
        killed = self.lab.exec("redis", ["pkill", "-KILL", "-f", pattern])
        assert killed.wait(WAIT_S) == 0

    def progress(self, *fields: str) -> list[int]:
        """Numbers that Redis has of the run; none when it does not answer, or lacks one."""
        ask = ["redis-cli", "-p", REDIS_PORT, "HMGET", f"taxi:{RUN}:progress", *fields]
        process = self.lab.exec("redis", ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        answer = str(process.communicate(timeout=WAIT_S)[0]).split()
        known = len(answer) == len(fields) and all(map(str.isdigit, answer))
        return [int(each) for each in answer] if known else []

    def await_progress(self, least: int, *fields: str) -> None:
        """Wait until each of these numbers is as large."""
        end_s = time.monotonic() + WAIT_S
        while not (now := self.progress(*fields)) or min(now) < least:
            assert time.monotonic() < end_s, f"waited {WAIT_S:.0f} s for {least} of {fields}, {now} are there"
            time.sleep(0.3)

    def await_released(self, rows: int) -> None:
        """Wait until the results of both queries of so many rows are in Redis."""
        self.await_progress(rows, "released:1", "released:2")

    def await_epochs(self, count: int) -> None:
        """Wait until the source has noticed a loss: else one epoch would do for the next loss, too."""
        self.await_progress(count, "epochs")

    def kill_a_worker(self) -> None:
        """SIGKILL to the worker that runs countByWindow, and so to the windows."""
        find = ["pgrep", "-f", "topologies.taxi.components.counting.CountByWindow"]
        found = self.lab.exec("nimbus", find, stdout=subprocess.PIPE, text=True).communicate(timeout=WAIT_S)[
            0
        ]
        component = str(found).split()[0]
        parent = ["ps", "-o", "ppid=", "-p", component]
        worker = self.lab.exec("nimbus", parent, stdout=subprocess.PIPE, text=True).communicate(
            timeout=WAIT_S
        )
        killed = self.lab.exec("nimbus", ["kill", "-KILL", str(worker[0]).strip()])
        assert killed.wait(WAIT_S) == 0


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with running_lab(tmp_path, SITES, "stormplace") as lab:
        cluster = Cluster(lab, tmp_path)
        try:
            yield cluster
        finally:
            cluster.close()


def same(folder: Path, expected: Answers) -> None:
    """A collected run is the plain reference's: rows, output rows with and without delay, ranks."""
    results = (folder / "results.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [int(line.split(",")[0]) for line in results] == expected.passed
    tops = [row for _, row in expected.tops]
    assert (folder / "tops.csv").read_text(encoding="utf-8").splitlines() == tops
    output = (folder / "output.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rpartition(",")[0] for line in output] == tops
    states = [json.loads(line) for line in (folder / "states.jsonl").open(encoding="utf-8")]
    assert states == [{"n": n, "dropoff": time, "state": state} for n, time, state in expected.states]


def test_both_queries_outlive_a_worker_redis_and_the_feeder(
    cluster: Cluster, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Answers are the plain program's after SIGKILL of a worker, of Redis and of the replay.

    With several tasks and shares, and with acking.
    """
    redis = f"--redis=redis:{REDIS_PORT}"
    stormplace(
        cluster.lab,
        "taxi",
        *("submit", "--nimbus=nimbus:6627", redis, f"--run={RUN}", f"--name={RUN}"),
        *("--query=both", "--tasks=countByWindow=2", "--tasks=emptyTaxis=2", "--workers=2", "--replay"),
    )
    replay = (
        "replay",
        str(ROWS),
        redis,
        f"--run={RUN}",
        "--rate=400",
        # so that there is something left to feed, however long the topology takes to come back
        "--ahead=3000",
        f"--rejects={tmp_path / 'rejects.csv'}",
    )
    first = begin(cluster.lab, "redis", "taxi", *replay)
    cluster.await_released(1_000)
    cluster.kill_a_worker()
    cluster.await_epochs(2)
    cluster.await_released(4_000)
    cluster.kill("cli.main taxi replay")
    first.communicate(timeout=WAIT_S)
    second = begin(cluster.lab, "redis", "taxi", *replay, "--resume")
    cluster.await_released(6_000)
    cluster.restart_redis()
    cluster.await_epochs(3)
    cluster.await_released(8_000)
    _, err = second.communicate(timeout=WAIT_S)
    assert second.returncode == 0, err
    stormplace(cluster.lab, "taxi", "collect", redis, f"--run={RUN}", f"--out={tmp_path / 'run'}")

    lines = read_lines(ROWS)
    same(tmp_path / "run", query1(lines))
    same(tmp_path / "run" / "query2", query2(lines))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["faults"] == []
    # the first beginning, the lost worker, the lost Redis
    assert summary["epochs"] >= 3
    assert summary["replayed"] > 0
    record_property("epochs", summary["epochs"])
    record_property("replayed", summary["replayed"])
