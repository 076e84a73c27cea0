"""The adaptation experiment with a lab that is a double."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cli.experiment.experiment_call import experiment_call
from cli.progress import StepProgress
from experiments import running_lab
from experiments.adaptation import adaptation_runner as runner
from experiments.adaptation import scenario_run as scenario
from experiments.adaptation.adaptation_runner import run_adaptation
from experiments.adaptation.adaptation_settings import AdaptationSettings, scenarios
from experiments.topologies import taxi_query
from tests.experiments.adaptation.world import ROUND, SITES, World
from tests.experiments.lab_double import Lab

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def adaptation(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, world: World) -> Any:
    """Run scenarios with a lab of its own, without Spark and pictures; returns the lab."""
    data = tmp_path / "rows.csv"
    data.write_text("row\n" * 100, encoding="utf-8")
    monkeypatch.setattr(runner, "build", lambda out: out / "report.md")
    monkeypatch.setattr(taxi_query, "evaluate_runs", lambda *_, **__: [])
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

    def run(only: str, acts: dict[str, Any] | None = None, *, left: bool = False, **changes: Any) -> Lab:
        lab = Lab(tmp_path, world.acts() | (acts or {}))
        lab.state = "ready" if left else "absent"
        monkeypatch.setattr(running_lab, "LabClient", lambda _: lab)
        run.lab = lab  # type: ignore[attr-defined]  # for runs that end with an exception
        settings = AdaptationSettings(data, SITES, **usual | changes)
        with experiment_call():
            run_adaptation(settings, scenarios(only), tmp_path / "out", StepProgress)
        return lab

    return run
