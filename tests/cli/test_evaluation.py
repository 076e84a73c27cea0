"""`evaluate`: what is refused before anything starts, how runs are named and fed, and the rows it takes."""

from __future__ import annotations

import gzip
import json
from contextlib import nullcontext
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.errors import UserError
from cli.evaluation import DATA, SITES
from cli.experiment.experiment_call import experiment_call
from cli.interrupt import INTERRUPTED_STATUS
from cli.progress import StepProgress
from experiments import running_lab
from experiments.busy import read_busy
from experiments.errors import ExperimentError
from experiments.evaluation import evaluation_run, taxi_evaluation
from experiments.evaluation.compared import Variant, read_variants
from experiments.evaluation.evaluated import Judged
from experiments.evaluation.evaluation_run import Finished, run_evaluation
from experiments.evaluation.taxi_evaluation import Feeding, TaxiEvaluation, read_feeding
from replay.compare.verdict import Difference, RunVerdict, Verdict
from tests.experiments.lab_double import Lab
from topologies.taxi.topology import component_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.evaluation.page.contents import Evaluation

RUNNER = CliRunner()
TAXI = TaxiEvaluation(data=DATA, minutes=None, seed=0, query="both", feeding=Feeding(10.0, 300, None))
VARIANTS = (Variant("even"), Variant("stormplace", "odp"))


def evaluated(asked: TaxiEvaluation, out: Path, variants: tuple[Variant, ...] = VARIANTS) -> Finished:
    return run_evaluation(asked, variants, SITES, out, StepProgress, command="stormplace evaluate")


NOTHING = Judged((), {"runs": [], "rounds": [], "changes": []})


def no_lab(*_: object) -> None:
    pytest.fail("a lab was started")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--query", "3"), "--query: '3' is not one of 1, 2, both"),
        (("--strategies", "even,fast"), "--strategies: 'fast' is not one of even, default, ras, stormplace"),
        (("--strategies", "even:odp"), "--strategies: 'even:odp' is not one of"),
        (("--strategies", "stormplace:fast"), "--strategies: 'fast' is not one of auto, greedy"),
        (("--strategies", "ras,ras"), "--strategies: ras is named twice"),
        (("--speed", "2", "--rate", "5"), "--speed: it is for all rows"),
        (("--rate", "inf"), "--rate: inf is not a finite number"),
        (("--data", "/nowhere/rows.csv"), "--data: no such file or folder: /nowhere/rows.csv"),
        (("--data", str(DATA), "--generate", "5"), "--generate: it makes rows up, so --data does not go"),
        (("--seed", "5"), "--seed: it is for made-up rows, so it needs --generate"),
        (("--sites", "/nowhere/sites.toml"), "--sites: no such file: /nowhere/sites.toml"),
        (("--operators", "6"), "--operators: it is for applications, so it needs another --topology"),
        (
            ("--topology", "ring"),
            "--topology: 'ring' is not one of taxi, sequential, diamond, replicated, and no",
        ),
        (
            ("--topology", "diamond", "--query", "1"),
            "--query: it is for the taxi queries, so --topology diamond",
        ),
        (("--topology", "diamond", "--operators", "1"), "--operators: "),
    ],
)
def test_bad_options_are_refused_and_leave_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(running_lab, "LabClient", no_lab)
    out = tmp_path / "runs"

    result = RUNNER.invoke(app, ["evaluate", "--out", str(out), *options])

    assert isinstance(result.exception, UserError), result.output
    assert str(result.exception).startswith(sentence)
    assert result.exception.status == 2
    assert not out.exists()


