"""What follows from the readings of a round."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from scheduler.elasticity.leasing.draft import Draft
from scheduler.elasticity.leasing.removal_score import RemovalWeights
from scheduler.elasticity.leasing.situation import Situation
from scheduler.elasticity.leasing.state import LeasingState
from tests.scheduler.elasticity.leasing.example import A, host, parameters, reading

if TYPE_CHECKING:
    from scheduler.elasticity.leasing.observation import ComponentReading


def situation(readings: tuple[ComponentReading, ...], **changed: Any) -> Situation:
    return Situation(
        300.0, {each.component: each for each in readings}, LeasingState(), parameters(**changed)
    )


def drafted(executors: dict[str, int], scalings: tuple[int, int, int] = (0, 0, 0)) -> Draft:
    return Draft({"h0": host("h0", 600, executors)}, dict(zip("AFR", scalings, strict=True)))


@pytest.mark.parametrize(
    ("executors", "scalings", "durations", "queued", "order"),
    [
        ((4, 3, 3), (4, 2, 2), (1450, 700, 900), (40, 300, 0), "RA"),
        ((4, 4, 2), (4, 3, 3), (1600, 650, 1400), (20, 10, 5), "FA"),
        ((3, 3, 2), (4, 3, 3), (1200, 500, 1000), (0, 0, 0), "FAR"),
    ],
    ids=["2a", "3", "4"],
)
def test_paper_003_worked_example_who_may_lose_executors(
    executors: tuple[int, int, int],
    scalings: tuple[int, int, int],
    durations: tuple[int, int, int],
    queued: tuple[int, int, int],
    order: str,
) -> None:
    """Steps 2a, 3 and 4; the most suitable first."""
    readings = tuple(reading(*each) for each in zip("AFR", durations, queued, strict=True))
    draft = drafted(dict(zip("AFR", executors, strict=True)), scalings)
    assert "".join(each.name for each in situation(readings).most_removable(draft)) == order


def test_a_score_of_zero_keeps_the_executors() -> None:
    weights = RemovalWeights(executors=0, queue=0, scalings=0)
    for duration, order in ((1500, ()), (1499, (A,))):
        round_ = situation((reading("A", duration, 5),), weights=weights, penalty=0)
        assert round_.most_removable(drafted({"A": 3})) == order


@pytest.mark.parametrize(
    ("share", "before", "most"), [(0.2, 4, 1), (0.2, 14, 2), (0.29, 100, 29), (0.0, 5, 1)]
)
def test_a_plan_may_take_a_share_away_and_always_one(share: float, before: int, most: int) -> None:
    """0.29 x 100 is less than 29 by rounding only."""
    round_ = situation((), drop_share_max=share)
    assert round_.drops_left(drafted({"A": before}), A, before) == most
    assert round_.drops_left(drafted({"A": before - 1}), A, before) == most - 1


def test_the_least_number_of_executors_is_kept_whatever_the_share() -> None:
    assert situation((), drop_share_max=1.0).drops_left(drafted({"A": 3}), A, 3) == 2


def test_the_trend_looks_at_the_last_durations() -> None:
    round_ = situation((reading("A", (9.0, 1.0, 2.0, 3.0, 4.0, 5.0), 5),), observations=5)
    assert round_.durations_ms("A") == (1.0, 2.0, 3.0, 4.0, 5.0)
    assert round_.durations_ms("F") == ()
