"""Numbers of executors that make a difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.leasing.useful import effective, least_equal, next_useful, useful


@pytest.mark.parametrize(
    ("executors", "does"), [(4, 4.0), (5, 4.0), (6, 6.0), (7, 6.0), (11, 6.0), (12, 12.0)]
)
def test_twelve_tasks(executors: int, does: float) -> None:
    """Five executors do no more than four, seven to eleven no more than six."""
    assert effective(12, executors) == does
    assert effective(None, executors) == executors


@given(tasks=st.integers(1, 200), wanted=st.integers(1, 200))
def test_a_useful_number_does_enough_and_none_below_it_does(tasks: int, wanted: int) -> None:
    """But for more than there are tasks, which no number does."""
    number = useful(tasks, wanted)
    assert effective(tasks, number) >= min(wanted, tasks)
    assert all(effective(tasks, less) < min(wanted, tasks) for less in range(1, number))


@given(tasks=st.integers(1, 200), executors=st.integers(1, 200))
def test_the_least_equal_number_does_as_much_with_no_more(tasks: int, executors: int) -> None:
    executors = min(tasks, executors)
    least = least_equal(tasks, executors)
    assert least <= executors
    assert effective(tasks, least) == effective(tasks, executors)


def test_without_tasks_every_number_is_useful() -> None:
    assert useful(None, 7) == least_equal(None, 7) == 7


@given(tasks=st.integers(1, 200), executors=st.integers(1, 200))
def test_the_next_useful_number_does_more_and_none_before_it_does(tasks: int, executors: int) -> None:
    executors = min(tasks, executors)
    following = next_useful(tasks, executors)
    if executors == tasks:
        assert following == tasks + 1
        return
    assert effective(tasks, following) > effective(tasks, executors)
    assert effective(tasks, following - 1) == effective(tasks, executors)
