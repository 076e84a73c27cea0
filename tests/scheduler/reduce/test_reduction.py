from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.construct.first_fit import NodeOrder, place_in_order
from scheduler.contract.children import INLINE
from scheduler.contract.strategy import Context, NoParameters, Progress, StrategyEntry, Suggestion, ignore
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import Application, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.reduce.reduction import is_large, solve_on_candidates
from tests.scheduler.large_problems import make

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.contract.strategy import Report


@pytest.fixture(scope="module")
def wide() -> Problem:
    """Thirty operators on 1,500 nodes: more than any strategy looks at that does not scale."""
    return make(1, 30, 1500, pinned=True)


def context(report: Report = ignore) -> Context:
    return Context(np.random.default_rng(0), Deadline.none(), INLINE, report)


def entry(solve: Callable[..., Suggestion], **values: bool) -> StrategyEntry[NoParameters]:
    return StrategyEntry("stub", solve, NoParameters, "what a test makes of it", **values)


def all_on_first(problem: Problem, _parameters: NoParameters, given: Context, /) -> Suggestion:
    """Two operators per node in order, as far as constraints permit, said to be optimal."""
    placement = place_in_order(problem, NodeOrder(np.arange(problem.n_nodes)), range(problem.n_ops)).placement
    assert placement is not None
    given.report(Progress(evaluate(problem, placement).objective, 0.5, "stub", placement))
    return Suggestion(placement, "all done", bound=0.25, proved=True)


def test_local_search_improves_greedy_on_candidates(wide: Problem) -> None:
    """The plan is feasible, says how much of the network was searched, and is the same every time."""
    found, again = plan(wide, "local-search"), plan(wide, "local-search")
    first = plan(wide, "greedy")
    assert found.placement is not None
    assert found.evaluation is not None
    assert first.evaluation is not None

    assert is_large(wide)
    assert check(wide, found.placement) == ()
    assert found.evaluation.rank < first.evaluation.rank
    assert "(on 256 candidates of 1500 nodes)" in found.reason
    assert again.placement is not None
    assert np.array_equal(found.placement, again.placement)


def test_planning_on_the_result_moves_nothing(wide: Problem) -> None:
    """Candidates do not depend on where operators run."""
    found = plan(wide, "local-search").placement
    again = plan(replace(wide, current=found), "local-search").placement
    assert found is not None
    assert again is not None

    assert np.array_equal(found, again)


def test_nothing_is_proved_by_looking_at_candidates_only(wide: Problem) -> None:
    """What is proved, bounded and reported holds for the candidates; placements are reported in whole."""
    news: list[Progress] = []
    found = solve_on_candidates(wide, entry(all_on_first), NoParameters(), context(news.append))

    assert found.placement is not None
    assert (found.bound, found.proved) == (None, False)
    assert {progress.bound for progress in news} == {None}
    assert all(progress.placement is not None for progress in news)
    assert np.array_equal(news[-1].placement, found.placement)
    assert [progress.objective for progress in news] == sorted(
        {each.objective for each in news}, reverse=True
    )


def test_a_strategy_that_promises_it_is_no_worse_than_greedy(wide: Problem) -> None:
    """What it found on candidates counts only if it is better."""
    promised = entry(all_on_first, never_worse_than_greedy=True)
    found = solve_on_candidates(wide, promised, NoParameters(), context())
    first = plan(wide, "greedy").evaluation
    assert found.placement is not None
    assert first is not None

    assert evaluate(wide, found.placement).rank <= first.rank


@pytest.mark.parametrize("starts_there", [True, False])
def test_a_strategy_that_starts_where_operators_run_gets_their_nodes(
    wide: Problem, starts_there: bool
) -> None:
    """As candidates, however far away they are."""
    far = np.flatnonzero(np.arange(1500) % 47 == 0)[:30]
    placement = np.where(wide.allowed.sum(axis=1) == 1, wide.allowed.argmax(axis=1), far)
    problem = replace(wide, current=placement)
    given: list[set[str]] = []

    def solve(part: Problem, parameters: NoParameters, context: Context, /) -> Suggestion:
        given.append({node.name for node in part.network.nodes})
        return all_on_first(part, parameters, context)

    stub = replace(entry(solve), starts_at_current=lambda _parameters: starts_there)
    solve_on_candidates(problem, stub, NoParameters(), context())

    assert check(problem, placement) == ()
    assert ({problem.network.nodes[u].name for u in placement} <= given[0]) == starts_there


def test_a_strategy_that_finds_nothing_leaves_the_improved_greedy_placement(wide: Problem) -> None:
    """A placement is known, so infeasible would be a lie; the reason says what happened."""

    def nothing(_problem: Problem, _parameters: NoParameters, _context: Context, /) -> Suggestion:
        return Suggestion(None, "lost", proved=True)

    found = solve_on_candidates(wide, entry(nothing), NoParameters(), context())

    assert found.placement is not None
    assert check(wide, found.placement) == ()
    assert found.reason.startswith("stub found nothing: lost;")
    assert not found.proved


def test_too_many_streams_for_tables_are_improved_operator_by_operator(
    wide: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where not even the nodes in use fit the tables of a strategy, it is not run at all."""
    monkeypatch.setattr("scheduler.reduce.reduction.LARGEST_TABLE", 500)
    found = plan(wide, "local-search")
    first = plan(wide, "greedy").evaluation
    assert found.evaluation is not None
    assert first is not None

    assert found.reason.startswith("the problem is too large for local-search;")
    assert found.evaluation.rank < first.rank


def test_a_proof_that_nothing_fits_holds_for_the_whole(wide: Problem) -> None:
    """It comes from the whole network, not from candidates."""
    operators = tuple(Operator(f"o{k}", demand={"slots": 3.0}) for k in range(2))
    problem = Problem(Application(operators, (Stream("o0", "o1"),)), wide.network)
    result = plan(problem, "local-search")

    assert result.status == "infeasible"
    assert "more than any node has" in result.reason


def test_an_expired_deadline_still_gives_a_plan(wide: Problem) -> None:
    """One round on candidates ends at once."""
    result = plan(wide, "local-search", deadline=Deadline(clock=lambda: 1.0, at=0.0))

    assert result.placement is not None
    assert check(wide, result.placement) == ()
