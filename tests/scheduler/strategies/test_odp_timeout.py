from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Suggestion
from scheduler.plan import plan
from scheduler.strategies import odp_timeout as module
from scheduler.strategies.odp_timeout import OdpTimeoutParameters

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


@pytest.mark.parametrize("limit", [0, -1.0, float("inf"), float("nan"), True, None])
def test_parameters_are_checked(limit: object) -> None:
    """A time that comes, after now."""
    with pytest.raises(ValueError, match="time_limit_s: expected a number > 0, got"):
        OdpTimeoutParameters(limit)  # type: ignore[arg-type]  # bad values on purpose


def test_the_time_limit_ends_the_search_long_before_the_deadline(make_problem: MakeProblem) -> None:
    """On a clock that counts its looks."""
    clock = count()
    parameters, late = OdpTimeoutParameters(30.0), Deadline(clock.__next__, 1e9)
    result = plan(make_problem(3, 10, 20), "odp-timeout", parameters, deadline=late)

    assert result.status == "feasible"
    assert result.reason == "the deadline ended the search for a proof"
    assert next(clock) < 300


@pytest.mark.parametrize(
    ("deadline", "limited"), [(Deadline.none(), True), (Deadline(lambda: 0.0, 9.0), False)]
)
def test_only_without_a_clock_the_work_is_limited(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch, deadline: Deadline, limited: bool
) -> None:
    """Something has to end the search."""
    limits: list[float] = []

    def solve(*_: object, work_limit: float) -> Suggestion:
        limits.append(work_limit)
        return Suggestion(None, "not looked for")

    monkeypatch.setattr(module, "solve_exact", solve)
    plan(make_problem(3, 5, 4), "odp-timeout", deadline=deadline)

    assert [limit < float("inf") for limit in limits] == [limited]