def test_a_file_of_no_known_format_is_refused_before_a_folder_is_made(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("one,two\n")

    with pytest.raises(ExperimentError, match=r"rows\.csv: line 1: of none of the known formats"):
        evaluated(replace(TAXI, data=data), tmp_path / "runs")

    assert not (tmp_path / "runs").exists()


def test_runs_have_names_of_their_own() -> None:
    variants = read_variants("even, stormplace,stormplace:odp")

    assert [variant.name for variant in variants] == ["even", "stormplace", "stormplace-odp"]
    assert variants[2].strategy == "odp"


def test_rows_are_fed_at_ten_a_second_by_default() -> None:
    assert read_feeding(None, None, None) == Feeding(10.0, 300, None)
    assert read_feeding(2.5, 7, None) == Feeding(2.5, 7, None)
    assert read_feeding(None, None, 60.0) == Feeding(None, 0, 60.0)


def test_a_file_of_17_columns_is_taken_as_it_is(tmp_path: Path) -> None:
    rows = TAXI.rows(tmp_path, print)

    assert (rows.path, rows.count) == (DATA.resolve(), 10_004)
    assert list(tmp_path.iterdir()) == []


def test_more_paced_rows_than_there_are_is_refused(tmp_path: Path) -> None:
    with gzip.open(DATA, "rb") as lines, (tmp_path / "few.csv").open("wb") as few:
        few.writelines(line for line, _ in zip(lines, range(20), strict=False))

    with pytest.raises(ExperimentError, match=r"--paced-rows: 300 is more than the 20 rows of .*few\.csv"):
        replace(TAXI, data=tmp_path / "few.csv").rows(tmp_path, print)


def test_rows_that_are_refused_leave_no_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="--paced-rows: 20000 is more than the 10004 rows"):
        evaluated(replace(TAXI, feeding=Feeding(10.0, 20_000, None)), tmp_path)

    assert list(tmp_path.iterdir()) == []


@pytest.fixture(autouse=True)
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of doubles have nothing to show."""
    monkeypatch.setattr(evaluation_run, "html", lambda _: "")


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Lab]:
    def make(**acts: Any) -> Lab:
        made = Lab(tmp_path, acts)
        monkeypatch.setattr(running_lab, "LabClient", lambda _: made)
        return made

    return make


def options(command: list[str]) -> dict[str, str]:
    """Return options and values of a command without positional arguments behind its first."""
    return dict(pairwise(command))


def test_each_strategy_gets_the_same_rows_on_the_same_lab(
    lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Only ours has pins; the last rows are paced; the lab is down before Spark starts."""
    used = lab()
    reported: list[list[str]] = []

    def judged(*asked: Any) -> Judged:
        runs = asked[-2]
        assert used.state == "absent"
        reported.append([folder.name for folder in runs.values()])
        assert None not in [read_busy(folder) for folder in runs.values()]
        return NOTHING

    monkeypatch.setattr(TaxiEvaluation, "_judged", judged)

    evaluated(TAXI, tmp_path)

    even, ours = used.asked("submit")
    for command, run in ((even, "even"), (ours, "stormplace-odp")):
        given = options(command)
        assert [given[name] for name in ("--run", "--workers", "--query")] == [run, "7", "both"]
    pins = [value for option, value in pairwise(ours) if option == "--pin"]
    home = "=site:uniroma2"
    assert pins == [f"dataSource{home}", f"globalRank{home}", f"globalAreaRank{home}"]
    assert "--pin" not in even
    confs = [
        json.loads(Path(options(command)["--conf"]).read_text(encoding="utf-8")) for command in (even, ours)
    ]
    assert [conf.get("topology.stormplace.strategy") for conf in confs] == [None, "odp"]
    for command in used.asked("feed"):
        assert command[command.index("--fast-rows") + 1 :: 2] == ["9704", "10.0", "300"]
        assert str(DATA.resolve()) in command
    assert [command[0] for command in used.commands] == 2 * ["submit", "feed", "collect", "placement", "kill"]
    assert used.scheduler == "stormplace"
    assert reported == [["even", "stormplace-odp"]]


