"""The adaptation experiment's flow with a lab that is a double: the network changes while the feeder runs."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from experiments.adaptation.report.kept import read_events, read_rounds
from experiments.folder_content import finished_turns
from tests.experiments.adaptation.world import ROUND, done, folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.experiments.adaptation.world import World


def test_the_network_changes_while_rows_are_fed_and_is_put_back(
    adaptation: Any, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Most executors beyond home run at us-east1. The feeder ends after the third change."""
    world.await_changes = 3
    lab = adaptation("changes")
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
    written = capsys.readouterr()
    assert "changes: us-east1 is cut off from all other sites" in written.err
    assert written.out == f"report: {tmp_path / 'out' / 'report.md'}\n"
    assert (lab.ups, lab.downs, lab.scheduler) == (1, 1, "stormplace")


def test_a_scenario_asks_for_acking_pins_and_rows_and_keeps_what_it_was(
    adaptation: Any, tmp_path: Path
) -> None:
    """Source and sink on one host, not frozen; all rows but those of the scenario's time are fed fast."""
    lab = adaptation("stable")
    (submit,) = lab.asked("submit")
    pinned = [value for option, value in pairwise(submit) if option == "--pin"]
    assert pinned == ["dataSource=host:uniroma2-1", "globalRank=host:uniroma2-1"]
    assert submit[submit.index("--workers") + 1] == "5"
    conf = json.loads((folder(tmp_path, "stable") / "topology-conf.json").read_text(encoding="utf-8"))
    assert conf["topology.stormplace.strategy"] == "ils"
    assert conf["topology.stormplace.weights"] == {"response_time": 1.0}
    assert "topology.stormplace.frozen" not in conf
    assert (conf["taxi.replay"], conf["topology.acker.executors"]) == (True, 1)
    assert conf["topology.message.timeout.secs"] == 10
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


def test_nothing_happens_in_the_stable_scenario(adaptation: Any, tmp_path: Path) -> None:
    assert adaptation("stable").changes == []
    assert read_events(folder(tmp_path, "stable") / "events.json") == ()


def test_noise_changes_every_delay_and_is_taken_away_at_the_end(
    adaptation: Any, world: World, tmp_path: Path
) -> None:
    world.await_changes = 3
    lab = adaptation("noise")
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


def test_finished_scenarios_are_not_run_again(adaptation: Any, tmp_path: Path) -> None:
    """Neither their commands nor, when nothing is left to do, the lab."""
    adaptation("stable")
    second = adaptation("noise,stable", acts={"feed": lambda _: "echo paced rows begin"})
    assert [command[command.index("--run") + 1] for command in second.asked("submit")] == ["noise"]
    assert [turn.name for turn in finished_turns(tmp_path / "out")] == ["noise", "stable"]
    assert adaptation("noise,stable").ups == 0


def test_a_lab_that_was_left_behind_ends_when_no_scenario_is_due(adaptation: Any) -> None:
    adaptation("stable")
    lab = adaptation("stable", left=True)
    assert (lab.state, lab.ups, lab.downs) == ("absent", 0, 1)


def test_missing_answers_are_kept_as_a_finding(adaptation: Any, world: World, tmp_path: Path) -> None:
    """`taxi collect` has written what there is, and ended with status 1."""
    world.faults = ["1200 rows passed the filter, but 1198 have a result"]
    adaptation("stable")
    assert done(tmp_path, "stable").faults == tuple(world.faults)


def test_a_query_that_never_comes_to_its_end_is_a_finding_too(
    adaptation: Any, world: World, tmp_path: Path
) -> None:
    """A row that is never done holds back the end, so that `taxi collect` gives up and says so."""
    world.faults = ["no final entry: nothing new for 120 s after 23 results"]
    world.summary = {"passed": None, "rejected": None, "results": 23}
    adaptation("stable")
    assert done(tmp_path, "stable").faults == tuple(world.faults)
    kept = json.loads((folder(tmp_path, "stable") / "summary.json").read_text(encoding="utf-8"))
    assert (kept["passed"], kept["results"]) == (None, 23)


def test_a_query_without_any_answer_is_a_failure(adaptation: Any) -> None:
    """`taxi collect` has written nothing: there is nothing to report on."""
    with pytest.raises(UserError, match="stable: `taxi collect` on redis ended with status 1: silence"):
        adaptation("stable", acts={"collect": lambda _: "echo silence; exit 1"})


def test_processes_of_the_lab_that_ended_meanwhile_are_kept(
    adaptation: Any, world: World, tmp_path: Path
) -> None:
    """By their names, from the submission on; those that ended before count no more."""

    def submit(_command: list[str]) -> None:
        adaptation.lab.ends = {"supervisor-a-1": 2, "nimbus": 1}

    def feed(command: list[str]) -> str:
        adaptation.lab.ends |= {"supervisor-a-1": 5}
        return world.feed(command)

    adaptation("stable", acts={"submit": submit, "feed": feed, "await_ready": lambda _: submit([])})
    assert done(tmp_path, "stable").process_ends == {"supervisor-a-1": 3}


def test_a_folder_of_another_experiment_is_refused(adaptation: Any, tmp_path: Path) -> None:
    """Of another kind by its name; of other settings by their keys; the rest time is no difference."""
    adaptation("stable")
    adaptation("stable", settle_s=0.01)
    with pytest.raises(UserError, match=r"another strategy, seed \(experiment\.json\)"):
        adaptation("stable", strategy="greedy", seed=2)
    (tmp_path / "out" / "experiment.json").write_text("{}", encoding="utf-8")
    with pytest.raises(UserError, match="holds the experiment response-time; choose another folder"):
        adaptation("stable")


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
