"""What the adaptation experiment meets in its tests: a lab that is a double, and its answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.adaptation.report.kept import PlannedRound, ScenarioDone
from experiments.folder_content import read_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.adaptation.report.kept import Scenario

SITES = Path(__file__).parents[3] / "lab" / "sites" / "demo.toml"
ROUND = PlannedRound(
    time_s=1.0,
    plan_ms=5.0,
    timed_out=False,
    assigned=True,
    executors_moved=1,
    workers_moved=1,
    gain=0.0,
    status="placed",
    response_time_ms=60.0,
    objective=0.1,
    bound=None,
    hosts={1: "uniroma2-1", 2: None},
    delays=(("europe-west1", "uniroma2", 28.0, "measured"),),
)
HOSTS = ("uniroma2-1", "uniroma2-1", "europe-west1-2", "us-east1-1", "us-east1-2")
AT_HOME = ("uniroma2-1",)
RESULTS = "n,row_ms,emit_us,done_us,result_ms,paced\n1,1,1,1,1,0\n"


def placement(hosts: Sequence[str]) -> str:
    executors = [
        {"component": f"c{index}", "first_task": index, "host": host} for index, host in enumerate(hosts)
    ]
    return f"echo '{json.dumps({'id': 'taxi-1', 'executors': executors})}'"


class World:
    """The lab's answers: the feeder waits for a number of changes, then ends as `feed_end` says."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "changed"
        self.await_changes = 0
        self.feed_end = "exit 0"
        self.hosts: Sequence[str] = HOSTS
        self.faults: list[str] = []
        self.summary: dict[str, Any] = {}
        self.paced_results = "100,1,1,1,1,1\n"
        self.at_change: Callable[[tuple[Any, ...]], None] = lambda _: None
        self._changes = 0

    def acts(self) -> dict[str, Any]:
        changes = dict.fromkeys(("delay", "isolate", "rejoin"), self.changed)
        return {
            "feed": self.feed,
            "collect": self.collect,
            "placement": lambda _: placement(self.hosts),
            **changes,
        }

    def feed(self, _command: list[str]) -> str:
        self.mark.unlink(missing_ok=True)
        self._changes = 0
        wait = f"while [ ! -e {self.mark} ]; do sleep 0.01; done;" if self.await_changes else ""
        return f"echo 'paced rows begin'; {wait} {self.feed_end}"

    def changed(self, change: tuple[Any, ...]) -> None:
        self.at_change(change)
        self._changes += 1
        if self._changes == self.await_changes:
            self.mark.touch()

    def collect(self, command: list[str]) -> str:
        folder = Path(command[command.index("--out") + 1])
        (folder / "summary.json").write_text(
            json.dumps({"faults": self.faults} | self.summary), encoding="utf-8"
        )
        (folder / "results.csv").write_text(RESULTS + self.paced_results, encoding="utf-8")
        return "echo incomplete; exit 1" if self.faults else "exit 0"


def folder(tmp_path: Path, name: str) -> Path:
    return tmp_path / "out" / "turns" / name


def done(tmp_path: Path, name: Scenario) -> ScenarioDone:
    return read_model(ScenarioDone, folder(tmp_path, name) / "done.json")
