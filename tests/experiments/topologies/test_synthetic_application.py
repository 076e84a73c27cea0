"""A topology that makes its own tuples runs by the same turns as the taxi query."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.progress import StepProgress
from cli.synthetic.synthetic_input import Asked, read_application, to_workload
from experiments import running_lab
from experiments.evaluation.compared import Variant
from experiments.evaluation.evaluation_run import run_evaluation
from experiments.evaluation.synthetic_evaluation import SyntheticEvaluation
from experiments.series import Member, Series, run_series
from experiments.topologies.description import turn_under
from experiments.topologies.synthetic_application import synthetic_application
from experiments.turn_run import run_turn
from tests.experiments.lab_double import Lab

if TYPE_CHECKING:
    from lab.storm_config import SchedulerName

SITES = Path(__file__).parents[3] / "lab" / "sites" / "demo.toml"
HOSTS = ("uniroma2-1", "uniroma2-1", "us-east1-1", "uniroma2-1")
OPERATORS = tuple(f"operator-{number}" for number in range(1, 5))
UNDER: tuple[SchedulerName, ...] = ("even", "stormplace")
DIAMOND = read_application(None, Asked("diamond", 4, 10.0, 200.0, 2.0))
PATH = {
    "number": 1,
    "streams": [1, 3],
    "operators": ["operator-1", "operator-3", "operator-4"],
    "delays": {"tuples": 30, "p50_ms": 93.0, "p95_ms": 99.0},
}


def collect(command: list[str]) -> None:
    """Leave what `synthetic collect` leaves of a diamond, whose operators work for 2 ms."""
    workload = to_workload(DIAMOND, work="wait", tuples=10, warm_up_s=1.0, scale_rate=1.0)
    summary = {
        "run": command[command.index("--run") + 1],
        "workload": workload.to_conf(),
        "paths": [PATH],
        "response_time": PATH,
        "streams": [{"rate": None, "hop": None}] * len(workload.streams),
        "tuples": 30,
        "faults": [],
    }
    folder = Path(command[command.index("--out") + 1])
    tuples = [f"operator-4,{n},{n % 2},{100_000 * n},{93_000 if n % 2 else 8_000}\n" for n in range(60)]
    (folder / "tuples.csv").write_text("sink,n,path,emit_us,delay_us\n" + "".join(tuples), encoding="utf-8")
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")


def placement(_command: list[str]) -> str:
    executors = [
        {"component": component, "first_task": task, "last_task": task, "host": host, "port": 6700}
        for task, (component, host) in enumerate(zip(OPERATORS, HOSTS, strict=True), start=1)
    ]
    content = {"id": "d-1", "status": "ACTIVE", "scheduler_status": "", "executors": executors}
    return f"echo '{json.dumps(content)}'"


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run the diamond under two schedulers; return the lab and the topology's description."""
    lab = Lab(tmp_path, {"collect": collect, "placement": placement})
    monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
    topology = synthetic_application(
        "diamond",
        OPERATORS,
        SITES,
        ("--application=diamond", "--operators=4"),
        warm_up_s=5.0,
        ends=("operator-1",),
    )
    turns = {
        name: Member(name, partial(run_turn, turn=turn_under(name, topology, None, ends_at="site:uniroma2")))
        for name in UNDER
    }
    run_series(Series(SITES, turns), tmp_path / "lab", tmp_path, StepProgress(total=8))
    return lab, topology


def test_it_is_submitted_collected_and_killed_but_never_fed(ran: Any) -> None:
    lab, _ = ran
    assert [command[0] for command in lab.commands] == 2 * ["submit", "collect", "placement", "kill"]
    assert lab.groups == 2 * ["synthetic", "synthetic", "taxi", "taxi"]
    even, ours = lab.asked("submit")
    assert all(command[command.index("--workers") + 1] == "2" for command in (even, ours))
    assert even[-3:] == ["--application=diamond", "--operators=4", "--warm-up=5"]
    assert ours[-2:] == ["--pin", "operator-1=site:uniroma2"]
    assert "--pin" not in even
    assert all("--timeout=125" in command for command in lab.asked("collect"))


def test_what_is_expected_of_it_is_the_predicted_response_time(ran: Any, tmp_path: Path) -> None:
    """Three operators of 2 ms, and twice the delay between the two sites, one way."""
    _, topology = ran
    said: list[str] = []
    assert topology.verify(tmp_path / "expected", [tmp_path / name for name in UNDER], said.append)
    verdict = json.loads((tmp_path / "even" / "verdict.json").read_text(encoding="utf-8"))
    one_way_ms = running_lab.lab_sites(SITES).between_ms("uniroma2", "us-east1")
    assert verdict["predicted_ms"] == pytest.approx(3 * 2.0 + 2 * one_way_ms)
    assert verdict["deviation_ms"] == pytest.approx(93.0 - verdict["predicted_ms"])
    assert [line.partition(":")[0] for line in said] == list(UNDER)


def test_an_evaluation_runs_it_and_its_page_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The command line asks for a diamond; its counts verify it, and its page speaks of no row or query."""
    lab = Lab(tmp_path, {"collect": collect, "placement": placement})
    monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
    monkeypatch.setattr(sys, "argv", ["stormplace", "evaluate"])
    asked = ("--topology", "diamond", "--operators", "4", "--paced-rows", "30", "--sites", str(SITES))

    done = CliRunner().invoke(app, ["evaluate", *asked, "--out", str(tmp_path)])

    assert done.exit_code == 0, done.output
    assert [command[0] for command in lab.commands] == 2 * ["submit", "collect", "placement", "kill"]
    submitted = ["--application=diamond", "--rate=10.0", "--operators=4", "--tuples=30", "--warm-up=15"]
    assert lab.asked("submit")[0][-5:] == submitted
    assert lab.asked("submit")[1][-4:] == [
        *("--pin", "operator-1=site:uniroma2"),
        *("--pin", "operator-4=site:uniroma2"),
    ]
    confs = [json.loads(path.read_text(encoding="utf-8")) for path in tmp_path.glob("*/*/topology-conf.json")]
    assert sorted(conf.get("topology.stormplace.frozen", False) for conf in confs) == [False, True]
    page = next(tmp_path.glob("evaluation-*/report.html")).read_text(encoding="utf-8")
    words = re.sub(r"<svg .*?</svg>|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert "All answers are right" in words
    assert "30 tuples arrived, and the counts of 4 streams agree; -153.0 ms from the predicted" in words
    assert "<td class=number>93.0</td>" in words  # the median, and 246 ms predicted for these hosts
    assert "<td class=number>246.0</td>" in words
    assert re.search(r"\b(rows?|query|queries|taxi)\b", words) is None


def test_a_lost_tuple_makes_an_answer_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def lose(command: list[str]) -> None:
        collect(command)
        path = Path(command[command.index("--out") + 1]) / "summary.json"
        summary = json.loads(path.read_text(encoding="utf-8")) | {"faults": ["a -> b: 1 tuple lost"]}
        path.write_text(json.dumps(summary), encoding="utf-8")

    monkeypatch.setattr(
        running_lab, "LabClient", lambda _: Lab(tmp_path, {"collect": lose, "placement": placement})
    )
    workload = to_workload(DIAMOND, work="wait", tuples=30, warm_up_s=1.0, scale_rate=1.0)
    asked = SyntheticEvaluation("diamond", workload, ("--application=diamond",))

    finished = run_evaluation(asked, (Variant("even"),), SITES, tmp_path, StepProgress, command="x")

    assert not finished.right
    assert "even</strong>, diamond: a -&gt; b: 1 tuple lost" in finished.report.read_text(encoding="utf-8")
