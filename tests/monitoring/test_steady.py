"""Rules of figures that others plan with."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from monitoring.steady import SteadyFigures


def given(*measured: float) -> list[float]:
    figures = SteadyFigures[str]()
    return [figures.hold({"a": value})["a"] for value in measured]


@pytest.mark.parametrize(
    ("measured", "figure"), [(0.0, 0.0), (0.09, 0.0), (0.1, 0.1), (7.9, 7.94), (81.0, 100.0), (100.0, 100.0)]
)
def test_a_figure_is_rounded_up_to_a_step(measured: float, figure: float) -> None:
    assert given(measured) == [figure]


def test_a_figure_stays_while_what_is_measured_stays_near() -> None:
    """It rises when it is passed, and falls when a third of it is not used."""
    assert given(90.0, 100.0, 67.0, 66.0, 60.0, 80.0) == [100.0, 100.0, 100.0, 79.4, 79.4, 100.0]


@pytest.mark.parametrize("middle", [5.0, 10.0, 79.4, 95.0])
def test_noise_changes_a_figure_once_at_most(middle: float) -> None:
    """Wherever it lies between two steps."""
    chance = random.Random(1)
    figures = given(*(middle * chance.uniform(0.93, 1.07) for _ in range(500)))
    assert sum(before != after for before, after in pairwise(figures)) <= 1


def test_what_is_not_measured_any_more_is_forgotten() -> None:
    figures = SteadyFigures[str]()
    figures.hold({"a": 90.0})
    assert figures.hold({"b": 70.0}) == {"b": 79.4}
    assert figures.hold({"a": 70.0}) == {"a": 79.4}
