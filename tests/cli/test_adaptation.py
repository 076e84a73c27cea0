"""The adaptation experiment's flow with a lab that is a double: the network changes while the feeder runs."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from cli.experiment import flow
from cli.experiment.adaptation import runner, scenario
from cli.experiment.adaptation.runner import run_adaptation
from cli.experiment.adaptation.settings import AdaptationSettings, chosen
from lab.errors import LabError
from replay.adaptation.kept import PlannedRound, ScenarioDone, read_events, read_rounds
from replay.experiment_folder import finished_turns, read_model
from tests.cli.lab_double import Lab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from replay.adaptation.kept import Scenario

SITES = Path(__file__).parents[2] / "lab" / "sites" / "demo.toml"
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


def placement(hosts: Sequence[str]) -> str:
    executors = [
        {"component": f"c{index}", "first_task": index, "host": host} for index, host in enumerate(hosts)
    ]
    return f"echo '{json.dumps({'id': 'taxi-1', 'executors': executors})}'"


class World:
    """The lab's answers: the feeder waits until a number of changes was made, then ends as it is told."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "changed"
        self.await_changes = 0
        self.feed_end = "exit 0"
        self.hosts: Sequence[str] = HOSTS
        self.faults: list[str] = []
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
        (folder / "summary.json").write_text(json.dumps({"faults": self.faults}), encoding="utf-8")
        return "echo incomplete; exit 1" if self.faults else "exit 0"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World) -> Any:
    """Run scenarios with a lab of its own, without Spark and pictures; returns the lab."""
    data = tmp_path / "rows.csv"
    data.write_text("row\n" * 100, encoding="utf-8")
    monkeypatch.setattr(runner, "build", lambda out: out / "report.md")
    monkeypatch.setattr(runner, "_expect", lambda *_: None)
    monkeypatch.setattr(scenario, "planned_rounds", lambda *_: (ROUND,))
    usual: dict[str, Any] = {
        "strategy": "ils",
        "rate": 10.0,
        "steady_rate": 20.0,
        "calm_s": 0.1,
        "phase_s": 0.1,
        "noise_min": 0.01,
        "stable_min": 0.02,
        "settle_s": 0.0,
        "seed": 1,
    }

    def run(only: str, acts: dict[str, Any] | None = None, **changes: Any) -> Lab:
        lab = Lab(tmp_path, world.acts() | (acts or {}))
        monkeypatch.setattr(flow, "LabClient", lambda _: lab)
        run.lab = lab  # type: ignore[attr-defined]  # for runs that end with an exception
        run_adaptation(AdaptationSettings(data, SITES, **usual | changes), chosen(only), tmp_path / "out")
        return lab

    return run


def folder(tmp_path: Path, name: str) -> Path:
    return tmp_path / "out" / "turns" / name


def done(tmp_path: Path, name: Scenario) -> ScenarioDone:
    return read_model(ScenarioDone, folder(tmp_path, name) / "done.json")


