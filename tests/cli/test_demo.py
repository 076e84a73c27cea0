"""Rules of the demo that need no lab."""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from cli.commands import app
from cli.demo import SITES
from cli.errors import UserError
from cli.progress import StepProgress
from experiments import running_lab
from experiments.busy import read_busy
from experiments.demo import demo_run
from experiments.demo.demo_run import run_demo
from experiments.errors import ExperimentError
from experiments.lab_steps import LabSteps, StepError
from experiments.machine import provenance
from experiments.topologies import taxi_query as taxi_query_module
from experiments.topologies.description import turn_under
from experiments.topologies.taxi_query import at_rate, count_rows, taxi_query
from tests.experiments.lab_double import Lab


class Screen:
    """Keeps what a step shows."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, title: str) -> None:
        self.lines.append(title)

    def detail(self, text: str) -> None:
        self.lines.append(text)

    def stop(self) -> None:
        pass


class CpuTimes(NamedTuple):
    """Seconds of the processors since some moment."""

    user: float
    idle: float
    iowait: float


class OneHost:
    """Runs a fixed shell line instead of entering a lab."""

    def __init__(self, script: str) -> None:
        self._script = script

    def exec(self, _host: str, _argv: list[str], **popen: Any) -> Any:
        import subprocess  # noqa: PLC0415 (only this double starts processes)

        return subprocess.Popen(["sh", "-c", self._script], **popen)


@pytest.mark.parametrize(
    ("options", "place"),
    [
        (["--schedulers", "even,none"], "--schedulers"),
        (["--schedulers", ""], "--schedulers"),
        (["--schedulers", "even,even"], "--schedulers"),
        (["--rate", "inf"], "--rate"),
        (["--data", "absent.csv"], "--data"),
        (["--sites", "absent.toml"], "--sites"),
        (["--strategy", "magic"], "--strategy: 'magic' is not one of auto, greedy, "),
        (["--strategy", "greedy", "--schedulers", "even"], "--strategy: it is for the scheduler stormplace"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(options: list[str], place: str) -> None:
    result = CliRunner().invoke(app, ["demo", *options])
    assert isinstance(result.exception, UserError)
    assert place in str(result.exception)


def test_more_paced_rows_than_rows_are_refused_before_anything_starts(tmp_path: Path) -> None:
    data = tmp_path / "rows.csv"
    data.write_text("a\nb\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match="--paced-rows: 3 is more than the 2 rows"):
        run_demo(data, SITES, tmp_path / "runs", StepProgress, paced_rows=3, rate=10.0, schedulers=("even",))
    assert not (tmp_path / "runs").exists()


def test_a_wrong_site_file_is_refused_before_anything_starts(tmp_path: Path) -> None:
    data, sites = tmp_path / "rows.csv", tmp_path / "sites.toml"
    data.write_text("a\n", encoding="utf-8")
    sites.write_text("[[site]]\nname = 3\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match=r"sites\.toml") as refused:
        run_demo(data, sites, tmp_path / "runs", StepProgress, paced_rows=1, rate=10.0, schedulers=("even",))
    assert refused.value.status == 2
    assert not (tmp_path / "runs").exists()


def test_rows_are_counted_in_plain_and_packed_files(tmp_path: Path) -> None:
    plain, packed = tmp_path / "rows.csv", tmp_path / "rows.csv.gz"
    plain.write_bytes(b"a\nb\nc\n")
    packed.write_bytes(gzip.compress(b"a\nb\nc\n"))
    assert count_rows(plain) == count_rows(packed) == 3


def test_a_truncated_packed_file_is_refused_by_its_name(tmp_path: Path) -> None:
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(b"a\nb\nc\n" * 1000)[:-12])
    with pytest.raises(ExperimentError, match=r"rows\.csv\.gz"):
        count_rows(packed)


def test_a_failed_step_says_which_command_and_its_last_line(tmp_path: Path) -> None:
    lab = OneHost("echo first; echo 'stormplace: no Redis' >&2; exit 2")
    steps = LabSteps(lab, Screen())  # type: ignore[arg-type]  # a double
    query = taxi_query(tmp_path / "rows.csv")
    turn = turn_under("even", query, None, ends_at="site:here")
    with pytest.raises(StepError, match=r"`taxi submit` on nimbus ended with status 2: stormplace: no Redis"):
        steps.submit(turn, tmp_path)
    assert "first" in (tmp_path / "submit.log").read_text(encoding="utf-8")


def test_the_processors_count_from_the_paced_rows_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast rows before them use all there is; a quarter is used after them."""
    times = [CpuTimes(0.0, 0.0, 0.0), CpuTimes(100.0, 0.0, 0.0), CpuTimes(125.0, 70.0, 5.0)]
    monkeypatch.setattr("experiments.busy.psutil.cpu_times", lambda: times.pop(0))
    steps = LabSteps(OneHost("echo fast; echo paced rows begin; echo end"), Screen())  # type: ignore[arg-type]  # a double
    data = tmp_path / "rows.csv"
    feeding = at_rate(data, 100, 10.0, 20)
    turn = turn_under("even", taxi_query(data), feeding, ends_at="site:here")

    assert steps.feed(turn, feeding, tmp_path) == 0.25
    assert times == []


def test_results_carry_machine_date_and_commit() -> None:
    here = provenance()
    assert "cores" in here.machine
    assert here.date.count("-") == 2
    assert here.commit


@pytest.mark.parametrize("options", [[], ["--strategy", "greedy"]])
def test_the_option_is_for_stormplace_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, options: list[str]
) -> None:
    """It reaches the configuration of the topology."""
    lab = Lab(tmp_path, {})
    finished = SimpleNamespace(table="", markdown="", picture="", busy="")
    monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
    monkeypatch.setattr(taxi_query_module, "evaluate_runs", lambda *_, **__: [])
    monkeypatch.setattr(demo_run.comparison, "build", lambda *_: finished)
    done = CliRunner().invoke(app, ["demo", "--out", str(tmp_path), *options])
    assert done.exit_code == 0, done.output
    asked = {}
    for command in lab.asked("submit"):
        given = dict(pairwise(command))
        conf = json.loads(Path(given["--conf"]).read_text(encoding="utf-8"))
        asked[given["--run"]] = conf.get("topology.stormplace.strategy")
        assert ("--pin" in command) == (given["--run"] == "stormplace")
    assert asked == {"even": None, "ras": None, "stormplace": options[1] if options else None}
    assert lab.state == "absent"
    shares = [read_busy(folder) for folder in tmp_path.glob("*/*/")]
    assert len(shares) == 3
    assert None not in shares
