from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import pytest

from scheduler.base.checks import ModelError
from scheduler.evaluation.evaluate import evaluate
from scheduler.instances.document import parse_instance
from scheduler.instances.writing import named_placement, to_document
from scheduler.model.problem import Problem
from scheduler.plan import plan

if TYPE_CHECKING:
    from tests.scheduler.conftest import MakeProblem, RichProblem

DOCUMENT: dict[str, Any] = {
    "application": {
        "operators": [
            {"name": "a", "execution_time_ms": 1, "demand": {"slots": 1}, "allowed": ["x"]},
            {"name": "b", "execution_time_ms": 2.5},
        ],
        "streams": [{"from": "a", "to": "b", "rate": 10, "tuple_bytes": 100}],
    },
    "network": {
        "nodes": [
            {"name": "x", "capacity": {"slots": 1}, "speedup": 2.0, "availability": 0.9, "site": "rome"},
            {"name": "y", "capacity": {"slots": 1}},
        ],
        "delay_ms": [[0, 7], [8, 0]],
        "link_availability": [[1, 0.5], [0.5, 1]],
    },
    "objective": {"weights": {"response_time": 1}, "range": {"response_time": [0, 100]}},
}
DELETE = object()


def changed(path: tuple[str | int, ...], value: object) -> dict[str, Any]:
    """A copy of the document with one value replaced, added or deleted."""
    document = copy.deepcopy(DOCUMENT)
    inside: Any = document
    for key in path[:-1]:
        inside = inside[key]
    if value is DELETE:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return document


def test_a_document_becomes_its_problem() -> None:
    """Every field arrives where it belongs."""
    problem = parse_instance(DOCUMENT)
    worth = evaluate(problem, plan(problem).placement)  # type: ignore[arg-type]  # it is feasible

    assert worth.response_time_ms == pytest.approx(0.5 + 7 + 2.5)
    assert worth.values["availability"] == pytest.approx(0.9 * 0.5)
    assert worth.values["network_usage"] == pytest.approx(10 * 100 * 0.007)
    assert worth.objective == pytest.approx(0.10)
    assert problem.network.nodes[0].site == "rome"


