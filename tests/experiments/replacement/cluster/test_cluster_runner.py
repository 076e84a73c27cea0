"""The experiment on re-placement with a lab that is a double: order of events, failures, going on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cli.progress import StepProgress
from experiments import running_lab
from experiments.errors import ExperimentError
from experiments.folder_content import read_model
from experiments.replacement.cluster import cluster_runner as runner
from experiments.replacement.cluster import cluster_turn
from experiments.replacement.cluster.cluster_runner import run_replacement
from experiments.replacement.cluster.cluster_settings import ReplacementSettings
from experiments.replacement.cluster.kept import ReplacementDone, read_lab_events
from experiments.replacement.cluster.variants import turns
from tests.experiments.lab_double import Lab
from tests.experiments.replacement.cluster.made import BEFORE, CHAIN, SITES, planned

if TYPE_CHECKING:
    from collections.abc import Callable

SETTINGS = ReplacementSettings(CHAIN, SITES, run_s=0.2, still_s=0.2, drain_s=0.2, warm_up_s=0.0, settle_s=0.0)
PLACED = {"id": "chain-1", "executors": []}


class World:
    """The lab's answers; collecting ends when the lab has changed as often as it is to be."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "changed"
        self.done: list[str] = []
        self.changes_left = 1
        self.first_tuple = "echo synthetic"
        self.drained = "exit 0"

    def acts(self) -> dict[str, Any]:
        return {
            "join": lambda what: self._changed(" ".join(what)),
            "leave": lambda what: self.done.append(" ".join(what)),
            "submit": self._submit,
            "XREAD": self._wait,
            "--site": self._drain,
            "--all": lambda _: self.done.append("undrain all"),
            "collect": self._collect,
            "placement": lambda _: f"echo '{json.dumps(PLACED)}'",
            "chain": lambda _: "echo '{}'",
            "kill": lambda _: self.done.append("kill"),
        }

    def _submit(self, _command: list[str]) -> None:
        self.mark.unlink(missing_ok=True)
        self.done.append("submit")

    def _wait(self, command: list[str]) -> str:
        self.done.append("first tuple")
        return f"{self.first_tuple} {command[-2]}"

    def _changed(self, what: str) -> None:
        self.done.append(what)
        self.changes_left -= 1
        if self.changes_left == 0:
            self.mark.touch()

    def _drain(self, command: list[str]) -> str:
        self._changed("drain" if "--wait" in command else "undrain")
        return self.drained if "--wait" in command else "exit 0"

    def _collect(self, command: list[str]) -> str:
        self.done.append("collect")
        folder = Path(command[command.index("--out") + 1])
        (folder / "summary.json").write_text("{}", encoding="utf-8")
        return f"while [ ! -e {self.mark} ]; do sleep 0.01; done; echo incomplete; exit 1"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World) -> Callable[[str], Lab]:
    """Run variants with a lab of its own, without pictures; returns the lab."""
    monkeypatch.setattr(runner, "build", lambda out: out / "report.md")
    monkeypatch.setattr(runner, "verify", lambda *_: True)
    rounds = (planned(0.0, BEFORE),)
    monkeypatch.setattr(cluster_turn, "planned_rounds", lambda *_: rounds)

    def start(only: str) -> Lab:
        lab = Lab(tmp_path / "lab", world.acts())
        monkeypatch.setattr(running_lab, "LabClient", lambda _folder: lab)
        run_replacement(SETTINGS, turns(only, 1), tmp_path / "out", StepProgress)
        return lab

    return start


def test_the_late_host_leaves_before_a_turn_and_joins_while_tuples_come(
    run: Callable[[str], Lab], world: World, tmp_path: Path
) -> None:
    """What a turn lacks is for the report: it is finished although collecting names faults."""
    lab = run("dynamic")
    assert world.done == ["leave fog-2", "submit", "first tuple", "collect", "join fog-2", "kill"]
    turn = tmp_path / "out" / "turns" / "dynamic-1"
    assert [each.kind for each in read_lab_events(turn / "events.json")] == ["join"]
    done = read_model(ReplacementDone, turn / "done.json")
    assert (done.variant, done.topology_id, done.restarts_per_round) == ("dynamic", "chain-1", 32)
    assert (turn / "instance.json").read_bytes() == CHAIN.read_bytes()
    assert lab.downs == 1
    world.done.clear()
    run("dynamic")
    assert world.done == []  # finished turns stay


def test_storms_own_schedulers_are_asked_for_no_plan(run: Callable[[str], Lab]) -> None:
    lab = run("even")
    assert lab.scheduler == "even"
    assert "plan" not in lab.groups


def test_a_drain_begins_with_all_hosts_and_is_given_back(
    run: Callable[[str], Lab], world: World, tmp_path: Path
) -> None:
    """A drain that does not empty the site in time is noted, and the turn goes on."""
    world.changes_left = 3
    world.drained = "echo 'stormplace: not empty'; exit 3"
    run("drain")
    assert world.done == ["join fog-2", "submit", "first tuple", "collect", "drain", "undrain", "kill"]
    drain, undrain = read_lab_events(tmp_path / "out" / "turns" / "drain-1" / "events.json")
    assert drain.failure is not None
    assert "not empty" in drain.failure
    assert undrain.failure is None


def test_a_turn_without_any_tuple_fails_and_leaves_nothing(
    run: Callable[[str], Lab], world: World, tmp_path: Path
) -> None:
    world.first_tuple = "exit 0 # the read that waits ran out"
    with pytest.raises(ExperimentError, match="dynamic-1: no tuple came to the sink within 300 s"):
        run("dynamic")
    assert world.done == ["leave fog-2", "submit", "first tuple", "kill"]
    assert not (tmp_path / "out" / "turns" / "dynamic-1" / "done.json").exists()
