"""Golden plans: a change of any answer has to be a decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from scheduler.instances.document import parse_instance
from scheduler.instances.writing import named_placement
from scheduler.plan import plan
from scheduler.registry import anywhere

if TYPE_CHECKING:
    from scheduler.model.problem import Problem
    from tests.scheduler.conftest import MakeProblem

GOLDEN = Path(__file__).parent / "golden"
INSTANCE = Path(__file__).parents[2] / "benchmarks" / "instances" / "sequential-100.json"


SEARCHES = ("ils", "portfolio", "odp", "odp-timeout", "odr", "odr-search")
"""They use as much time as a problem without quick proofs is large, so a small one is enough."""
CASES = [
    (strategy, instance)
    for strategy in anywhere()
    for instance in ("layered-30" if strategy in SEARCHES else "layered-100", "sequential-100")
]


@pytest.mark.parametrize(("strategy", "instance"), CASES)
def test_the_plan_is_the_golden_one(
    strategy: str,
    instance: str,
    make_problem: MakeProblem,
    hundred_nodes: Problem,
    request: pytest.FixtureRequest,
) -> None:
    """Placement and objective equal the file golden/<strategy>.json, per instance and seed.

    To accept new answers: pytest tests/scheduler --update-golden
    """
    if instance == "layered-30":
        problem = make_problem(3, 10, 30)
    elif instance == "layered-100":
        problem = hundred_nodes
    else:
        problem = parse_instance(json.loads(INSTANCE.read_text()))
    result = plan(problem, strategy, seed=0)
    assert result.placement is not None
    assert result.evaluation is not None
    answer = {
        "placement": named_placement(problem, result.placement),
        "objective": round(result.evaluation.objective, 9),
        "response_time_ms": round(result.evaluation.response_time_ms, 6),
    }
    file = GOLDEN / f"{strategy}.json"
    known = json.loads(file.read_text()) if file.exists() else {}
    key = f"{instance} seed 0"
    if request.config.getoption("--update-golden", default=False):
        file.write_text(json.dumps(known | {key: answer}, indent=1, sort_keys=True) + "\n")
    else:
        assert answer == known[key]
