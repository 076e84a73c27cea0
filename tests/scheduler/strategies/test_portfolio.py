"""`portfolio`: a search beside a proof, whichever is faster."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scheduler.base.deadline import Deadline
from scheduler.contract.strategy import Progress, Suggestion
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.problem import Application, Network, Node, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.strategies.ils import IlsParameters
from scheduler.strategies.portfolio import ENTRY, PortfolioParameters

if TYPE_CHECKING:
    from collections.abc import Callable

    from scheduler.base.arrays import IntArray
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem

QUICK = PortfolioParameters(patience=2, walkers=4, first_patience=1)
LONG = Deadline(lambda: 0.0, 1e6)


class Scripted:
    """A child that says its next line whenever its owner looks a few times, and ends after the last."""

    def __init__(self, *lines: list[object], failure: str | None = None, looks: int = 3) -> None:
        self._lines = list(lines)
        self._failure = failure
        self._looks_each = looks
        self._looks = 0
        self.stopped = False
        self.question: Any = None
        self.deadline: Deadline | None = None
        self.answer: Callable[[Any], list[object]] | None = None

    def start(self, _work: object, argument: object, deadline: Deadline) -> Scripted:
        self.question, self.deadline = argument, deadline
        if self.answer is not None:
            self._lines = [self.answer(argument)]
        return self

    @property
    def ended(self) -> bool:
        return self.stopped or not self._lines

    @property
    def failure(self) -> str | None:
        return self._failure if self.ended else None

    def messages(self) -> list[object]:
        self._looks += 1
        if self._lines and self._looks % self._looks_each == 0:
            return self._lines.pop(0)
        return []

    def wait(self, _seconds: float) -> bool:
        return bool(self._lines)

    def stop(self) -> None:
        self.stopped = True


def optimum(problem: Problem, feasible_placements: FeasiblePlacements) -> IntArray:
    return min(feasible_placements(problem), key=lambda placement: evaluate(problem, placement).rank)


@pytest.mark.parametrize("seed", range(4))
def test_a_small_problem_is_solved_to_the_proof(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """Without a deadline, in this process, and the optimum is the one of all placements."""
    problem = make_problem(seed, 5, 4)
    result = plan(problem, "portfolio")
    best = evaluate(problem, optimum(problem, feasible_placements)).objective

    assert result.status == "optimal"
    assert result.evaluation is not None
    assert result.evaluation.objective == pytest.approx(best, abs=1e-7)
    assert result.bound is not None
    assert best - 1e-6 <= result.bound <= result.evaluation.objective


@pytest.mark.parametrize("seed", range(3))
def test_without_a_proof_it_is_never_worse_than_ils_alone(make_problem: MakeProblem, seed: int) -> None:
    """The search beside is the same, by work and not by time; hardly any work goes into the proof."""
    problem = make_problem(seed, 12, 20)
    parameters = replace(QUICK, work_limit=1.0)
    alone = plan(problem, "ils", IlsParameters(QUICK.patience, QUICK.walkers), seed=5)
    result = plan(problem, "portfolio", parameters, seed=5)

    assert alone.evaluation is not None
    assert result.evaluation is not None
    assert result.evaluation.rank <= alone.evaluation.rank
    assert result.bound is None or result.bound <= result.evaluation.objective


def test_without_a_proof_the_better_end_counts_whoever_ends_first(make_problem: MakeProblem) -> None:
    """The solver gives up sooner or later than the search, with a placement that is as good as its own."""
    problem = make_problem(1, 12, 20)
    plans = []
    for looks in (1, 2, 50, 5000):
        child = Scripted([], looks=looks)
        child.answer = lambda question: [Suggestion(question.start, "given up", 0.001)]
        plans.append(plan(problem, "portfolio", QUICK, deadline=LONG, children=child))  # type: ignore[arg-type]

    placements = [each.placement.tolist() for each in plans if each.placement is not None]
    assert placements == placements[:1] * 4
    assert {each.reason for each in plans} == {
        "2 iterations without a better placement ended the search; given up"
    }


def test_a_proof_decides_whatever_the_search_has_reached(make_problem: MakeProblem) -> None:
    """The same plan whether the proof comes at the first look, or long after the search has ended."""
    problem = make_problem(1, 5, 4)
    answer = plan(problem, "portfolio")
    assert answer.placement is not None
    proof = Suggestion(answer.placement, "proved", answer.bound, proved=True)
    plans = [
        plan(problem, "portfolio", QUICK, deadline=LONG, children=Scripted([proof], looks=looks))  # type: ignore[arg-type]
        for looks in (1, 2, 50, 5000)
    ]

    assert {each.status for each in plans} == {"optimal"}
    assert {tuple(each.placement.tolist()) for each in plans if each.placement is not None} == {
        tuple(answer.placement.tolist())
    }
    assert all(each.evaluation == answer.evaluation for each in plans)


def test_the_proof_begins_with_what_a_short_search_found(make_problem: MakeProblem) -> None:
    """The better the start, the more the solver can leave out."""
    problem = make_problem(2, 10, 12)
    child = Scripted([])
    plan(problem, "portfolio", QUICK, deadline=LONG, children=child)  # type: ignore[arg-type]
    greedy = plan(problem, "greedy")

    assert greedy.evaluation is not None
    assert evaluate(problem, child.question.start).rank <= greedy.evaluation.rank
    assert child.question.children is child


def test_better_placements_of_the_solver_are_taken_over_and_checked(make_problem: MakeProblem) -> None:
    """A true one counts at once; one that breaks a constraint or is worse does not."""
    problem = make_problem(4, 8, 6)
    best = plan(problem, "ils", seed=1)
    assert best.placement is not None
    assert best.evaluation is not None
    greedy = plan(problem, "greedy")
    assert greedy.placement is not None
    crowded = np.zeros(problem.n_ops, dtype=np.int64)
    assert check(problem, crowded)
    child = Scripted(
        [Progress(0.0, 0.0, "liar", crowded), Progress(1.0, None, "late", greedy.placement)],
        [Progress(best.evaluation.objective, 0.0, "highs", best.placement)],
        failure="its process was killed",
    )
    reported: list[Progress] = []
    result = plan(problem, "portfolio", QUICK, deadline=LONG, children=child, report=reported.append)  # type: ignore[arg-type]

    assert result.evaluation is not None
    assert result.evaluation.rank <= best.evaluation.rank
    assert all(each.placement is not None and not check(problem, each.placement) for each in reported)
    objectives = [each.objective for each in reported]
    assert objectives == sorted(objectives, reverse=True)


def test_a_lost_child_costs_the_proof_only(make_problem: MakeProblem) -> None:
    """The search ends by itself, and the reason says what happened."""
    problem = make_problem(4, 8, 6)
    child = Scripted([], failure="its process was killed")
    result = plan(problem, "portfolio", QUICK, deadline=LONG, children=child)  # type: ignore[arg-type]

    assert (result.status, result.bound) == ("feasible", None)
    assert result.reason.endswith("ended the search; the proof failed: its process was killed")
    assert child.stopped


def ticking(looks: int) -> Callable[[], float]:
    """A clock that jumps past every deadline after so many looks at it."""
    left = [looks]

    def clock() -> float:
        left[0] -= 1
        return 0.0 if left[0] > 0 else 1e9

    return clock


@pytest.mark.parametrize("looks", [1, 5, 20, 80, 400])
def test_at_the_deadline_the_best_so_far_counts_with_the_bound_so_far(
    make_problem: MakeProblem, looks: int
) -> None:
    """Whenever it comes, and the child is stopped."""
    problem = make_problem(5, 10, 8)
    greedy = plan(problem, "greedy")
    assert greedy.evaluation is not None
    assert greedy.placement is not None
    child = Scripted([Progress(9.0, 0.01, "highs", greedy.placement)], [], [], [], looks=10**9)
    child._looks_each = 2
    deadline = Deadline(ticking(looks), 1.0)
    result = plan(problem, "portfolio", replace(QUICK, patience=None), deadline=deadline, children=child)  # type: ignore[arg-type]

    assert result.status == "feasible"
    assert result.evaluation is not None
    assert result.evaluation.rank <= greedy.evaluation.rank
    assert result.bound in (None, 0.01)
    assert child.question is None or child.stopped


def test_progress_is_reported_with_the_better_of_both_and_never_gets_worse(make_problem: MakeProblem) -> None:
    """From greedy on; bounds rise, F falls, and the last word is the result."""
    problem = make_problem(0, 5, 4)
    reported: list[Progress] = []
    result = plan(problem, "portfolio", report=reported.append)

    assert reported[0].source == "greedy"
    bounds = [-math.inf if each.bound is None else each.bound for each in reported]
    assert bounds == sorted(bounds)
    assert result.evaluation is not None
    assert reported[-1].objective == pytest.approx(result.evaluation.objective, abs=1e-7)
    assert reported[-1].bound == pytest.approx(result.bound)


def test_what_greedy_cannot_decide_the_proof_does() -> None:
    """Packing with different demands: first-fit fails without a proof, the solver answers."""
    operators = tuple(Operator(f"o{k}", demand={"slots": size}) for k, size in enumerate((4, 3, 3, 2, 2, 2)))
    nodes = tuple(Node(name, {"slots": 8}) for name in "xy")
    streams = tuple(Stream(f"o{k}", f"o{k + 1}") for k in range(5))
    problem = Problem(Application(operators, streams), Network(nodes, np.array([[0.0, 1.0], [1.0, 0.0]])))
    assert plan(problem, "portfolio").status == "optimal"
    odd = replace(operators[0], demand={"slots": 5})
    short = Problem(Application((odd, *operators[1:]), streams), problem.network)
    result = plan(short, "portfolio")
    assert (result.status, result.placement) == ("infeasible", None)


@pytest.mark.parametrize(
    "values",
    [{"patience": 0}, {"walkers": 1}, {"first_patience": 0}, {"first_patience": True}, {"work_limit": 0}],
)
def test_parameters_out_of_range_are_refused(values: dict[str, Any]) -> None:
    """By the name of the parameter."""
    with pytest.raises(ValueError, match=next(iter(values))):
        PortfolioParameters(**values)


def test_until_the_deadline_means_without_patience() -> None:
    """Neither search nor proof ends by its work; the rest stays."""
    assert ENTRY.until_deadline(QUICK) == replace(QUICK, patience=None, work_limit=None)
