"""The exponent of growth follows from the runs that placed everything in time."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.large_clusters.growth import fit, main, placing_times

if TYPE_CHECKING:
    from pathlib import Path


def run(
    scheduler: str, executors: int, placed: int, *seconds: float, processor: float = 0.0
) -> dict[str, Any]:
    return {
        "scheduler": scheduler,
        "executors": executors,
        "placed": placed,
        "seconds": seconds,
        "daemon_processor_s": processor,
    }


def cluster(executors: int, *runs: dict[str, Any]) -> dict[str, Any]:
    return {"name": "made", "executors": executors, "runs": runs}


CLUSTERS = [
    cluster(10, run("ras", 10, 10, 1.0), run("stormplace", 10, 10, 0.5, 0.5)),
    cluster(100, run("ras", 100, 100, 100.0), run("stormplace", 100, 90, 5.0)),
    cluster(1000, {"scheduler": "ras", "overdue_s": 60.0}, run("stormplace", 1000, 1000, 100.0)),
]


def test_times_of_all_rounds_count_and_incomplete_runs_do_not() -> None:
    assert placing_times(CLUSTERS) == {
        "ras": [(10, 1.0), (100, 100.0)],
        "stormplace": [(10, 1.0), (1000, 100.0)],
    }


def test_what_the_daemon_does_between_rounds_is_a_series_of_its_own() -> None:
    runs = [cluster(10, run("stormplace", 10, 10, 1.0, processor=0.3))]
    assert placing_times(runs) == {"stormplace": [(10, 1.0)], "processor of the daemon": [(10, 0.3)]}


def test_the_exponent_is_that_of_a_power() -> None:
    assert fit([(10, 1.0), (100, 100.0), (1000, 10_000.0)]).exponent == pytest.approx(2.0)
    assert fit([(10, 1.0), (1000, 100.0)]).exponent == pytest.approx(1.0)
    assert math.isnan(fit([(10, 1.0), (10, 2.0)]).exponent)


@pytest.mark.parametrize(("fixed", "exponent"), [(0.0, 1.3), (0.05, 1.0), (0.02, 1.2)])
def test_what_every_size_costs_is_no_growth(fixed: float, exponent: float) -> None:
    sizes = [1_000, 2_000, 5_000, 10_000, 50_000, 100_000]
    law = fit([(size, fixed + 1e-5 * size**exponent) for size in sizes])
    assert law.exponent == pytest.approx(exponent, abs=0.01)
    assert law.fixed_s == pytest.approx(fixed, abs=0.001)
    assert law.slope == pytest.approx(exponent) if fixed == 0 else law.slope < exponent - 0.05


def test_noise_is_not_taken_for_a_fixed_part_that_matters() -> None:
    sizes = [1_000, 2_000, 5_000, 10_000, 50_000, 100_000]
    law = fit([(size, 1e-5 * size * (1.05 if place % 2 else 0.95)) for place, size in enumerate(sizes)])
    assert law.exponent == pytest.approx(1.0, abs=0.05)


def test_what_is_left_out_is_named_and_a_picture_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    report, picture = tmp_path / "report.json", tmp_path / "growth.png"
    document = {"provenance": "here", "jvm_flags": "-Xmx1g", "clusters": CLUSTERS}
    report.write_text(json.dumps(document), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["growth", str(report), "--plot", str(picture)])
    main()
    assert capsys.readouterr().out.splitlines() == [
        "here; JVM -Xmx1g",
        "",
        "| executors | ras | stormplace |",
        "| --- | ---: | ---: |",
        "| 10 | 1 s | 1 s |",
        "| 100 | 100 s | - |",
        "| 1,000 | - | 100 s |",
        "| fixed part | 0 ms | 0 ms |",
        "| exponent of the rest | 2.00 | 1.00 |",
        "| exponent without a fixed part | 2.00 | 1.00 |",
        "",
        "stormplace with 100 executors: 10 unplaced after 1 rounds",
        "ras with 1,000 executors: a round takes longer than 60 s",
    ]
    assert picture.stat().st_size > 0
