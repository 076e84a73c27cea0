"""The daemon's settings state bandwidths, or not, and it starts anew where that is other than before."""

from __future__ import annotations

import tomllib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from experiments.lab_tiers.daemon_bandwidths import state_bandwidths
from experiments.running_lab import lab_sites
from tests.experiments.lab_tiers.made import SITES

if TYPE_CHECKING:
    from pathlib import Path


class Lab:
    """A lab whose daemon's settings are empty at first."""

    def __init__(self, folder: Path, scheduler: str) -> None:
        path = folder / "daemon.toml"
        path.touch()
        self.folder = SimpleNamespace(daemon_settings=path, records=folder / "records")
        self.scheduler = scheduler
        self.asked: list[str] = []

    def status(self) -> Any:
        return SimpleNamespace(scheduler=self.scheduler)

    def stop_daemon(self) -> None:
        self.asked.append("stop")

    def start_daemon(self) -> None:
        self.asked.append("start")

    def stated(self) -> dict[str, Any]:
        return tomllib.loads(self.folder.daemon_settings.read_text(encoding="utf-8"))["network"]


def test_without_bandwidths_all_else_is_told(tmp_path: Path) -> None:
    lab: Any = Lab(tmp_path, "stormplace")
    steps: Any = SimpleNamespace(lab=lab)
    state_bandwidths(steps, lab_sites(SITES), bandwidths=False)
    assert lab.stated()["site"][0] == {"name": "edge-a", "tier": "edge", "unit_cost": 0.6}
    assert not any("bandwidth_bytes_per_s" in link for link in lab.stated()["link"])
    state_bandwidths(steps, lab_sites(SITES), bandwidths=True)
    assert lab.stated()["site"][0]["uplink_bytes_per_s"] == 125000
    assert lab.asked == ["stop", "start"] * 2


def test_a_daemon_that_knows_goes_on(tmp_path: Path) -> None:
    lab: Any = Lab(tmp_path, "stormplace")
    steps: Any = SimpleNamespace(lab=lab)
    state_bandwidths(steps, lab_sites(SITES), bandwidths=True)
    lab.asked.clear()
    state_bandwidths(steps, lab_sites(SITES), bandwidths=True)
    assert lab.asked == []


@pytest.mark.parametrize("scheduler", ["ras", "even"])
def test_under_another_scheduler_there_is_no_daemon_to_start(tmp_path: Path, scheduler: str) -> None:
    """It starts with its settings when the scheduler is changed."""
    lab: Any = Lab(tmp_path, scheduler)
    steps: Any = SimpleNamespace(lab=lab)  # all that is used of it
    state_bandwidths(steps, lab_sites(SITES), bandwidths=True)
    assert lab.asked == []
    assert lab.stated()["site"]
