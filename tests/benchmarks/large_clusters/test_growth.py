"""The exponent of growth follows from the runs that placed everything."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.large_clusters.growth import exponent, main, placing_times

if TYPE_CHECKING:
    from pathlib import Path


def run(scheduler: str, executors: int, placed: int, *seconds: float) -> dict[str, object]:
    return {"scheduler": scheduler, "executors": executors, "placed": placed, "seconds": seconds}


CLUSTERS = [
    {"name": "small", "runs": [run("ras", 10, 10, 1.0), run("stormplace", 10, 10, 0.5, 0.5)]},
    {"name": "large", "runs": [run("ras", 100, 100, 100.0), run("stormplace", 100, 90, 5.0)]},
    {"name": "larger", "runs": [run("ras", 1000, 1000, 10_000.0), run("stormplace", 1000, 1000, 100.0)]},
]


def test_times_of_all_rounds_count_and_incomplete_runs_do_not() -> None:
    assert placing_times(CLUSTERS) == {
        "ras": [(10, 1.0), (100, 100.0), (1000, 10_000.0)],
        "stormplace": [(10, 1.0), (1000, 100.0)],
    }


def test_the_exponent_is_that_of_a_power() -> None:
    assert exponent([(10, 1.0), (100, 100.0), (1000, 10_000.0)]) == pytest.approx(2.0)
    assert exponent([(10, 1.0), (1000, 100.0)]) == pytest.approx(1.0)
    assert math.isnan(exponent([(10, 1.0), (10, 2.0)]))


def test_what_is_left_out_is_named_and_a_picture_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "growth.png"
    report.write_text(json.dumps({"provenance": "here", "clusters": CLUSTERS}), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["growth", str(report), "--plot", str(picture)])
    main()
    assert capsys.readouterr().out.splitlines() == [
        "ras: exponent 2.00 over 3 runs",
        "stormplace: exponent 1.00 over 2 runs",
        "stormplace left executors of large unplaced",
    ]
    assert picture.stat().st_size > 0
