"""The experiment's flow with a lab that is a double: what runs in which order, what interruptions leave."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bridge.wire.encoding import encode_response
from bridge.wire.messages import Decision, PlanResponse, TopologyPlan
from cli.commands import app
from cli.errors import UserError
from cli.experiment.experiment_call import experiment_call
from cli.progress import StepProgress
from experiments import running_lab
from experiments.folder_content import finished_turns
from experiments.response_time import planned, response_time_runner
from experiments.response_time.response_time_runner import run_experiment
from experiments.response_time.response_time_settings import ExperimentSettings
from experiments.response_time.variants import VARIANTS, chosen, turns
from experiments.topologies import taxi_query
from replay.analysis.kept_turn import Planned
from tests.experiments.lab_double import Lab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.response_time.variants import VariantTurn

SITES = Path(__file__).parents[2] / "lab" / "sites" / "response-time.toml"
PLANNED = Planned(
    plan_ms=5.0,
    response_time_ms=60.0,
    objective=0.1,
    bound=None,
    timed_out=False,
    status="placed",
    hosts={2: "uniroma2-1"},
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("row\n" * 100, encoding="utf-8")
    return path


def settings(data: Path, **changes: Any) -> ExperimentSettings:
    usual = {"rate": 10.0, "warm_up_s": 1.0, "measure_s": 2.0, "settle_s": 0.0, "seed": 1}
    return ExperimentSettings(data, SITES, **usual | changes)


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, data: Path) -> Any:
    """Run the experiment with a lab of its own, without Spark and pictures; returns the lab."""
    monkeypatch.setattr(taxi_query, "evaluate_runs", lambda *_, **__: [])
    monkeypatch.setattr(response_time_runner, "build", lambda out: out / "report.md")
    monkeypatch.setattr(planned, "find_planned", lambda *_: PLANNED)

    def run(
        order: Sequence[VariantTurn],
        acts: dict[str, Any] | None = None,
        *,
        left: bool = False,
        **changes: Any,
    ) -> Lab:
        lab = Lab(tmp_path, acts or {})
        lab.state = "ready" if left else "absent"
        monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
        run.lab = lab  # type: ignore[attr-defined]  # for runs that end with an exception
        with experiment_call():
            run_experiment(settings(data, **changes), order, tmp_path / "out", StepProgress)
        return lab

    return run


def labels(out: Path) -> list[str]:
    return [folder.name for folder in finished_turns(out)]


@given(
    seed=st.integers(0, 10_000),
    some=st.sets(st.sampled_from([variant.name for variant in VARIANTS]), min_size=1),
)
def test_a_choice_of_variants_leaves_the_order_as_it_is(seed: int, some: set[str]) -> None:
    """Repetition by repetition, every variant once in each."""
    whole = turns(VARIANTS, 2, seed)
    part = turns(chosen(",".join(sorted(some))), 2, seed)
    assert part == tuple(turn for turn in whole if turn.variant.name in some)
    for repetition in (1, 2):
        names = [turn.variant.name for turn in whole if turn.repetition == repetition]
        assert sorted(names) == sorted(variant.name for variant in VARIANTS)
    assert [turn.repetition for turn in whole] == [1] * len(VARIANTS) + [2] * len(VARIANTS)


def test_the_seed_shuffles() -> None:
    assert len({turns(VARIANTS, 2, seed) for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--only", "odp,magic"], "--only: 'magic' is not one of odp, "),
        (["--only", "odp,odp"], "--only: odp is named twice"),
        (["--measure-s", "inf"], "--measure-s: inf is not a finite number"),
        (["--sites", "absent.toml"], "--sites: no such file: absent.toml"),
        (["--measure-s", "1200"], "12150 rows, more than the 10004"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name_before_anything_starts(
    options: list[str], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["experiment", "response-time", "--out", str(out), *options])
    assert isinstance(done.exception, UserError)
    assert done.exception.status == 2
    with pytest.raises(UserError, match=message):
        raise done.exception
    assert not out.exists()


def test_a_simulation_refuses_a_report_that_could_not_be_written(tmp_path: Path) -> None:
    """At once, not after minutes of work."""
    taken = tmp_path / "taken"
    taken.write_text("", encoding="utf-8")
    done = CliRunner().invoke(app, ["experiment", "replacement-simulation", "--out", str(taken)])
    assert isinstance(done.exception, UserError)
    assert f"{taken} is no folder" in str(done.exception)
    assert taken.read_text(encoding="utf-8") == ""


def test_a_turn_asks_for_strategy_pins_and_rows_and_keeps_what_it_was(
    experiment: Any, tmp_path: Path
) -> None:
    """Source and sink on one host; the first rows fast, then warm-up and measured rows at the rate."""
    lab = experiment(turns(chosen("ils"), 1, 1))
    (submit,) = lab.asked("submit")
    pinned = [value for option, value in pairwise(submit) if option == "--pin"]
    assert pinned == ["dataSource=host:uniroma2-1", "globalRank=host:uniroma2-1"]
    folder = tmp_path / "out" / "turns" / "ils-1"
    conf = json.loads((folder / "topology-conf.json").read_text(encoding="utf-8"))
    assert conf["topology.stormplace.strategy"] == "ils"
    assert conf["topology.stormplace.weights"] == {"response_time": 1.0}
    assert conf["topology.stormplace.frozen"] is True
    (feed,) = lab.asked("feed")
    assert feed[feed.index("--fast-rows") :][1::2] == ["70", "10.0", "30"]
    done = json.loads((folder / "done.json").read_text(encoding="utf-8"))
    assert (done["fast_rows"], done["warm_up_rows"], done["measured_rows"]) == (70, 10, 20)
    assert json.loads((folder / "planned.json").read_text(encoding="utf-8")) == PLANNED.model_dump(
        mode="json"
    )


def test_storms_own_schedulers_get_no_pins_and_none_of_our_settings(experiment: Any, tmp_path: Path) -> None:
    lab = experiment(turns(chosen("even,default,ras"), 1, 1))
    assert all("--pin" not in command for command in lab.asked("submit"))
    for name in ("even", "default", "ras"):
        folder = tmp_path / "out" / "turns" / f"{name}-1"
        conf = json.loads((folder / "topology-conf.json").read_text(encoding="utf-8"))
        assert not any(key.startswith("topology.stormplace") for key in conf)
        assert not (folder / "planned.json").exists()
        assert json.loads((folder / "done.json").read_text(encoding="utf-8"))["scheduler"] == name


def test_finished_turns_are_not_run_again(experiment: Any, tmp_path: Path) -> None:
    """Neither their commands nor, when nothing is left to do, the lab."""
    order = turns(chosen("odp,ils"), 1, 1)
    experiment(order[:1])
    second = experiment(order)
    assert [command[command.index("--run") + 1] for command in second.asked("submit")] == [order[1].label]
    assert labels(tmp_path / "out") == ["ils-1", "odp-1"]
    assert experiment(order).ups == 0


def test_a_lab_that_was_left_behind_ends_when_no_turn_is_due(experiment: Any) -> None:
    order = turns(chosen("odp"), 1, 1)
    experiment(order)
    lab = experiment(order, left=True)
    assert (lab.state, lab.ups, lab.downs) == ("absent", 0, 1)


def test_a_turn_that_fails_leaves_no_marker_and_the_next_one_runs(experiment: Any, tmp_path: Path) -> None:
    """The query is killed; the same command tries the turn again from an empty folder."""
    order = turns(chosen("odp,ils"), 1, 1)
    bad = order[0].label

    def feed(command: list[str]) -> str | None:
        return "echo no progress; exit 1" if bad in command else None

    with pytest.raises(
        UserError, match=f"{bad}: `taxi feed` on redis ended with status 1: no progress"
    ) as end:
        experiment(order, {"feed": feed})
    assert end.value.status == 1
    assert len(experiment.lab.asked("kill")) == 2
    assert labels(tmp_path / "out") == [order[1].label]
    stale = tmp_path / "out" / "turns" / bad / "results.csv"
    stale.touch()
    experiment(order)
    assert len(labels(tmp_path / "out")) == 2
    assert not stale.exists()


def test_processes_of_the_lab_that_ended_during_a_turn_are_kept(experiment: Any, tmp_path: Path) -> None:
    def feed(_command: list[str]) -> None:
        experiment.lab.ends = {"supervisor-a-1": 1}

    experiment(turns(chosen("odp"), 1, 1), {"feed": feed})
    done = json.loads((tmp_path / "out" / "turns" / "odp-1" / "done.json").read_text(encoding="utf-8"))
    assert done["process_ends"] == {"supervisor-a-1": 1}


def test_a_turn_on_a_lab_that_lacks_something_is_not_run(experiment: Any) -> None:
    def lacking(_what: object) -> None:
        experiment.lab.lacks = "agents (31 of 32)"

    with pytest.raises(UserError, match=r"odp-1: lab degraded: not ready, missing: agents \(31 of 32\)"):
        experiment(turns(chosen("odp"), 1, 1), {"await_ready": lacking})
    assert experiment.lab.commands == []


def test_an_experiment_without_any_finished_turn_says_why_and_writes_no_report(
    experiment: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match=r"turns failed, .* odp-1: `taxi feed`"):
        experiment(turns(chosen("odp"), 1, 1), {"feed": lambda _: "exit 1"})
    assert "report" not in capsys.readouterr().out


def test_a_query_that_runs_elsewhere_than_planned_is_no_result_of_the_strategy(experiment: Any) -> None:
    """Storm's own scheduler places it when the plan comes too late."""
    executor = {"component": "parser", "first_task": 2, "host": "us-east1-1"}
    ran = {"id": "taxi-1", "scheduler_status": "No plan: too late", "executors": [executor]}
    elsewhere = "parser ran on us-east1-1, planned was uniroma2-1; Nimbus says: No plan: too late"
    with pytest.raises(UserError, match=elsewhere):
        experiment(turns(chosen("odp"), 1, 1), {"placement": lambda _: f"echo '{json.dumps(ran)}'"})