def test_the_first_rows_at_a_speed_are_not_measured(
    lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """They would wait until the topology has started, which is no response time."""
    used = lab()
    monkeypatch.setattr(TaxiEvaluation, "_judged", lambda *_: NOTHING)

    evaluated(replace(TAXI, feeding=Feeding(None, 0, 60.0)), tmp_path, (Variant("ras"),))

    given = options(used.asked("replay")[0])
    assert [given[name] for name in ("--run", "--fast-rows", "--speed")] == ["ras", "1000", "60.0"]
    assert Path(given["--rejects"]).parent.name == "ras"
    assert Feeding(None, 0, 60.0).fast_rows(2_345) == 234


def interrupt(_command: list[str]) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("feed", "sentence", "status"),
    [
        (lambda _: "echo no rows; exit 1", r"`taxi feed` .* status 1: no rows \(details in ", 1),
        (interrupt, "interrupted; what was done so far is in ", INTERRUPTED_STATUS),
    ],
)
def test_the_lab_is_down_after_a_failure_and_after_ctrl_c(
    lab: Callable[..., Lab], tmp_path: Path, feed: Any, sentence: str, status: int
) -> None:
    used = lab(feed=feed)

    with pytest.raises(UserError, match=sentence) as refused, experiment_call():
        evaluated(TAXI, tmp_path)

    assert (used.state, used.ups, used.downs) == ("absent", 1, 1)
    assert refused.value.status == status


def everywhere(_command: list[str]) -> str:
    """Print a placement of both queries on the hosts of one site."""
    executors = [
        {"component": component, "first_task": task, "last_task": task, "host": "uniroma2-1", "port": 6700}
        for task, component in enumerate(component_ids(("1", "2")), start=1)
    ]
    return f"echo '{json.dumps({'id': 'taxi-1', 'executors': executors})}'"


def test_a_wrong_answer_to_one_query_makes_the_evaluation_wrong(
    lab: Callable[..., Lab], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Spark's part is a double: the right answers to query 1 and a difference in query 2 of one run."""
    lab(placement=everywhere)
    late = Difference("rows", 1, "query2/results.csv", 7, 3, None, "a", "b", "another row")

    def compare(_spark: object, _expected: Path, run: Path) -> RunVerdict:
        second = (late,) if run.name == "even" else ()
        return RunVerdict({2: Verdict(5, 5, 3, 4, second), 1: Verdict(5, 5, 3, 4)})

    shown: list[Evaluation] = []
    monkeypatch.setattr(taxi_evaluation, "spark_session", nullcontext)
    monkeypatch.setattr(taxi_evaluation, "write_expected", lambda *_, **__: None)
    monkeypatch.setattr(taxi_evaluation, "compare_queries", compare)
    monkeypatch.setattr(taxi_evaluation, "analyse", lambda *_: NOTHING.analysis)
    monkeypatch.setattr(evaluation_run, "html", lambda made: shown.append(made) or "")

    finished = evaluated(TAXI, tmp_path)

    assert not finished.right
    even, ours = shown[0].runs
    assert [(check.query, check.equal) for check in even.checks] == [(1, True), (2, False)]
    assert all(check.equal for check in ours.checks)
    assert even.checks[1].sentence == late.sentence()
    assert even.checks[0].sentence.startswith("5 rows answered, 3 states (one per drop-off instant)")
    assert list(shown[0].facts) == ["Workload", "Data", "Feeding", "Machine", "Cluster"]
    assert (
        shown[0].facts["Feeding"].startswith("9,704 rows as fast as they are consumed, then 300 rows at 10")
    )
    verdict = json.loads((finished.report.parent / "even" / "verdict.json").read_text(encoding="utf-8"))
    assert verdict["equal"] is False


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_rows_of_another_format_are_taken_in_and_cleaned(tmp_path: Path) -> None:
    data = DATA.with_name("nyc2013_jan14_subsample_senml_1000.csv.gz")
    few = replace(TAXI, data=data, feeding=Feeding(10.0, 5, None))

    rows = few.rows(tmp_path, print)

    assert (rows.path, rows.count) == (tmp_path / "trips", 978)
    assert replace(few, data=rows.path).rows(tmp_path, print).count == 978


@pytest.mark.spark
@pytest.mark.usefixtures("shared_session")
def test_made_up_rows_are_those_of_the_minutes_from_noon_on(tmp_path: Path) -> None:
    rows = replace(TAXI, minutes=2).rows(tmp_path, print)

    with gzip.open(rows.path, "rt") as lines:
        moments = [line.split(",")[3] for line in lines]
    assert len(moments) == rows.count
    assert moments == sorted(moments)
    assert moments[0].startswith("2013-01-14 12:00:")
    assert moments[-1].startswith("2013-01-14 12:01:")
    assert [path.name for path in tmp_path.iterdir()] == [rows.path.name]
