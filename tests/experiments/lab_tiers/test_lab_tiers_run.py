"""The experiment's flow with a lab that is a double: what is asked of it, and what a turn keeps."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from cli.errors import UserError
from cli.experiment.experiment_call import experiment_call
from cli.progress import StepProgress
from experiments import running_lab
from experiments.folder_content import read_model
from experiments.lab_tiers import lab_tiers_runner as runner
from experiments.lab_tiers import lab_tiers_turn
from experiments.lab_tiers.kept import TiersDone
from experiments.lab_tiers.planned_flows import PlannedFlows
from experiments.lab_tiers.uplinks import KeptUplinks
from experiments.lab_tiers.variants import turns
from experiments.topologies import taxi_query
from replay.analysis.kept_turn import Planned
from tests.experiments.lab_double import Lab
from tests.experiments.lab_tiers.made import settings

if TYPE_CHECKING:
    from pathlib import Path

FLOWS = PlannedFlows(time_s=1.0, measured=True, bytes_per_s={"edge-a": 5.0})
PLANNED = Planned(
    plan_ms=5.0,
    response_time_ms=60.0,
    objective=0.1,
    bound=None,
    timed_out=False,
    status="placed",
    hosts={},
)
EVERY_S = 0.02


class CountingLab(Lab):
    """A lab with an uplink that counts, and a daemon whose settings can be changed."""

    def __init__(self, folder: Path, acts: dict[str, Any]) -> None:
        super().__init__(folder, {"feed": self.feed} | acts)
        self._mark = folder / "looked"
        self._last_look = 0
        self.folder.daemon_settings = folder / "daemon.toml"
        self.folder.daemon_settings.touch()
        self.stated: list[bool] = []
        self._looks = 0

    def feed(self, command: list[str]) -> str:
        """Paced rows are fed until the uplink was looked at as often as it is to be."""
        rows, rate = (float(command[command.index(f"--{name}") + 1]) for name in ("paced-rows", "rate"))
        self._mark.unlink(missing_ok=True)
        self._last_look = self._looks + int(rows / rate / EVERY_S) + 1
        return f"echo 'paced rows begin'; while [ ! -e {self._mark} ]; do sleep 0.01; done"

    def status(self) -> Any:
        self._looks += 1
        if self._looks == self._last_look:
            self._mark.touch()
        found = super().status()
        return SimpleNamespace(**vars(found), links=[("uplink of edge-a", 100 * self._looks, 0)])

    def stop_daemon(self) -> None:
        text = self.folder.daemon_settings.read_text(encoding="utf-8")
        self.stated.append("uplink_bytes_per_s" in text)

    def start_daemon(self) -> None: ...


@pytest.fixture
def experiment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Run variants with a lab of its own, without Spark and pictures; returns the lab."""
    data = tmp_path / "rows.csv"
    data.write_text("row\n" * 120, encoding="utf-8")
    monkeypatch.setattr(runner, "build", lambda out: out / "report.md")
    monkeypatch.setattr(lab_tiers_turn, "EVERY_S", EVERY_S)
    monkeypatch.setattr(lab_tiers_turn, "UNSEEN_S", 0.0)
    monkeypatch.setattr(taxi_query, "evaluate_runs", lambda *_, **__: [])
    monkeypatch.setattr(lab_tiers_turn, "planned_as_it_ran", lambda *_: PLANNED)
    monkeypatch.setattr(lab_tiers_turn, "planned_flows", lambda *_: FLOWS)

    def run(only: str, acts: dict[str, Any] | None = None) -> CountingLab:
        lab = CountingLab(tmp_path, acts or {})
        monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
        with experiment_call():
            asked = settings(data, rate=500.0, overload_rate=1000.0, warm_up_s=0.02)
            runner.run_lab_tiers(asked, turns(only, 1), tmp_path / "out", StepProgress)
        return lab

    return run


def folder(tmp_path: Path, label: str) -> Path:
    return tmp_path / "out" / "turns" / label


def test_a_turn_keeps_uplinks_plan_and_what_it_was(experiment: Any, tmp_path: Path) -> None:
    lab = experiment("inop-search")
    assert (lab.ups, lab.downs, lab.stated) == (1, 1, [True])
    own = folder(tmp_path, "inop-search-1")
    done = read_model(TiersDone, own / "done.json")
    assert (done.rate, done.warm_up_rows, done.measured_rows, done.stated) == (500.0, 10, 90, True)
    kept = read_model(KeptUplinks, own / "uplinks.json")
    counts = [each.passed["edge-a"] for each in (*kept.idle, *kept.paced, *kept.still)]
    assert counts == sorted(counts)
    assert kept.paced[0].time_s <= done.fed_s <= kept.still[0].time_s
    assert json.loads((own / "flows.json").read_text(encoding="utf-8"))["bytes_per_s"] == {"edge-a": 5.0}


def test_the_daemon_is_told_anew_where_a_variant_wants_it(experiment: Any) -> None:
    """Of bandwidths in all but one; Storm's own scheduler has no daemon, and keeps no plan."""
    lab = experiment("inop-search,overload-blind,overload-heeding")
    assert lab.stated == [True, False, True]


def test_storms_own_scheduler_keeps_no_plan(experiment: Any, tmp_path: Path) -> None:
    lab = experiment("ras")
    assert (lab.stated, lab.scheduler) == ([], "ras")
    own = folder(tmp_path, "ras-1")
    assert (own / "done.json").is_file()
    assert not (own / "planned.json").exists()
    assert not (own / "flows.json").exists()


def test_a_turn_that_failed_is_tried_again_and_others_stay(experiment: Any, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="ras-1: `taxi submit`"):
        experiment("inop-search,ras", {"submit": lambda command: "exit 1" if "ras-1" in command else None})
    assert (folder(tmp_path, "inop-search-1") / "done.json").is_file()
    lab = experiment("inop-search,ras")
    assert [command[command.index("--run") + 1] for command in lab.asked("submit")] == ["ras-1"]