def test_the_network_changes_while_rows_are_fed_and_is_put_back(
    experiment: Any, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most executors beyond home run at us-east1. The feeder ends after the third change."""
    world.await_changes = 3
    lab = experiment("changes")
    assert lab.changes == [
        ("delay", "uniroma2", "us-east1", 360.0),
        ("isolate", "us-east1"),
        ("rejoin", "us-east1"),
        ("delay", "uniroma2", "us-east1", 120.0),
    ]
    events = read_events(folder(tmp_path, "changes") / "events.json")
    assert [event.kind for event in events] == ["delay", "isolate", "rejoin", "restore"]
    kept = done(tmp_path, "changes")
    assert kept.started_s <= events[0].time_s <= events[2].time_s <= kept.ended_s <= events[3].time_s
    told = capsys.readouterr()
    assert "changes: us-east1 is cut off from all other sites" in told.err
    assert told.out == f"report: {tmp_path / 'out' / 'report.md'}\n"
    assert (lab.ups, lab.downs, lab.scheduler) == (1, 1, "stormplace")


def test_a_scenario_asks_for_acking_pins_and_rows_and_keeps_what_it_was(
    experiment: Any, tmp_path: Path
) -> None:
    """Source and sink on one host, not frozen; all rows but those of the scenario's time are fed fast."""
    lab = experiment("stable")
    (submit,) = lab.asked("submit")
    pinned = [value for option, value in pairwise(submit) if option == "--pin"]
    assert pinned == ["dataSource=host:uniroma2-1", "globalRank=host:uniroma2-1"]
    assert submit[submit.index("--workers") + 1] == "5"
    conf = json.loads((folder(tmp_path, "stable") / "topology-conf.json").read_text(encoding="utf-8"))
    assert conf["topology.stormplace.strategy"] == "ils"
    assert conf["topology.stormplace.weights"] == {"response_time": 1.0}
    assert "topology.stormplace.frozen" not in conf
    assert (conf["taxi.replay"], conf["topology.acker.executors"]) == (True, 1)
    assert conf["topology.message.timeout.secs"] == 15
    (feed,) = lab.asked("feed")
    assert feed[feed.index("--fast-rows") :][1::2] == ["76", "20.0", "24"]
    kept = done(tmp_path, "stable")
    assert (kept.rate, kept.fast_rows, kept.paced_rows) == (20.0, 76, 24)
    assert (kept.home, kept.sites) == ("uniroma2", ("uniroma2", "europe-west1", "us-east1"))
    assert (kept.topology_id, kept.faults) == ("taxi-1", ())
    settings = json.loads((tmp_path / "out" / "experiment.json").read_text(encoding="utf-8"))
    assert settings["experiment"] == "adaptation"
    assert kept.settings == settings
    assert read_rounds(folder(tmp_path, "stable") / "rounds.jsonl") == (ROUND,)
    assert json.loads((folder(tmp_path, "stable") / "placement.json").read_text())["id"] == "taxi-1"


def test_nothing_happens_in_the_stable_scenario(experiment: Any, tmp_path: Path) -> None:
    assert experiment("stable").changes == []
    assert read_events(folder(tmp_path, "stable") / "events.json") == ()


def test_noise_changes_every_delay_and_is_taken_away_at_the_end(
    experiment: Any, world: World, tmp_path: Path
) -> None:
    world.await_changes = 3
    lab = experiment("noise")
    drawn, back = lab.changes[:3], lab.changes[3:]
    true_ms = {
        ("uniroma2", "europe-west1"): 28.0,
        ("uniroma2", "us-east1"): 120.0,
        ("europe-west1", "us-east1"): 93.0,
    }
    assert back == [("delay", *pair, ms) for pair, ms in true_ms.items()]
    assert [change[1:3] for change in drawn] == list(true_ms)
    assert all(change[3] != true_ms[change[1:3]] for change in drawn)
    events = read_events(folder(tmp_path, "noise") / "events.json")
    assert [event.kind for event in events] == ["noise", "restore"]


def test_finished_scenarios_are_not_run_again(experiment: Any, tmp_path: Path) -> None:
    """Neither their commands nor, when nothing is left to do, the lab."""
    experiment("stable")
    second = experiment("noise,stable", acts={"feed": lambda _: "echo paced rows begin"})
    assert [command[command.index("--run") + 1] for command in second.asked("submit")] == ["noise"]
    assert [turn.name for turn in finished_turns(tmp_path / "out")] == ["noise", "stable"]
    assert experiment("noise,stable").ups == 0


def test_a_feeder_that_fails_ends_its_scenario_alone(experiment: Any, world: World, tmp_path: Path) -> None:
    """The query is killed, the network is put back, the next scenario runs, and the status is 1."""
    world.await_changes = 1
    world.feed_end = "echo no progress; exit 1"
    acts = {"feed": lambda command: world.feed(command) if "changes" in command else "echo paced rows begin"}
    with pytest.raises(
        UserError, match="changes: `taxi feed` on redis ended with status 1: no progress"
    ) as end:
        experiment("changes,stable", acts=acts, rate=0.01, phase_s=600.0)
    assert end.value.status == 1
    lab = experiment.lab
    assert lab.changes[-1] == ("delay", "uniroma2", "us-east1", 120.0)
    assert len(lab.asked("kill")) == 2
    assert [turn.name for turn in finished_turns(tmp_path / "out")] == ["stable"]


def test_a_step_that_fails_ends_the_feeder(experiment: Any, world: World, tmp_path: Path) -> None:
    """The feeder would wait for ever for a change that nobody can make."""
    world.await_changes = 1
    world.hosts = AT_HOME
    with pytest.raises(UserError, match="changes: the query runs at uniroma2 alone"):
        experiment("changes")
    assert all(process.poll() is not None for process in experiment.lab.processes)
    assert len(experiment.lab.asked("kill")) == 1
    assert not (folder(tmp_path, "changes") / "done.json").exists()


def test_a_feeder_that_ends_before_the_last_change_is_a_failure(experiment: Any, world: World) -> None:
    world.await_changes = 1
    with pytest.raises(UserError, match="`taxi feed` ended with 2 changes of the network to come"):
        experiment("changes", rate=0.01, phase_s=600.0)


def test_an_interruption_ends_the_feeder_and_the_lab(experiment: Any, world: World, tmp_path: Path) -> None:
    """As Ctrl-C does in the midst of a change; nothing is put back in a lab that goes away."""

    def interrupt(change: tuple[Any, ...]) -> None:
        if change[0] == "isolate":
            raise KeyboardInterrupt

    world.await_changes = 3
    world.at_change = interrupt
    with pytest.raises(KeyboardInterrupt):
        experiment("changes")
    lab = experiment.lab
    assert (lab.ups, lab.downs) == (1, 1)
    assert lab.changes == [("delay", "uniroma2", "us-east1", 360.0)]
    assert all(process.poll() is not None for process in lab.processes)
    assert not (folder(tmp_path, "changes") / "done.json").exists()


def test_a_lab_that_refuses_ends_the_experiment(experiment: Any, world: World) -> None:
    def refuse(_change: tuple[Any, ...]) -> None:
        raise LabError("the keeper is gone")

    world.await_changes = 1
    world.at_change = refuse
    with pytest.raises(UserError, match=r"the keeper is gone \(the same command goes on from here\)") as end:
        experiment("changes,stable")
    assert end.value.status == 1
    assert experiment.lab.downs == 1
    assert len(experiment.lab.asked("submit")) == 1


def test_missing_answers_are_kept_as_a_finding(experiment: Any, world: World, tmp_path: Path) -> None:
    """`taxi collect` has written what there is, and ended with status 1."""
    world.faults = ["1200 rows passed the filter, but 1198 have a result"]
    experiment("stable")
    assert done(tmp_path, "stable").faults == tuple(world.faults)


def test_answers_that_cannot_be_collected_are_a_failure(experiment: Any) -> None:
    with pytest.raises(UserError, match="stable: `taxi collect` on redis ended with status 1: silence"):
        experiment("stable", acts={"collect": lambda _: "echo silence; exit 1"})


def test_a_query_without_any_recorded_round_is_a_failure(
    experiment: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario, "planned_rounds", lambda *_: ())
    with pytest.raises(UserError, match="stable: the placement daemon has no record of taxi-1"):
        experiment("stable")


def test_a_folder_of_another_experiment_is_refused(experiment: Any, tmp_path: Path) -> None:
    """Of another kind by its name; of other settings by their keys; the rest time is no difference."""
    experiment("stable")
    experiment("stable", settle_s=0.01)
    with pytest.raises(UserError, match=r"another strategy, seed \(experiment\.json\)"):
        experiment("stable", strategy="greedy", seed=2)
    (tmp_path / "out" / "experiment.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="holds the experiment response-time; choose another folder"):
        experiment("stable")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "changes,storm"], "--only: 'storm' is not one of changes, noise, stable"),
        (["--only", "noise,noise"], "--only: noise is named twice"),
        (["--strategy", "magic"], "--strategy: 'magic' is not one of "),
        (["--calm-s", "inf"], "--calm-s: inf is not a finite number"),
        (["--data", "absent.csv"], "--data: no such file: absent.csv"),
        (["--stable-min", "120"], "--stable-min: scenario stable: 7200 s at 2 rows/s are 14400 rows, more"),
        (["--phase-s", "300", "--only", "changes"], "--calm-s, --phase-s: scenario changes: 1050 s at 10 "),
    ],
)
def test_a_wrong_option_is_refused_by_its_name_before_anything_starts(
    options: list[str], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = CliRunner().invoke(app, ["experiment", "adaptation", "--out", str(out), *options])
    assert isinstance(ended.exception, UserError)
    assert ended.exception.status == 2
    assert str(ended.exception).startswith(message)
    assert not out.exists()
