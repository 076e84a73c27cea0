from __future__ import annotations

import numpy as np
import pytest

from scheduler.evaluation.evaluate import check, evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import to_document
from scheduler.moving.prices import moves_of, staying
from scheduler.plan import plan
from tests.scheduler.replacement.worked_example import CASES, Case, every_placement, ranged

METRICS = ("response_time", "availability", "cost", "migration")
every_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def test_the_evaluator() -> None:
    """A placement that no case chooses."""
    worth = evaluate(parse_instance(ranged(CASES["2a"])), np.array([1, 0, 1, 2]))

    assert worth.response_time_ms == pytest.approx(1616.666667)
    assert worth.values["availability"] == pytest.approx(0.858812, abs=1e-6)
    assert worth.values["cost"] == pytest.approx(79)
    assert worth.values["migration"] == pytest.approx(150)


@every_case
def test_how_many_placements_there_are(case: Case) -> None:
    assert every_placement(parse_instance(ranged(case))).shape[1] == case.feasible


@every_case
@pytest.mark.parametrize("strategy", ["odr", "odp"])
def test_the_optimum(case: Case, strategy: str) -> None:
    """By all placements, and by proof; both keep the rules of the case."""
    problem = parse_instance(ranged(case))
    result = plan(problem, strategy)

    if case.optimum is None:
        assert result.status == "infeasible"
        return
    assert result.status == "optimal"
    assert result.placement is not None
    assert result.evaluation is not None
    names = [problem.network.nodes[u].name for u in result.placement]
    assert names == [("cloud", "fog1", "fog2")[u] for u in case.optimum]
    assert 1 - result.evaluation.objective == pytest.approx(case.score, abs=1e-6)
    found = [result.evaluation.values[metric] for metric in METRICS]
    assert found == pytest.approx(case.values, abs=1e-6)
    moves = tuple((each.operator, each.pull_s, each.cost) for each in moves_of(problem, result.placement))
    assert moves == tuple((name, pytest.approx(pull), pytest.approx(cost)) for name, pull, cost in case.moves)


@every_case
def test_staying(case: Case) -> None:
    stay = staying(parse_instance(ranged(case)))

    if case.stay is None and not case.stay_breaks:
        assert stay is None
        return
    assert stay is not None
    assert len(stay.violations) == case.stay_breaks
    if case.stay is not None:
        assert 1 - stay.worth.objective == pytest.approx(case.stay, abs=1e-6)


def test_an_operator_that_is_too_slow_everywhere_is_named() -> None:
    result = plan(parse_instance(ranged(CASES["2i"])), "odr")

    assert result.reason == (
        "operator o4 keeps to 1200 ms per tuple from a speed-up of 2.5 on, and the fastest node has 2"
    )


@every_case
def test_a_document_comes_back(case: Case) -> None:
    given = ranged(case)
    problem = parse_instance(given)
    again = parse_instance(to_document(problem))

    assert to_document(again) == to_document(problem)
    assert np.array_equal(again.current, problem.current) if problem.current is not None else True
    assert again.gone == problem.gone
    assert check(again, np.array(case.optimum or (0,) * 4)) == check(
        problem, np.array(case.optimum or (0,) * 4)
    )
