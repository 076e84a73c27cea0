from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from scheduler.evaluation.critical_path import potentials
from scheduler.evaluation.evaluate import evaluate
from scheduler.evaluation.incident import IncidentStreams
from scheduler.model.problem import Problem

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem


@pytest.mark.parametrize("block", [1 << 20, 7])
@pytest.mark.parametrize("seed", range(4))
def test_costs_of_single_moves_are_those_of_the_evaluation(
    make_problem: MakeProblem, seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without R, F changes by the difference of costs; R is no less than the path through the operator."""
    monkeypatch.setattr("scheduler.evaluation.incident.BLOCK_VALUES", block)
    given = make_problem(seed, 8, 6, pins=False)
    weights = {"availability": 0.4, "network_usage": 0.3, "inter_node_traffic": 0.3}
    problem = Problem(given.application, given.network, replace(given.objective, weights=weights))
    placement = np.random.default_rng(seed).integers(0, 6, 8)
    operators, nodes = (each.ravel() for each in np.indices((8, 6)))
    paths = potentials(problem, placement)
    linear, through = IncidentStreams(problem).costs(placement, paths, operators, nodes)
    now, _ = IncidentStreams(problem).costs(placement, paths, np.arange(8), placement)
    before = evaluate(problem, placement)
    for i, u, cost, way in zip(operators, nodes, linear, through, strict=True):
        moved = placement.copy()
        moved[i] = u
        after = evaluate(problem, moved)

        assert after.objective - before.objective == pytest.approx(cost - now[i], abs=1e-9)
        assert after.response_time_ms >= way - 1e-9
        if i in after.critical_path:
            assert after.response_time_ms == pytest.approx(way)


def test_partners_are_at_the_heaviest_streams(make_problem: MakeProblem) -> None:
    """The first partner of an operator shares its stream of the largest factor in F."""
    given = make_problem(2, 8, 6)
    problem = Problem(
        given.application, given.network, replace(given.objective, weights={"network_usage": 1.0})
    )
    first = IncidentStreams(problem).partners(2)[:, 0]
    application = problem.application
    weight = application.rate * application.tuple_bytes
    for i in range(8):
        ends = (application.stream_source == i) != (application.stream_target == i)
        expected = {i}
        if ends.any():
            heaviest = np.flatnonzero(ends)[weight[ends].argmax()]
            expected = {
                int(application.stream_source[heaviest]),
                int(application.stream_target[heaviest]),
            } - {i}
        assert {int(first[i])} == expected
