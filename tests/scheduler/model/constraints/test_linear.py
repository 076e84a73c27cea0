"""Linear rules: every answer derived from the rows, against sums by hand and by loops."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.model.constraints.constraint import Constraint
from scheduler.model.constraints.linear import Charges, LinearRows, LinearRule, Links
from scheduler.model.problem import UNPLACED
from scheduler.plan import plan

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import FeasiblePlacements, MakeProblem


@dataclass(frozen=True, eq=False)
class Rows(Constraint):
    """Any rows."""

    kind = "rows"
    rows: LinearRows
    subjects: tuple[str, ...] = field(default=())

    def rule(self, problem: Problem, where: str) -> LinearRule:  # noqa: ARG002  # names nothing
        return LinearRule(self.kind, problem, self.rows, self.subjects, "units")


N_ROWS = 3


def random_rows(problem: Problem, seed: int) -> LinearRows:
    """Three rows, two layers each, places of either sign, with limits that some placements keep to."""
    random = np.random.default_rng(seed)

    def charges(k: int, m: int, least: int) -> Charges:
        # each choice charges two distinct rows
        row = random.permuted(np.tile(np.arange(N_ROWS), (k, m, 1)), axis=2)[..., :2]
        return Charges(np.moveaxis(row, 2, 0), random.integers(least, 5, (2, k, m)).astype(np.float64))

    group = random.integers(0, 2, problem.n_nodes)
    weight = random.integers(0, 3, len(problem.application.streams)).astype(np.float64)
    return LinearRows(
        random.integers(4, 12, N_ROWS).astype(np.float64),
        charges(problem.n_ops, problem.n_nodes, -3),
        Links(weight, group, charges(2, 2, 0)),
    )


def loads(problem: Problem, rows: LinearRows, placement: IntArray) -> list[float]:
    """The sum of each row, stream by stream."""
    total = [0.0] * len(rows.most)
    assert rows.places is not None
    assert rows.links is not None
    for layer in range(2):
        for i, u in enumerate(placement):
            total[rows.places.row[layer, i, u]] += rows.places.value[layer, i, u]
        streams = problem.application.streams
        for weight, stream in zip(rows.links.weight, streams, strict=True):
            i, j = (problem.application.index[end] for end in (stream.source, stream.target))
            if i != j:
                cell = layer, rows.links.group[placement[i]], rows.links.group[placement[j]]
                total[rows.links.charges.row[cell]] += weight * rows.links.charges.value[cell]
    return total


def constrained(make_problem: MakeProblem, seed: int) -> tuple[Problem, LinearRows]:
    problem = make_problem(seed, 4, 3)
    rows = random_rows(problem, seed)
    return replace(problem, constraints=(Rows(rows, ("first", "second", "third")),)), rows


@pytest.mark.parametrize("seed", range(8))
def test_a_placement_meets_the_rows_when_every_sum_is_within_its_limit(
    make_problem: MakeProblem, seed: int
) -> None:
    """Many placements at once agree with sums by loops, and so do the sentences of the check."""
    problem, rows = constrained(make_problem, seed)
    placements = np.array(list(product(range(3), repeat=4))).T
    met = problem.rules.met(placements)

    expected = [(np.array(loads(problem, rows, each)) <= rows.most).all() for each in placements.T]
    assert met.tolist() == expected
    for placement, meets in zip(placements.T, expected, strict=True):
        sentences = [each for each in check(problem, placement) if each.kind == "rows"]
        assert (not sentences) == meets


@pytest.mark.parametrize("seed", range(8))
def test_a_partial_placement_is_refused_only_if_nothing_completes_it(
    make_problem: MakeProblem, seed: int
) -> None:
    """What construction drops is never part of a placement that meets the rows."""
    problem, _ = constrained(make_problem, seed)
    placements = np.array(list(product(range(3), repeat=4))).T
    allowed, _ = problem.built_in
    good = placements[:, allowed.met(placements) & problem.rules.met(placements)]
    for missing in product([False, True], repeat=4):
        partial = good.copy()
        partial[list(missing)] = UNPLACED
        assert problem.rules.met(partial).all()


@pytest.mark.parametrize("seed", range(8))
def test_moves_are_those_of_the_moved_placements(make_problem: MakeProblem, seed: int) -> None:
    """Asking about moves is asking about the placements after them."""
    problem, _ = constrained(make_problem, seed)
    moves = np.array(list(product(range(4), range(3)))).T
    for placement in np.random.default_rng(seed).integers(UNPLACED, 3, (20, 4)):
        after = np.repeat(placement[:, None], 12, axis=1)
        after[moves[0], np.arange(12)] = moves[1]

        assert problem.rules.met_after(placement, *moves).tolist() == problem.rules.met(after).tolist()


@pytest.mark.parametrize("seed", range(10))
def test_the_solver_finds_the_optimum_under_rows_of_either_sign(
    make_problem: MakeProblem, feasible_placements: FeasiblePlacements, seed: int
) -> None:
    """Rows over place and link variables say what the sums say; so does the proof that nothing exists."""
    problem, rows = constrained(make_problem, seed)
    plain = replace(problem, constraints=())
    worth = [
        evaluate(problem, each).objective
        for each in feasible_placements(plain)
        if (np.array(loads(problem, rows, each)) <= rows.most).all()
    ]
    result = plan(problem, "odp")

    if not worth:
        assert result.placement is None
        return
    assert result.status == "optimal"
    assert result.evaluation is not None
    assert result.evaluation.objective == pytest.approx(min(worth), abs=1e-6)


def test_a_limit_below_the_least_sum_is_a_conflict(chain: Problem) -> None:
    """a, pinned to x, charges 3; b and c charge 1 and 2 at least; the streams 4 and 2 x 4 on any link."""
    value = np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 4.0], [5.0, 2.0, 2.0]])
    places = Charges.to_one_row(value)
    links = Links(np.array([1.0, 2.0]), np.zeros(3, dtype=np.int64), Charges.to_one_row(np.array([[4.0]])))

    def with_limit(most: float) -> Problem:
        return replace(chain, constraints=(Rows(LinearRows(np.array([most]), places, links), ("it",)),))

    assert with_limit(18.0).infeasibility is None
    assert with_limit(17.5).infeasibility == "it has 17.5 units, and every placement takes 18 or more"


def test_sentences_name_what_charges_a_row(chain: Problem) -> None:
    """Operators by place and streams by link; those that charge nothing are left out."""
    places = Charges.to_one_row(np.array([[3.0, 3.0, 3.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]))
    group = np.array([0, 1, 1])
    links = Links(np.array([1.0, 2.0]), group, Charges.to_one_row(1.0 - np.eye(2)))
    rows = Rows(LinearRows(np.array([4.0]), places, links), ("it",))
    (violation,) = check(replace(chain, constraints=(rows,)), np.array([0, 1, 2]))

    assert violation.kind == "rows"
    assert violation.message == "it has 4 units, operators a, c and streams a -> b take 6"


def test_amounts_that_differ_by_rounding_only_are_equal(chain: Problem) -> None:
    """Three times 0.1 fits 0.3, and what exceeds a large limit by rounding is within it."""
    for each, most in ((0.1, 0.3), (1e9 / 3, 1e9 * (1 - 1e-12))):
        rows = LinearRows(np.array([most]), Charges.to_one_row(np.full((3, 3), each)))
        problem = replace(chain, constraints=(Rows(rows, ("it",)),))
        assert problem.rules.met(np.zeros((3, 1), dtype=np.int64)).all()
