"""Numbers of executors that make a difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.elasticity.useful import choices, effective, least_equal, next_useful, stepped, useful


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


@pytest.mark.parametrize(
    ("tasks", "least", "most", "expected"),
    [
        (None, 2, 4, (2, 3, 4)),
        (24, 1, 24, (1, 2, 3, 4, 6, 8, 12, 24)),
        (12, 1, 7, (1, 2, 3, 4, 6)),
        (24, 1, 5, (1, 2, 3, 4, 5)),
        (12, 7, 12, (7, 12)),
        (12, 7, 7, (7,)),
    ],
)
def test_choices_between_bounds(tasks: int | None, least: int, most: int, expected: tuple[int, ...]) -> None:
    assert choices(tasks, least, most) == expected


@given(st.integers(1, 200), st.data())
def test_each_choice_does_more_than_the_one_before(tasks: int, data: st.DataObject) -> None:
    """And none in between does more than the one below it would with even shares."""
    least = data.draw(st.integers(1, tasks))
    most = data.draw(st.integers(least, tasks))
    found = choices(tasks, least, most)
    assert found[0] == least
    assert found[-1] <= most
    does = [effective(tasks, each) for each in found]
    assert does == sorted(set(does))
    assert does[-1] == effective(tasks, most)


@pytest.mark.parametrize(
    ("executors", "action", "expected"),
    [(6, 1, 8), (6, -1, 4), (7, 1, 8), (7, -1, 4), (24, 1, 24), (1, -1, 1), (6, 0, 6), (7, 0, 7)],
)
def test_a_step_goes_to_the_next_choice(executors: int, action: int, expected: int) -> None:
    assert stepped(choices(24, 1, 24), executors, action) == expected


def test_below_all_choices_one_step_goes_to_the_first() -> None:
    assert stepped((3, 4), 1, 1) == 3
    assert stepped((3, 4), 1, -1) == 1
