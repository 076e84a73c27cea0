"""Whatever is wrong with an instance: exit status 2 or 3, one sentence with the place, no trace."""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from scheduler import plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GOOD: dict[str, Any] = {
    "application": {
        "operators": [{"name": name, "execution_time_ms": 1} for name in ("a", "b", "c")],
        "streams": [
            {"from": "a", "to": "b", "rate": 10, "tuple_bytes": 100},
            {"from": "b", "to": "c", "rate": 10, "tuple_bytes": 100},
        ],
    },
    "network": {
        "nodes": [{"name": name, "capacity": {"slots": 2}} for name in ("x", "y")],
        "delay_ms": [[0, 5], [5, 0]],
    },
    "objective": {"weights": {"response_time": 1}},
}

Answer = tuple[int, str, str]


@pytest.fixture
def solve(run: Any, tmp_path: Path) -> Callable[..., Answer]:
    """Solve the good instance with one place of it changed; returns status, standard output and message."""

    def changed(path: tuple[str | int, ...], value: object, strategy: str = "local-search") -> Answer:
        document = copy.deepcopy(GOOD)
        place: Any = document
        for step in path[:-1]:
            place = place[step]
        if value is ...:
            del place[path[-1]]
        else:
            place[path[-1]] = value
        file = tmp_path / "instance.json"
        file.write_text(json.dumps(document))
        status, out, err = run(file, "--strategy", strategy, "--json")
        assert "Traceback" not in err
        return status, out, err.removeprefix(f"stormplace: {file}: ").strip()

    return changed


OPERATOR, STREAM = ("application", "operators", 0), ("application", "streams", 0)
DELAY = ("network", "delay_ms")
CYCLE = {"from": "c", "to": "a", "rate": 1, "tuple_bytes": 1}


def test_the_unchanged_instance_is_solved(solve: Callable[..., Answer]) -> None:
    """What follows is refused for what was changed."""
    assert solve(("current",), {"a": "x"})[0] == 0


def test_a_cycle_is_refused_by_the_names_of_its_operators(solve: Callable[..., Answer]) -> None:
    """Only critical streams must not form one, and the message says how feedback is written."""
    streams = [*GOOD["application"]["streams"], CYCLE]
    status, _, message = solve(("application", "streams"), streams)

    assert status == 2
    assert message.startswith("$.application.streams: critical streams form a cycle: ")
    assert all(name in message for name in ("a -> ", "b -> ", "c -> "))
    assert solve(("application", "streams"), [*streams[:2], CYCLE | {"critical": False}])[0] == 0


@pytest.mark.parametrize("rate", [-1, None, "fast", math.nan, math.inf])
def test_a_rate_that_is_no_number_from_0_on_is_refused(solve: Callable[..., Answer], rate: object) -> None:
    """Negative, null, text, not a number, infinite."""
    status, _, message = solve((*STREAM, "rate"), rate)

    assert (status, message.split(",")[0]) == (2, "$.application.streams[0].rate: expected a number >= 0")


def test_a_number_of_hundreds_of_digits_is_not_shown_whole(solve: Callable[..., Answer]) -> None:
    """Its first digits, and how many there are."""
    status, _, message = solve((*STREAM, "rate"), 10**400)

    assert status == 2
    assert message.endswith("got 100000000000... (401 digits)")


def test_a_missing_rate_is_refused(solve: Callable[..., Answer]) -> None:
    """There is no silent default in a file."""
    assert solve((*STREAM, "rate"), ...) == (2, "", '$.application.streams[0]: "rate" is missing')


@pytest.mark.parametrize("delay", [math.inf, math.nan, None, -1, "far"])
def test_a_disconnected_network_is_refused(solve: Callable[..., Answer], delay: object) -> None:
    """Two nodes without a way between them have no delay."""
    status, _, message = solve(DELAY, [[0, delay], [5, 0]])

    assert status == 2
    assert message.startswith("$.network.delay_ms[0][1]: expected a number >= 0, got ")


@pytest.mark.parametrize("spot", [math.inf, math.nan, None])
def test_a_node_without_a_spot_is_refused(solve: Callable[..., Answer], spot: object) -> None:
    """Delays by coordinates are infinite or unknown then."""
    nodes = GOOD["network"]["nodes"]
    status, _, message = solve(("network",), {"nodes": nodes, "coordinates": [[0, 0, 0], [spot, 0, 0]]})

    assert status == 2
    assert message.startswith("$.network.coordinates[1]")