OPERATOR = ("application", "operators", 1)
STREAM = ("application", "streams", 0)
NODE = ("network", "nodes", 1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("application",), DELETE, '$: "application" is missing'),
        (
            ("applications",),
            {},
            '$: unknown key "applications"; the keys are application, network, objective, current',
        ),
        (("application",), [], "$.application: expected an object, got an array"),
        (("application", "operators"), {}, "$.application.operators: expected an array, got an object"),
        (("application", "operators"), [], "$.application.operators: expected at least one operator"),
        ((*OPERATOR, "name"), "a", '$.application.operators[1].name: "a" is the name of operators[0] too'),
        (
            (*OPERATOR, "execution_time_ms"),
            DELETE,
            '$.application.operators[1]: "execution_time_ms" is missing',
        ),
        (
            (*OPERATOR, "execution_time_ms"),
            -1,
            "$.application.operators[1].execution_time_ms: expected a number >= 0, got -1",
        ),
        (
            (*OPERATOR, "demand"),
            {"slots": "x"},
            '$.application.operators[1].demand.slots: expected a number >= 0, got "x"',
        ),
        ((*OPERATOR, "demand"), 3, "$.application.operators[1].demand: expected an object, got 3"),
        ((*OPERATOR, "speed"), 3, '$.application.operators[1]: unknown key "speed"; the keys are name, '),
        ((*OPERATOR, "allowed"), "x", '$.application.operators[1].allowed: expected an array, got "x"'),
        (
            (*OPERATOR, "allowed"),
            ["x", "w"],
            '$.application.operators[1].allowed[1]: "w" is not a node of the network',
        ),
        ((*OPERATOR, "allowed"), [1], "$.application.operators[1].allowed[0]: expected a name, got 1"),
        ((*STREAM, "to"), "c", '$.application.streams[0].to: "c" is not an operator'),
        ((*STREAM, "from"), ["a"], "$.application.streams[0].from: expected a name, got an array"),
        ((*STREAM, "to"), "a", "$.application.streams: critical streams form a cycle: a -> a"),
        ((*STREAM, "rate"), DELETE, '$.application.streams[0]: "rate" is missing'),
        ((*STREAM, "rate"), math.nan, "$.application.streams[0].rate: expected a number >= 0, got nan"),
        (
            (*STREAM, "tuple_bytes"),
            math.inf,
            "$.application.streams[0].tuple_bytes: expected a number >= 0, got inf",
        ),
        ((*NODE, "name"), "x", '$.network.nodes[1].name: "x" is the name of nodes[0] too'),
        (
            (*NODE, "capacity"),
            {"slots": -1},
            "$.network.nodes[1].capacity.slots: expected a number >= 0, got -1",
        ),
        (
            (*NODE, "availability"),
            0,
            "$.network.nodes[1].availability: expected a number > 0 and <= 1, got 0",
        ),
        ((*NODE, "speedup"), None, "$.network.nodes[1].speedup: expected a number >= 1e-09, got null"),
        (("network", "delay_ms"), [[0, 1]], "$.network.delay_ms: expected 2 rows, one per node, got 1 rows"),
        (
            ("network", "delay_ms"),
            [[0, 1], [1]],
            "$.network.delay_ms[1]: expected 2 values, one per node, got 1",
        ),
        (
            ("network", "delay_ms"),
            [[0, -1], [1, 0]],
            "$.network.delay_ms[0][1]: expected a number >= 0, got -1",
        ),
        (("gone",), ["x"], '$.gone[0]: "x" is a node of the network'),
        (("gone",), "x", '$.gone: expected an array, got "x"'),
        (("budget",), {"price": 1}, '$.budget: unknown key "price"; the keys are cost, migration'),
        (("budget",), {"cost": -1}, "$.budget.cost: expected a number >= 0, got -1"),
        (
            ("objective", "cost_model"),
            "per-rack",
            '$.objective.cost_model: expected "per-operator" or "per-node", got "per-rack"',
        ),
        (
            ("objective", "migration_price"),
            3,
            '$.objective.migration_price: expected "destination" or "source", got 3',
        ),
        (
            (*OPERATOR, "image_mb"),
            5,
            "$.network.nodes[0].pull_mb_per_s: missing: operator b may come here and loads 5 MB",
        ),
        ((*NODE, "holds"), "a", '$.network.nodes[1].holds: expected an array, got "a"'),
        ((*NODE, "holds"), ["a", "c"], '$.network.nodes[1].holds[1]: "c" is not an operator'),
        ((*NODE, "holds"), ["a", "a"], '$.network.nodes[1].holds[1]: "a" is there twice'),
        ((*OPERATOR, "state_mb"), -1, "$.application.operators[1].state_mb: expected a number >= 0, got -1"),
        ((*NODE, "pull_mb_per_s"), -1, "$.network.nodes[1].pull_mb_per_s: expected a number >= 0, got -1"),
        (("network", "delay_ms"), DELETE, '$.network: expected one of "delay_ms", "coordinates", "links"'),
        (
            ("network", "coordinates"),
            [[0, 0], [1, 0]],
            '$.network: expected one of "delay_ms", "coordinates", "links"',
        ),
        (
            ("network", "link_availability"),
            [[1, 2], [1, 1]],
            "$.network.link_availability[0][1]: expected a number > 0 and <= 1, got 2",
        ),
        (
            ("objective", "weights"),
            {"response_time": 0.5},
            "$.objective.weights: expected a sum of 1, got 0.5",
        ),
        (
            ("objective", "weights"),
            {"delay": 1},
            "$.objective.weights.delay: unknown metric; the metrics are ",
        ),
        (("objective", "weights"), 1, "$.objective.weights: expected an object, got 1"),
        (
            ("objective", "range"),
            {"response_time": [9, 1]},
            "$.objective.range.response_time: expected min < max, got [9, 1]",
        ),
        (("objective", "ranges"), {}, '$.objective: unknown key "ranges"; the keys are weights, range'),
        (
            ("constraints",),
            {"co_location": [{"operators": ["a", "b"], "least": 1}]},
            '$.constraints.co_location[0]: unknown key "least"; the keys are operators, most',
        ),
        (("current",), {"c": "x"}, "$.current.c: no operator has that name"),
        (("current",), {"a": "w"}, '$.current.a: "w" is not a node of the network'),
        (("current",), {"a": ["x"]}, "$.current.a: an array is not a node of the network"),
    ],
)
def test_bad_input_is_named_with_its_json_path(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    """One sentence says where and what was expected."""
    with pytest.raises(ModelError) as caught:
        parse_instance(changed(path, value))

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("coordinates", "message"),
    [
        ([[0, 0, 0]], "$.network.coordinates: expected 2 rows, one per node, got 1"),
        (
            [[0, 0, 0], [1, 2]],
            "$.network.coordinates[1]: expected [x, y, ..., height] like the others, got an array",
        ),
        ([[0, 0, 0], [1, "2", 0]], '$.network.coordinates[1][1]: expected a number >= -1e+15, got "2"'),
        (
            [[0, 0, 0], None],
            "$.network.coordinates[1]: expected [x, y, ..., height] like the others, got null",
        ),
    ],
)
def test_bad_coordinates_are_named(coordinates: object, message: str) -> None:
    """Coordinates replace the matrix and are checked likewise."""
    document = changed(("network", "delay_ms"), DELETE)
    document["network"]["coordinates"] = coordinates
    with pytest.raises(ModelError) as caught:
        parse_instance(document)

    assert str(caught.value) == message


def test_coordinates_become_delays() -> None:
    """Distance plus both heights."""
    document = changed(("network", "delay_ms"), DELETE)
    document["network"]["coordinates"] = [[0, 0, 1], [3, 4, 2]]

    assert parse_instance(document).network.delay_ms.tolist() == [[0, 8], [8, 0]]


def test_a_document_of_another_kind_is_refused() -> None:
    """A list, a number or nothing is no instance."""
    for other in ([], 3, None, "x"):
        with pytest.raises(ModelError, match=r"^\$: expected an object, got "):
            parse_instance(other)


def test_an_operator_allowed_nowhere_is_infeasible_not_bad_input() -> None:
    """An empty list is a statement about the problem; the reason names the operator."""
    problem = parse_instance(changed((*OPERATOR, "allowed"), []))

    assert plan(problem).reason == "operator b is allowed on no node"


@pytest.mark.parametrize("seed", range(4))
def test_a_problem_survives_the_way_through_its_document(make_problem: MakeProblem, seed: int) -> None:
    """The document of a problem, parsed, gives the same plan and the same document."""
    problem = make_problem(seed, 8, 6)
    with_current = Problem(problem.application, problem.network, problem.objective, plan(problem).placement)
    document = to_document(with_current)
    copied = parse_instance(document)

    assert to_document(copied) == document
    assert plan(copied).evaluation == plan(problem).evaluation
    assert copied.current is not None
    assert named_placement(copied, copied.current) == document["current"]


def test_constraints_that_no_file_states_are_not_left_out(ruled_problem: RichProblem) -> None:
    """A file without them would be another problem."""
    with pytest.raises(ModelError, match="no instance file states constraints of this kind"):
        to_document(ruled_problem(1, 4, 4))
