"""The exact solver ends with its time, on the caller's clock, or without a clock with its work."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import check
from scheduler.plan import plan
from scheduler.strategies.odp_timeout import OdpTimeoutParameters

if TYPE_CHECKING:
    from scheduler.contract.result import Result
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem


@pytest.fixture
def problem(make_problem: MakeProblem) -> Problem:
    """Proved by branch and bound, after some hundred looks at the clock."""
    return make_problem(7, 8, 8)


def ticking(at: float) -> Deadline:
    """Return a deadline whose clock goes on by a second with every look at it."""
    ticks = itertools.count()
    return Deadline(clock=lambda: float(next(ticks)), at=at)


def solved(problem: Problem, deadline: Deadline, **parameters: float) -> Result:
    return plan(problem, "odp-timeout", OdpTimeoutParameters(**parameters), deadline=deadline)


@pytest.mark.parametrize("given", [0, -1.0, float("inf"), True, "3"])
def test_the_time_limit_is_a_positive_number(given: float) -> None:
    with pytest.raises(ValueError, match="time_limit_s: expected a number > 0, got "):
        OdpTimeoutParameters(time_limit_s=given)


def test_the_search_ends_at_the_time_limit_or_at_a_sooner_deadline(problem: Problem) -> None:
    """Either leaves a placement without a proof; with time enough there is one."""
    enough = solved(problem, ticking(1e9), time_limit_s=1e6)
    assert enough.status == "optimal"
    for cut in (solved(problem, ticking(1e9), time_limit_s=20.0), solved(problem, ticking(20.0))):
        assert (cut.status, cut.reason) == ("feasible", "the deadline ended the search for a proof")
        assert cut.placement is not None
        assert check(problem, cut.placement) == ()


def test_without_a_clock_the_search_ends_with_its_work(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there is a clock, however far its deadline is, work alone does not end it."""
    monkeypatch.setattr("scheduler.strategies.odp_timeout.WORK_WITHOUT_CLOCK", 1.0)
    without, timed = solved(problem, Deadline.none()), solved(problem, ticking(1e9), time_limit_s=1e6)
    assert (without.status, without.reason) == ("feasible", "the limit of work ended the search for a proof")
    assert timed.status == "optimal"
