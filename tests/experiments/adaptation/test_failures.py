"""What fails in the adaptation experiment, and what an interruption leaves, with a lab that is a double."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from cli.errors import UserError
from experiments.adaptation import adaptation_runner as runner
from experiments.adaptation import scenario_run as scenario
from experiments.folder_content import finished_turns
from experiments.topologies import taxi_query
from lab.errors import LabError
from replay.errors import DataError, MachineError
from tests.experiments.adaptation.world import AT_HOME, folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.experiments.adaptation.world import World


def test_a_feeder_that_fails_ends_its_scenario_alone(adaptation: Any, world: World, tmp_path: Path) -> None:
    """The query is killed, the network is put back, the next scenario runs, and the status is 1."""
    world.await_changes = 1
    world.feed_end = "echo no progress; exit 1"
    acts = {"feed": lambda command: world.feed(command) if "changes" in command else "echo paced rows begin"}
    with pytest.raises(
        UserError, match="changes: `taxi feed` on redis ended with status 1: no progress"
    ) as end:
        adaptation("changes,stable", acts=acts, rate=0.01, phase_s=600.0)
    assert end.value.status == 1
    lab = adaptation.lab
    assert lab.changes[-1] == ("delay", "uniroma2", "us-east1", 120.0)
    assert len(lab.asked("kill")) == 2
    assert [turn.name for turn in finished_turns(tmp_path / "out")] == ["stable"]


def test_a_step_that_fails_ends_the_feeder(adaptation: Any, world: World, tmp_path: Path) -> None:
    """The feeder would wait for ever for a change that cannot be made."""
    world.await_changes = 1
    world.hosts = AT_HOME
    with pytest.raises(UserError, match="changes: the query runs at uniroma2 alone"):
        adaptation("changes")
    assert all(process.poll() is not None for process in adaptation.lab.processes)
    assert len(adaptation.lab.asked("kill")) == 1
    assert not (folder(tmp_path, "changes") / "done.json").exists()


def test_a_feeder_that_ends_before_the_last_change_is_a_failure(adaptation: Any, world: World) -> None:
    """Nothing is collected then."""
    world.await_changes = 1
    with pytest.raises(UserError, match="`taxi feed` ended with 2 changes to come"):
        adaptation("changes", rate=0.01, phase_s=600.0)
    assert adaptation.lab.asked("collect") == []


def test_an_interruption_ends_the_feeder_and_the_lab(adaptation: Any, world: World, tmp_path: Path) -> None:
    """As Ctrl-C does in the midst of a change; nothing is put back in a lab that goes away."""

    def interrupt(change: tuple[Any, ...]) -> None:
        if change[0] == "isolate":
            raise KeyboardInterrupt

    world.await_changes = 3
    world.at_change = interrupt
    with pytest.raises(KeyboardInterrupt):
        adaptation("changes")
    lab = adaptation.lab
    assert (lab.ups, lab.downs) == (1, 1)
    assert lab.changes == [("delay", "uniroma2", "us-east1", 360.0)]
    assert all(process.poll() is not None for process in lab.processes)
    assert not (folder(tmp_path, "changes") / "done.json").exists()


def test_a_lab_that_refuses_ends_the_experiment(adaptation: Any, world: World) -> None:
    def refuse(_change: tuple[Any, ...]) -> None:
        raise LabError("the keeper is gone")

    world.await_changes = 1
    world.at_change = refuse
    with pytest.raises(UserError, match=r"the keeper is gone \(the same command goes on from here\)") as end:
        adaptation("changes,stable")
    assert end.value.status == 1
    assert adaptation.lab.downs == 1
    assert len(adaptation.lab.asked("submit")) == 1


def test_a_query_without_any_recorded_round_is_a_failure(
    adaptation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scenario, "planned_rounds", lambda *_: ())
    with pytest.raises(UserError, match="stable: the placement daemon has no record of taxi-1"):
        adaptation("stable")


def test_a_query_that_answered_fast_rows_alone_is_a_failure(
    adaptation: Any, world: World, tmp_path: Path
) -> None:
    """There is nothing to report on; the query is killed, and the next start tries again."""
    world.faults = ["no final entry: nothing new for 120 s after 76 results"]
    world.paced_results = ""
    with pytest.raises(
        UserError, match="stable: none of the paced rows has a result; no final entry: nothing new"
    ):
        adaptation("stable")
    assert len(adaptation.lab.asked("kill")) == 1
    assert not (folder(tmp_path, "stable") / "done.json").exists()
    world.faults, world.paced_results = [], "100,1,1,1,1,1\n"
    adaptation("stable")
    assert (folder(tmp_path, "stable") / "done.json").is_file()


def test_the_reason_is_given_when_the_lab_goes_while_rows_are_fed(adaptation: Any, world: World) -> None:
    """Neither killing the query nor putting the network back is tried in vain, or hides it."""

    def gone(change: tuple[Any, ...]) -> None:
        if change[0] == "isolate":
            adaptation.lab.state = "absent"

    world.await_changes = 2
    world.at_change = gone
    world.feed_end = "echo the last row; exit 1"
    with pytest.raises(UserError) as end:
        adaptation("changes,stable")
    assert str(end.value) == (
        "changes: `taxi feed` on redis ended with status 1: the last row; the lab has ended: the anchor "
        "was killed (see keeper.log) "
        "(the same command goes on from here)"
    )
    assert [change[0] for change in adaptation.lab.changes] == ["delay", "isolate"]


def test_a_lab_that_goes_between_two_scenarios_is_not_advised_to_be_started(adaptation: Any) -> None:
    """The failures before are listed as well."""

    def feed(command: list[str]) -> str:
        if "noise" in command:
            return "echo no progress; exit 1"
        return "echo paced rows begin"

    def gone(_what: tuple[Any, ...]) -> None:
        if len(adaptation.lab.asked("feed")) == 1:
            adaptation.lab.state = "absent"

    with pytest.raises(UserError) as end:
        adaptation("noise,stable", acts={"feed": feed, "await_ready": gone})
    assert str(end.value) == (
        "stable: the lab has ended: the anchor was killed (see keeper.log); failed before: noise: "
        "`taxi feed` on redis ended with status 1: no progress (the same command goes on from here)"
    )


def test_a_lab_that_refuses_to_be_put_back_does_not_hide_what_failed(adaptation: Any, world: World) -> None:
    def refuse(change: tuple[Any, ...]) -> None:
        if change[-1] == 120.0:
            raise LabError("the keeper is busy")

    world.await_changes = 1
    world.at_change = refuse
    world.feed_end = "echo no progress; exit 1"
    with pytest.raises(UserError, match=r"changes: `taxi feed` .*: no progress; the keeper is busy \("):
        adaptation("changes,stable", rate=0.01, phase_s=600.0)
    assert len(adaptation.lab.asked("submit")) == 1


def test_no_scenario_runs_on_a_lab_that_lacks_something(adaptation: Any, tmp_path: Path) -> None:
    def lacking(_what: tuple[Any, ...]) -> None:
        if adaptation.lab.asked("feed"):
            adaptation.lab.lacks = "supervisors (6 of 7)"

    degraded = (
        r"stable: lab degraded: not ready, missing: supervisors \(6 of 7\) \(the same command goes on from"
    )
    with pytest.raises(UserError, match=degraded) as end:
        adaptation("noise,stable", acts={"await_ready": lacking})
    assert end.value.status == 1
    assert [turn.name for turn in finished_turns(tmp_path / "out")] == ["noise"]
    assert adaptation.lab.downs == 1


def test_a_second_start_leaves_the_first_ones_lab_alone(adaptation: Any) -> None:
    """It is refused with status 2 while the first one feeds."""
    refused: list[UserError] = []

    def feed(_command: list[str]) -> str:
        first = adaptation.lab
        with pytest.raises(UserError, match="an experiment is running in") as end:
            adaptation("stable")
        refused.append(end.value)
        adaptation.lab = first
        assert (first.state, first.downs) == ("ready", 0)
        return "echo paced rows begin"

    adaptation("stable", acts={"feed": feed})
    assert [error.status for error in refused] == [2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_lab(adaptation: Any, number: signal.Signals) -> None:
    def feed(_command: list[str]) -> str:
        signal.raise_signal(number)
        return "exit 0"

    with pytest.raises(KeyboardInterrupt):
        adaptation("stable", acts={"feed": feed})
    assert (adaptation.lab.state, adaptation.lab.downs) == ("absent", 1)


def test_a_kept_file_that_stays_malformed_is_no_reason_to_go_on(
    adaptation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is named, and so are scenarios that failed."""

    def build(_out: Path) -> Path:
        raise DataError("turns/noise/rounds.jsonl, line 3: no number")

    monkeypatch.setattr(runner, "build", build)
    acts = {"feed": lambda command: "exit 1" if "noise" in command else "echo paced rows begin"}
    with pytest.raises(UserError) as end:
        adaptation("noise,stable", acts=acts)
    assert str(end.value) == (
        "turns/noise/rounds.jsonl, line 3: no number; failed before: noise: `taxi feed` on redis ended with "
        "status 1: no output"
    )
    assert end.value.status == 1


