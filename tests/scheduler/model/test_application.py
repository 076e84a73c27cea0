from __future__ import annotations

import pytest

from scheduler.base.checks import ModelError
from scheduler.model.application import Application, Operator, Stream


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": ""}, 'name: expected a name, got ""'),
        ({"name": 3}, "name: expected a name, got 3"),
        ({"name": "a", "execution_time_ms": -1}, "execution_time_ms: expected a number >= 0, got -1"),
        (
            {"name": "a", "execution_time_ms": float("nan")},
            "execution_time_ms: expected a number >= 0, got nan",
        ),
        ({"name": "a", "execution_time_ms": True}, "execution_time_ms: expected a number >= 0, got true"),
        ({"name": "a", "execution_time_ms": 10**400}, "execution_time_ms: expected a number >= 0, got 1"),
        (
            {"name": "a", "execution_time_ms": 1e16},
            "execution_time_ms: expected a number <= 1e+15, got 1e+16",
        ),
        ({"name": "a", "demand": {"slots": "x"}}, 'demand.slots: expected a number >= 0, got "x"'),
        ({"name": "a", "allowed": ("n", 4)}, "allowed[1]: expected a name, got 4"),
    ],
)
def test_an_operator_refuses(values: dict[str, object], message: str) -> None:
    """Each bad value is named with what was expected."""
    with pytest.raises(ModelError) as caught:
        Operator(**values)  # type: ignore[arg-type]  # bad values on purpose

    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"rate": -0.5}, "rate: expected a number >= 0, got -0.5"),
        ({"tuple_bytes": None}, "tuple_bytes: expected a number >= 0, got null"),
        ({"critical": 1}, "critical: expected true or false, got 1"),
    ],
)
def test_a_stream_refuses(values: dict[str, object], message: str) -> None:
    """Each bad value is named with what was expected."""
    with pytest.raises(ModelError) as caught:
        Stream("a", "b", **values)  # type: ignore[arg-type]  # bad values on purpose

    assert str(caught.value) == message


def application(names: str, *streams: Stream) -> Application:
    return Application(tuple(Operator(name) for name in names), streams)


@pytest.mark.parametrize(
    ("names", "streams", "message"),
    [
        ("", (), "operators: expected at least one operator"),
        ("aba", (), 'operators[2].name: "a" is the name of operators[0] too'),
        ("ab", (Stream("a", "x"),), 'streams[0].to: "x" is not an operator'),
        ("ab", (Stream("x", "a"),), 'streams[0].from: "x" is not an operator'),
        ("ab", (Stream("a", "a"),), "streams: critical streams form a cycle: a -> a"),
        (
            "abc",
            (Stream("a", "b"), Stream("b", "c"), Stream("c", "b")),
            "streams: critical streams form a cycle: b -> c -> b",
        ),
    ],
)
def test_an_application_refuses(names: str, streams: tuple[Stream, ...], message: str) -> None:
    """Duplicates, unknown ends and cycles are named."""
    with pytest.raises(ModelError) as caught:
        application(names, *streams)

    assert str(caught.value).startswith(message)


def test_a_cycle_through_a_stream_that_is_not_critical_is_accepted() -> None:
    """Feedback is permitted when it is marked, and takes no part in the order."""
    accepted = application("abc", Stream("c", "b"), Stream("b", "a"), Stream("a", "c", critical=False))

    assert accepted.order.tolist() == [2, 1, 0]
    assert accepted.critical_streams.tolist() == [0, 1]


def test_arrays_of_an_application_cannot_be_written() -> None:
    """A problem that is shared between strategies stays as it is."""
    with pytest.raises(ValueError, match="read-only"):
        application("ab", Stream("a", "b")).rate[0] = 3.0
