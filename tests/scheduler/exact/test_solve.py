"""The exact solver against brute force: what it proves is true."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.base.deadline import Deadline
from scheduler.contract.incumbent import Incumbent
from scheduler.contract.strategy import Context, Progress, Suggestion, ignore
from scheduler.evaluation.evaluate import check, evaluate
from scheduler.exact import solve
from scheduler.exact.form.class_form import class_form
from scheduler.exact.solve import solve_exact
from scheduler.exact.solver.ask import SOLVER_TOLERANCE
from scheduler.exact.solver.by_solver import search_by_solver
from scheduler.instances.generators.paper import OBJECTIVES, paper_problem
from scheduler.model.constraints.constraint import Constraint, Rule
from scheduler.model.problem import Application, Network, Node, Objective, Operator, Problem, Stream
from scheduler.plan import plan
from scheduler.search.searched_start import searched_start
from scheduler.strategies.odp import OdpParameters

if TYPE_CHECKING:
    from scheduler.base.arrays import BoolArray, IntArray
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem, RichProblem
    from tests.scheduler.small_problems import AnyProblem, Optimum

EPSILON = 2e-9
EXPIRED = Deadline(clock=lambda: 1.0, at=0.0)


def context(deadline: Deadline | None = None) -> Context:
    return Context(np.random.default_rng(0), deadline or Deadline.none())


def solved(
    problem: Problem, start: IntArray | None, given: Context, work_limit: float = math.inf
) -> Suggestion:
    """The answer from a given start, or from what a search finds."""
    if start is not None:
        return solve_exact(problem, Suggestion(start, "given"), given, work_limit=work_limit)
    first, longer = searched_start(problem, given)
    return solve_exact(problem, first, given, longer=longer, work_limit=work_limit)


@given(seed=st.integers(0, 10_000), n_ops=st.integers(1, 5), n_nodes=st.integers(1, 5))
@settings(max_examples=60)
def test_the_proved_optimum_is_that_of_brute_force(
    any_problem: AnyProblem, optimum: Optimum, seed: int, n_ops: int, n_nodes: int
) -> None:
    """Whatever the graph, objective and constraints are; and what is infeasible is proved to be."""
    problem = any_problem(seed, n_ops, n_nodes)
    best = optimum(problem)
    found = solved(problem, None, context())

    assert found.proved
    if best is None:
        assert found.placement is None
    else:
        assert found.placement is not None
        assert check(problem, found.placement) == ()
        assert found.bound is not None
        assert evaluate(problem, found.placement).objective == pytest.approx(best, abs=3 * SOLVER_TOLERANCE)
        assert found.bound <= best + 1e-12
        if "HiGHS" not in found.reason:
            assert evaluate(problem, found.placement).objective <= best + EPSILON


@pytest.mark.parametrize("seed", range(4))
def test_six_operators_on_six_nodes_are_solved_as_by_brute_force(
    any_problem: AnyProblem, optimum: Optimum, seed: int
) -> None:
    """One chain, one tree, one dense graph, one diamond."""
    problem = any_problem(seed, 6, 6)
    found = solved(problem, None, context())

    assert found.proved
    assert found.placement is not None
    assert evaluate(problem, found.placement).objective == pytest.approx(optimum(problem), abs=EPSILON)


@pytest.mark.parametrize("seed", range(12))
def test_the_solver_alone_finds_the_same_optimum(
    any_problem: AnyProblem, optimum: Optimum, seed: int
) -> None:
    """The program over classes represents every placement, and nothing else."""
    problem = any_problem(seed, 5, 4)
    best = optimum(problem)
    form, incumbent = class_form(problem), Incumbent(problem, ignore)
    proved = search_by_solver(form, form.slots > 0, incumbent, context(), Deadline.none())

    assert proved
    assert (incumbent.placement is None) == (best is None)
    if best is not None:
        assert incumbent.objective == pytest.approx(best, abs=2 * SOLVER_TOLERANCE)
        assert incumbent.bound <= best


def test_a_program_that_is_too_large_leaves_the_time_to_the_longer_search(
    any_problem: AnyProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scheduler.exact.solver.by_solver.LARGEST_PROGRAM", 0)
    problem, calls = any_problem(1, 5, 4), []
    form, incumbent = class_form(problem), Incumbent(problem, ignore)
    proved = search_by_solver(
        form, form.slots > 0, incumbent, context(), Deadline.none(), longer=lambda _: calls.append("searched")
    )
    assert not proved
    assert calls == ["searched"]


def test_a_packing_that_no_cheap_check_refutes_is_proved_infeasible() -> None:
    """Enough in total, and enough places for every size, but no part of the sizes sums up to 10."""
    sizes = {"a": 5.0, "b": 4.0, "c": 4.0, "d": 4.0, "e": 3.0}
    operators = tuple(Operator(name, demand={"slots": size}) for name, size in sizes.items())
    nodes = (Node("x", {"slots": 10.05}), Node("y", {"slots": 10.05}))
    problem = Problem(Application(operators, (Stream("a", "b"),)), Network(nodes, np.zeros((2, 2))))
    found = solved(problem, None, context())

    assert (found.placement, found.proved) == (None, True)
    assert "no placement exists" in found.reason


@pytest.mark.parametrize("deadline", [Deadline.none(), EXPIRED])
def test_the_start_is_never_worsened(make_problem: MakeProblem, deadline: Deadline) -> None:
    """Not even without any time or work."""
    problem = make_problem(5, 8, 8)
    start = solved(problem, None, context()).placement
    assert start is not None
    found = solved(problem, start, context(deadline), work_limit=1.0)

    assert found.placement is not None
    assert evaluate(problem, found.placement).rank <= evaluate(problem, start).rank


def test_bounds_on_the_way_never_pass_the_optimum(any_problem: AnyProblem, optimum: Optimum) -> None:
    """Reported bounds rise, reported values fall, and the optimum is always between them."""
    problem = any_problem(2, 6, 5)
    best = optimum(problem)
    assert best is not None
    reported: list[Progress] = []
    solved(problem, None, Context(np.random.default_rng(0), Deadline.none(), report=reported.append))

    bounds = [each.bound for each in reported if each.bound is not None]
    assert bounds == sorted(bounds)
    assert all(bound <= best + 1e-12 for bound in bounds)
    assert [each.objective for each in reported] == sorted(
        (each.objective for each in reported), reverse=True
    )


@pytest.mark.parametrize("seed", range(10))
def test_bounds_hold_where_terms_far_larger_than_the_objective_cancel(optimum: Optimum, seed: int) -> None:
    """Delays of billions of seconds and a range of a thousandth of one: bounds allow for rounding."""
    random = np.random.default_rng(seed)
    streams = (Stream("a", "b"), Stream("b", "c"), Stream("a", "d", critical=False))
    nodes = tuple(Node(f"n{u}", {"slots": 3.0}, cost=float(random.integers(4))) for u in range(5))
    delay_ms = np.asarray(random.integers(1, 4, (5, 5)) * 1e12, dtype=np.float64)
    np.fill_diagonal(delay_ms, 0.0)
    ranges = {"response_time": (2.9982, 2.9992), "cost": (6.0, 18.0)}
    problem = Problem(
        Application(tuple(Operator(name, 1.0) for name in "abcdef"), streams),
        Network(nodes, delay_ms),
        Objective({"response_time": 0.9, "cost": 0.1}, ranges),
    )
    best, reported = optimum(problem), list[Progress]()
    assert best is not None
    start = np.array([0, 1, 2, 3, 4, 0])
    found = solved(problem, start, Context(np.random.default_rng(0), Deadline.none(), report=reported.append))

    assert found.bound is not None
    assert all(
        bound <= best for bound in (found.bound, *(each.bound for each in reported)) if bound is not None
    )


def test_a_limit_of_work_ends_the_search_with_a_true_bound(make_problem: MakeProblem) -> None:
    """And the same limit gives the same answer."""
    problem = make_problem(7, 10, 12)
    proved = solved(problem, None, context())
    first, second = (solved(problem, None, context(), work_limit=1000.0) for _ in range(2))

    assert proved.placement is not None
    assert first.placement is not None
    assert second.placement is not None
    assert not first.proved
    assert first.placement.tolist() == second.placement.tolist()
    assert first.bound is not None
    assert first.bound <= evaluate(problem, proved.placement).objective


@pytest.mark.parametrize("seed", range(4))
def test_without_a_proof_it_is_not_worse_than_a_heuristic(make_problem: MakeProblem, seed: int) -> None:
    """With their default parameters, on problems that the work does not suffice for."""
    problem = make_problem(seed, 10, 20)
    found = plan(problem, "odp", OdpParameters(1000.0), seed=seed)

    assert found.evaluation is not None
    assert found.status == "feasible"
    for strategy in ("ils", "tabu-search", "local-search"):
        heuristic = plan(problem, strategy, seed=seed)
        assert heuristic.evaluation is not None
        assert found.evaluation.objective <= heuristic.evaluation.objective + EPSILON, strategy


@pytest.mark.parametrize("seed", range(2))
def test_a_problem_too_large_for_a_proof_gets_what_ils_finds(
    make_problem: MakeProblem, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Its time would be of no use otherwise."""
    monkeypatch.setattr(solve, "LARGEST_FORM", 1)
    problem = make_problem(seed, 10, 24)
    heuristic = plan(problem, "ils", seed=seed)
    found = plan(problem, "odp", seed=seed)

    assert found.evaluation is not None
    assert heuristic.evaluation is not None
    assert found.reason == solve.TOO_LARGE
    assert found.evaluation.objective <= heuristic.evaluation.objective + EPSILON