@pytest.mark.parametrize(("module", "step"), [(runner, "build"), (taxi_query, "evaluate_runs")])
def test_what_the_machine_lacks_is_a_reason_to_go_on(
    adaptation: Any, monkeypatch: pytest.MonkeyPatch, module: Any, step: str
) -> None:
    """Room for the report, say, or Java for the expected answers: it may be there the next time."""

    def lacking(*_: object, **__: object) -> Path:
        raise MachineError("report.md: cannot be written: No space left on device")

    monkeypatch.setattr(module, step, lacking)
    with pytest.raises(UserError, match=r"No space left on device \(the same command goes on from here\)"):
        adaptation("stable")


def test_a_keeper_that_falls_silent_and_ends_is_named_with_what_it_said_last(
    adaptation: Any, world: World
) -> None:
    def silent(_change: tuple[Any, ...]) -> None:
        adaptation.lab.state = "absent"
        raise LabError("the keeper does not answer")

    world.await_changes = 1
    world.at_change = silent
    with pytest.raises(UserError) as end:
        adaptation("changes,stable")
    assert str(end.value) == (
        "changes: the keeper does not answer; the lab has ended: the anchor was killed (see keeper.log) "
        "(the same command goes on from here)"
    )


def test_a_lab_that_goes_before_a_command_is_not_advised_to_be_started(adaptation: Any) -> None:
    def gone(_command: list[str]) -> str:
        adaptation.lab.state = "absent"
        return "echo paced rows begin"

    with pytest.raises(UserError) as end:
        adaptation("stable", acts={"feed": gone})
    assert str(end.value) == (
        "stable: the lab has ended: the anchor was killed (see keeper.log) "
        "(the same command goes on from here)"
    )


def test_a_file_of_a_scenario_that_cannot_be_written_ends_the_experiment(
    adaptation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its query runs in the lab, which goes; there is room again when the same command goes on."""

    def full(path: Path, _document: object) -> None:
        raise DataError(f"{path.name}: cannot be written: No space left on device")

    monkeypatch.setattr(scenario, "write_json", full)
    with pytest.raises(UserError, match=r"stable: done\.json: cannot be written: .* goes on from here\)"):
        adaptation("stable")
    assert adaptation.lab.downs == 1
