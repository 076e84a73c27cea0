"""Loads over time."""

from __future__ import annotations

import gzip
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from experiments.elasticity.loads import Load, Series, load_at
from experiments.elasticity.scenario_file import read_scenario
from tests.experiments.elasticity.scenarios import SHIPPED

RIDES = Path(__file__).parents[3] / "data" / "debs2015" / "nyc2013_fullrate_rides_100000events.csv.gz"


def at(steps: int, step_s: float = 60.0, seed: int = 0, **load: Any) -> list[float]:
    made: Any = TypeAdapter(Load).validate_python(load)
    return load_at(made, steps, step_s, seed).tolist()


def test_series() -> None:
    assert at(5, kind="series", values=[1, 3], every_s=120) == [1, 1, 3, 3, 1]
    assert at(3, kind="series", values=[1, 3], every_s=60, times=2) == [2, 6, 2]
    # centres of hours at 30 min: half-way between them both count the same
    assert at(4, 1800.0, kind="series", values=[1, 3], every_s=3600, linear=True) == [1.5, 1.5, 2.5, 2.5]


def test_noise_and_bursts_are_those_of_the_seed() -> None:
    noisy = {"kind": "series", "values": [1], "every_s": 60, "noise": 0.1}
    minutes = at(2000, **noisy)
    assert minutes == at(2000, **noisy)
    assert minutes != at(2000, seed=1, **noisy)
    assert np.std(minutes) == pytest.approx(0.1, rel=0.1)
    burst = at(4 * 1440, kind="series", values=[1], every_s=60, burst=1.5)
    assert burst.count(1.5) == 30, "15 minutes in two days, twice"
    assert set(burst) == {1.0, 1.5}


def test_walk_stays_within_its_bounds() -> None:
    walk = at(5000, kind="walk", start=4, least=1, most=8, every_s=60)
    assert walk[0] == 4
    assert (min(walk), max(walk)) == (1, 8)
    inner = [b - a for a, b in pairwise(walk) if 1 < a < 8]
    assert np.mean([step == 0 for step in inner]) == pytest.approx(0.5, abs=0.03)


def test_sinus() -> None:
    wave = at(4, 900.0, kind="sinus", least=1, most=3, period_s=3600)
    half = 2**-0.5
    assert wave == pytest.approx([2 + half, 2 + half, 2 - half, 2 - half])


def test_recorded_minutes_are_those_of_the_file() -> None:
    """Trips that began in each minute; the last minute of the file is cut."""
    began: Counter[str] = Counter()
    with gzip.open(RIDES, "rt", encoding="ascii") as lines:
        for line in lines:
            _, kind, start, *_ = line.split(",")
            began[start[:16]] += kind == "START"
    load = read_scenario(SHIPPED / "paper-004.toml").load["taxi-minutes"]
    assert isinstance(load, Series)
    assert list(load.values) == [began[minute] for minute in sorted(began)][:105]
    assert load_at(load, 105, 60.0, 1).mean() == pytest.approx(660.0, rel=0.001)