@pytest.mark.parametrize("application", ["diamond", "sequential", "replicated"])
def test_quick_proofs_do_not_wait_for_a_long_start(application: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's problems are proved from a short one."""
    made = "the long start was made"
    monkeypatch.setattr("scheduler.search.searched_start.iterated_search", lambda *_: pytest.fail(made))

    assert solved(paper_problem(application, 16, OBJECTIVES["A"], 0), None, context()).proved


@dataclass(frozen=True)
class EvenlyUsed(Constraint):
    """The number of nodes in use is even: no row of a program says that."""

    kind: ClassVar[str] = "evenly_used"

    def rule(self, problem: Problem, where: str) -> Rule:  # noqa: ARG002  # names nothing
        return EvenlyUsedRule()


class EvenlyUsedRule(Rule):
    kind = "evenly_used"

    def met(self, placements: IntArray) -> BoolArray:
        """Partial placements may still become even."""
        even = [len(np.unique(each)) % 2 == 0 for each in placements.T]
        return np.array(even) | (placements < 0).any(axis=0)

    def broken(self, placement: IntArray) -> tuple[str, ...]:
        used = len(np.unique(placement))
        return (f"{used} nodes are used",) if used % 2 else ()


@pytest.mark.parametrize("seed", range(6))
def test_a_rule_that_no_row_states_costs_the_proof_but_not_the_truth(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """The bound is that of the relaxation; a proof stands only where its optimum meets the rule."""
    problem = replace(make_problem(seed, 4, 3, slots=3), constraints=(EvenlyUsed(),))
    plain = replace(problem, constraints=())
    values = {tuple(each.tolist()): evaluate(problem, each).objective for each in feasible_placements(plain)}
    best = min(worth for placement, worth in values.items() if len(set(placement)) % 2 == 0)
    result = plan(problem, "odp")

    assert result.placement is not None
    assert len(set(result.placement.tolist())) % 2 == 0
    assert result.evaluation is not None
    assert result.bound is not None
    assert result.bound <= min(values.values()) + 1e-6
    if result.status == "optimal":
        assert result.evaluation.objective == pytest.approx(best, abs=1e-6)
    else:
        assert min(values.values()) < best
        assert result.reason == (
            "the solver ended without a proof; it knows nothing of the constraints evenly_used"
        )


def test_a_limit_of_work_leaves_large_programs_to_those_with_a_clock(ruled_problem: RichProblem) -> None:
    """The reason says why there is no proof; a placement is there all the same."""
    result = plan(ruled_problem(1, 9, 12), "odp")

    assert result.status == "feasible"
    assert result.reason == "its constraints leave the proof to a solver, whose work has no limit"
