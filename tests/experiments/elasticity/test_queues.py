"""Queues worked out by hand, and what holds in all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from experiments.elasticity.queues import Queue, Queues, exceeds
from tests.experiments.elasticity.scenarios import ONE, TWO, scenario


def empty(steps: int) -> Queue:
    """Return a queue before the first step."""
    return Queue(np.zeros(steps + 1), np.zeros(steps + 1), np.zeros(steps))


def test_items_wait_until_as_many_as_came_before_are_processed() -> None:
    queue = empty(5)
    processed = queue.step(np.full(5, 2.0), np.array([1.0, 1.0, 4.0, 4.0, 4.0]))
    assert processed.tolist() == [1.0, 1.0, 4.0, 2.0, 2.0]
    assert queue.backlog == 0.0
    # the middle one of step 2, the fourth, came at the end of step 1
    assert queue.waits().tolist() == pytest.approx([0.25, 0.75, 0.5, 0.0, 0.0])


def test_single_items_wait_as_long_as_their_counts_say() -> None:
    queues = Queues(scenario(), np.full(5, 2.0))
    queues.step(0, 5, {"a": np.array([0.5, 0.5, 2.0, 2.0, 2.0]), "b": np.full(5, 2.0)})
    assert queues.done(3).tolist() == [6.0, 3.0]
    # the third of a came in the middle of step 1, and was processed in a quarter of step 2
    assert queues.waited(3, np.array([[2.0, 3.0], [0.0, 3.0]])).tolist() == [[1.0, 0.75], [0.0, 0.0]]
    assert queues.backlogs(2).tolist() == [2.0, 0.0]


series = st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=1, max_size=30)


@given(series, st.integers(0, 29))
@example([(1.0, 1.0), (0.8224320972908684, 0.0)], 0)  # what is processed falls by rounding
def test_steps_may_pass_at_once_or_one_by_one(steps: list[tuple[float, float]], cut: int) -> None:
    """Against a queue that is counted step by step."""
    arrivals, capacity = (np.array(each) for each in zip(*steps, strict=True))
    queue, cut = empty(len(steps)), min(cut, len(steps))
    parts = [slice(0, cut), slice(cut, len(steps))]
    done = np.concatenate([queue.step(arrivals[p], capacity[p]) for p in parts if len(arrivals[p])])
    waiting, expected = 0.0, []
    for came, could in steps:
        expected.append(min(waiting + came, could))
        waiting += came - expected[-1]
    assert done.tolist() == pytest.approx(expected, abs=1e-6)
    assert queue.backlog == pytest.approx(waiting, abs=1e-6)
    assert (queue.waits() >= 0.0).all()


def test_components_hand_on_what_they_have_processed() -> None:
    queues = Queues(scenario(component=[TWO, ONE]), np.full(10, 2.0))
    queues.step(0, 10, {"a": np.ones(10), "b": np.ones(10)})
    assert queues.by_name["a"].backlog == 0.0
    assert queues.by_name["b"].processed[-1] == pytest.approx(10.0), "one of two"
    queues = Queues(scenario(), np.full(10, 4.0))
    queues.step(0, 10, {"a": np.ones(10), "b": np.ones(10)})
    assert queues.by_name["a"].backlog == pytest.approx(20.0)
    late = queues.late(2.0)
    assert late["a"].tolist() == pytest.approx([0, 0] + [2.0] * 8), "each waits half of its age"
    assert not late["b"].any()


@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0, 3), st.floats(0, 2)), min_size=1, max_size=20))
def test_components_that_keep_up_are_counted_like_others(steps: list[tuple[float, float, float]]) -> None:
    """All at once where nothing waits: against one queue after the other."""
    load, *running = (np.array(each) for each in zip(*steps, strict=True))
    queues, first, second = Queues(scenario(), load), empty(len(load)), empty(len(load))
    for k in range(len(load)):
        now = slice(k, k + 1)
        queues.step(k, k + 1, {"a": running[0][now], "b": running[1][now]})
        second.step(0.5 * first.step(load[now], running[0][now] * 2.0), running[1][now] * 2.0)
    for name, alone in (("a", first), ("b", second)):
        queue = queues.by_name[name]
        assert queue.came.tolist() == pytest.approx(alone.came.tolist(), abs=1e-8)
        assert queue.processed.tolist() == pytest.approx(alone.processed.tolist(), abs=1e-8)
        assert (queue.capacity.tolist(), queue.steps) == (alone.capacity.tolist(), alone.steps)


def test_what_does_not_wait_is_not_late() -> None:
    """However a sum is rounded, also of a little after very much: what is agreed is just kept."""
    load = np.random.default_rng(1).random(200) * 3.0
    load[0] = 1e9
    queues = Queues(scenario(), load)
    queues.step(0, 200, {"a": np.full(200, 1e9), "b": np.full(200, 1e9)})
    assert not any(each.any() for each in queues.late(1.0).values())


def test_how_likely_a_duration_is_too_long() -> None:
    limits = np.array([-1.0, 0.0, 999.0, 1000.0])
    assert exceeds(limits, 1000.0, 0.0).tolist() == [1.0, 1.0, 1.0, 0.0]
    sigma = 0.35
    median = 1000.0 * np.exp(-(sigma**2) / 2)
    found = exceeds(np.array([0.0, median, median * np.exp(sigma), 1e9]), 1000.0, sigma)
    assert found.tolist() == pytest.approx([1.0, 0.5, 0.158655, 0.0], abs=1e-5)
