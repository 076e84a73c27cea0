"""Algorithm 3: which component may lose an executor."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler.elasticity.leasing.removal_score import KEEP, RemovalWeights, removal_score
from tests.scheduler.elasticity.leasing.example import COMPONENTS, A

STEPS = {
    "2a": ((1450, 700, 900), (40, 300, 0), (4, 2, 2), (4, 3, 3), (0.53324, -0.41678, 100.05762)),
    "3": ((1600, 650, 1400), (20, 10, 5), (4, 3, 3), (4, 4, 2), (0.53323, 0.61656, -0.37703)),
    "4": ((1200, 500, 1000), (0, 0, 0), (4, 3, 3), (3, 3, 2), (100.79992, 100.86658, 99.93069)),
}


@pytest.mark.parametrize("step", STEPS)
def test_paper_003_worked_example(step: str) -> None:
    durations, queued, scalings, executors, expected = STEPS[step]
    scores = [
        removal_score(
            component,
            dict(zip("AFR", executors, strict=True)),
            dict(zip("AFR", scalings, strict=True)),
            durations[k] / component.slo_ms * 1.0001,
            empty_queue=queued[k] < 1,
            weights=RemovalWeights(),
        )
        for k, component in enumerate(COMPONENTS.values())
    ]
    assert scores == pytest.approx(expected, abs=1e-5)


def _score(
    executors: int, *, least: int = 1, others: int = 3, scalings: dict[str, int] | None = None
) -> float:
    return removal_score(
        replace(A, least=least),
        {"A": executors, "F": others},
        scalings or {},
        0.5,
        empty_queue=False,
        weights=RemovalWeights(),
    )


def test_a_component_at_its_least_is_kept() -> None:
    assert _score(1) == KEEP
    assert _score(3, least=3) == KEEP
    assert _score(3, least=2) > 0


def test_where_all_have_as_many_the_number_says_nothing() -> None:
    assert _score(3, others=3) == pytest.approx(0.5)


def test_without_any_scaling_so_far_scalings_say_nothing() -> None:
    assert _score(3) - _score(3, scalings={"A": 1, "F": 3}) == pytest.approx(0.25)