def test_the_lab_is_taken_down_when_a_turn_is_interrupted(
    experiment: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def feed(_command: list[str]) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiment(turns(chosen("odp"), 1, 1), {"feed": feed})
    assert (experiment.lab.ups, experiment.lab.downs) == (1, 1)
    assert not (tmp_path / "out" / "turns" / "odp-1" / "done.json").exists()
    assert "stormplace: interrupted (the same command goes on from here)\n" in capsys.readouterr().err


def test_an_experiment_that_ends_with_its_lab_can_go_on(experiment: Any) -> None:
    """With what the turn ended with: that the query cannot be killed any more hides nothing."""

    def feed(_command: list[str]) -> str:
        experiment.lab.state = "absent"
        return "echo killed; exit 1"

    with pytest.raises(UserError) as end:
        experiment(turns(chosen("odp,ils"), 1, 1), {"feed": feed})
    assert str(end.value) == (
        "odp-1: `taxi feed` on redis ended with status 1: killed; the lab has ended: the anchor "
        "was killed (see keeper.log) "
        "(the same command goes on from here)"
    )
    assert end.value.status == 1
    assert len(experiment.lab.asked("submit")) == 1


def test_a_folder_of_another_experiment_is_refused(experiment: Any) -> None:
    """The keys that differ are named; more repetitions and other choices are no difference."""
    experiment(turns(chosen("odp"), 1, 1))
    experiment(turns(chosen("odp,ils"), 2, 1), settle_s=0.01)
    with pytest.raises(UserError, match=r"another rate, measure_s \(experiment\.json\)"):
        experiment(turns(chosen("odp"), 1, 1), rate=5.0, measure_s=3.0)


def test_a_folder_with_other_files_is_refused(experiment: Any, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "letter.txt").touch()
    with pytest.raises(UserError, match="holds other files"):
        experiment(turns(chosen("odp"), 1, 1))


def test_the_round_that_placed_a_topology_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first with slots for it: not those before it was there, nor those that kept it."""

    def record(topology: str, decision: Decision, plan_ms: float) -> Any:
        assigned = decision is Decision.ASSIGN
        plan = TopologyPlan(topology, decision, (1,) * assigned, (6700,) * assigned, "line", "odp", 0.1, 61.0)
        response = encode_response(PlanResponse(1, "r", (plan,)))
        request = SimpleNamespace(
            topologies=[SimpleNamespace(id=topology, executor_first_task=(4,))],
            supervisors=[SimpleNamespace(host="a-1"), SimpleNamespace(host="b-1")],
        )
        timings_ms = {"plan": plan_ms}
        return SimpleNamespace(request=request, response=response, timings_ms=timings_ms, timed_out=False)

    rounds = [
        record("other", Decision.ASSIGN, 1.0),
        record("taxi-1", Decision.UNPLACEABLE, 1.5),
        record("taxi-1", Decision.ASSIGN, 2.0),
        record("taxi-1", Decision.KEEP, 3.0),
        record("taxi-1", Decision.ASSIGN, 4.0),
    ]
    monkeypatch.setattr(planned, "read_records", lambda _: iter(rounds))
    monkeypatch.setattr(planned, "decode_request", lambda request: request)
    found = planned.find_planned(tmp_path, "taxi-1")
    assert found is not None
    assert (found.plan_ms, found.response_time_ms, found.status) == (2.0, 61.0, "line")
    assert found.hosts == {4: "b-1"}
    assert planned.find_planned(tmp_path, "absent") is None
    assert planned.find_planned(tmp_path / "nowhere", "taxi-1") is None