def test_capacity_that_is_short_is_infeasible_and_says_where(solve: Callable[..., Answer]) -> None:
    """Status 3, how much is short, and of whom."""
    nodes = [{"name": name, "capacity": {"slots": 1}} for name in ("x", "y")]

    assert solve(("network", "nodes"), nodes)[0::2] == (
        3,
        "infeasible: operators a, b, c demand 3 slots, all nodes together have 2 (1 short)",
    )


def test_capacity_that_is_short_on_a_few_nodes_names_them(solve: Callable[..., Answer]) -> None:
    """Three operators must share a node for two."""
    operators = [each | {"allowed": ["y"]} for each in GOOD["application"]["operators"]]
    status, _, message = solve(("application", "operators"), operators)

    assert status == 3
    assert message.startswith("infeasible: ")
    assert "1 short" in message
    assert "y" in message


def test_a_pin_to_an_unknown_node_is_refused(solve: Callable[..., Answer]) -> None:
    """By operator and node."""
    assert solve((*OPERATOR, "allowed"), ["z"]) == (
        2,
        "",
        '$.application.operators[0].allowed[0]: "z" is not a node of the network',
    )


@pytest.mark.parametrize("weights", [{"response_time": 0.5}, {"response_time": 1, "cost": 1}, {}])
def test_weights_that_do_not_sum_to_1_are_refused(solve: Callable[..., Answer], weights: object) -> None:
    """The message gives the sum."""
    status, _, message = solve(("objective", "weights"), weights)

    assert (status, message.split(", got")[0]) == (2, "$.objective.weights: expected a sum of 1")


@pytest.mark.parametrize("limits", [[5, 5], [9, 5]])
def test_a_range_without_width_is_refused(solve: Callable[..., Answer], limits: list[float]) -> None:
    """Its least value must be below its largest."""
    status, _, message = solve(("objective", "range"), {"response_time": limits})

    assert status == 2
    assert message == f"$.objective.range.response_time: expected min < max, got [{limits[0]}, {limits[1]}]"


def test_an_asymmetric_matrix_is_used_as_given(solve: Callable[..., Answer]) -> None:
    """The way back may take longer: the answer goes the short way."""
    operators = [
        {"name": "a", "execution_time_ms": 1, "allowed": ["x"]},
        {"name": "b", "execution_time_ms": 1, "allowed": ["y"]},
        {"name": "c", "execution_time_ms": 1, "allowed": ["x"]},
    ]
    document = {**GOOD["application"], "operators": operators}
    assert json.loads(solve(("application",), document)[1])["response_time_ms"] == 13
    there = {"nodes": GOOD["network"]["nodes"], "delay_ms": [[0, 5], [70, 0]]}
    status, out, _ = solve(("network",), there)
    assert status == 0
    placement = json.loads(out)["placement"]
    assert (placement["a"], placement["c"]) == ("x", "y")


@pytest.mark.parametrize(
    ("matrix", "place"),
    [
        ([[0, 5]], "$.network.delay_ms"),
        ([[0, 5], [5]], "$.network.delay_ms"),
        ([[0, 5, 5], [5, 0, 5], [5, 5, 0]], "$.network.delay_ms"),
        ([[1, 5], [5, 0]], "$.network.delay_ms[0][0]"),
        ("none", "$.network.delay_ms"),
    ],
)
def test_a_wrongly_sized_matrix_is_refused(solve: Callable[..., Answer], matrix: object, place: str) -> None:
    """One row and one column per node, zeros on the diagonal."""
    status, out, message = solve(DELAY, matrix)

    assert (status, out) == (2, "")
    assert message.startswith(place)


@pytest.mark.parametrize("matrix", [[[1]], [[1, 0.9], [0.9]], [[1, 2], [0.9, 1]]])
def test_a_wrong_matrix_of_availabilities_is_refused(solve: Callable[..., Answer], matrix: object) -> None:
    """Likewise, with ones on the diagonal and nothing above 1."""
    status, _, message = solve(("network", "link_availability"), matrix)

    assert status == 2
    assert message.startswith("$.network.link_availability")


def test_names_that_the_terminal_cannot_show_are_shown_as_far_as_possible(run: Any, tmp_path: Path) -> None:
    """Half of a pair of code units stands for no letter, but it is a name in JSON."""
    file = tmp_path / "instance.json"
    file.write_text(json.dumps(GOOD).replace('"a"', r'"\ud800"'))
    status, out, err = run(file, "--strategy", "greedy")

    assert (status, err) == (0, "")
    assert r"\ud800" in out


def test_a_lack_of_memory_is_one_sentence(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit status 1: the input may be fine."""

    def short(*_: Any, **__: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(plan, "plan", short)
    file = tmp_path / "instance.json"
    file.write_text(json.dumps(GOOD))

    assert run(file, "--strategy", "greedy") == (1, "", "stormplace: cannot go on: out of memory\n")
