"""`auto` asks the most thorough strategy that suits the size, and says which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from scheduler.plan import plan
from scheduler.strategies.auto import SHORT_WALK, AutoParameters

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


@pytest.mark.parametrize(
    ("walk_size", "descent_size", "asked"),
    [(80, 0, "ils"), (79, 80, "local-search"), (79, 79, "greedy")],
)
def test_size_decides(make_problem: MakeProblem, walk_size: int, descent_size: int, asked: str) -> None:
    problem = make_problem(1, 8, 10)
    found = plan(problem, "auto", AutoParameters(walk_size, descent_size), seed=3)
    alone = plan(problem, asked, SHORT_WALK if asked == "ils" else None, seed=3)
    assert (found.strategy, found.by, found.author) == ("auto", asked, f"{asked} (auto)")
    assert found.evaluation == alone.evaluation


@pytest.mark.parametrize("changes", [{"walk_size": -1}, {"descent_size": 0.5}])
def test_sizes_are_whole_numbers(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        AutoParameters(**changes)  # type: ignore[arg-type]  # wrong on purpose
