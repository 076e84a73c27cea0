"""Rows that come again: once in the window, told again with all that they changed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from topologies.taxi.retelling import Retelling
from topologies.taxi.window import RouteCount, SlidingWindow


def test_a_row_that_comes_again_is_counted_once_but_told_again() -> None:
    """With all that it changed, also routes that left the window then."""
    window = SlidingWindow()
    retelling = Retelling(window)
    window.advance(0)
    assert retelling.count(1, "a", 1) == [RouteCount("a", 1, 1)]
    window.advance(1_800)
    told = retelling.count(2, "b", 2)
    assert told == [RouteCount("a", 0, 0), RouteCount("b", 1, 2)]
    assert retelling.count(2, "b", 3) == told


def test_a_row_is_known_however_many_others_pass_before_it_comes_again() -> None:
    """As a fast query loses one and gets it back a minute later."""
    window = SlidingWindow(1_800)
    retelling = Retelling(window)
    others = 25_000
    for n in range(1, others + 2):
        window.advance(n // 20)
        retelling.count(n, "lost" if n == 1 else "other", n)
    assert retelling.count(1, "lost", others + 2) == [RouteCount("lost", 1, 1)]


def test_a_row_that_has_left_the_window_is_counted_as_late() -> None:
    """And what was remembered of it is forgotten, also when nothing but its repetitions come."""
    window = SlidingWindow(10)
    retelling = Retelling(window)
    for n in range(1, 6):
        window.advance(n)
        retelling.count(n, "a", n)
    window.advance(14)
    assert retelling.count(5, "a", 6) == [RouteCount("a", 1, 5)]
    assert len(retelling._told) == len(retelling._counted) == 1
    assert retelling.count(1, "a", 7) == [RouteCount("a", 2, 7)]
    window.advance(15)
    assert retelling.count(5, "a", 8) == [RouteCount("a", 2, 8)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 12)), max_size=60))
def test_no_row_is_twice_in_a_window(comings: list[tuple[int, int]]) -> None:
    """Any rows come again at any time: each is counted where it is not in the window, as a set has it."""
    window = SlidingWindow(10)
    retelling = Retelling(window)
    now_s = 0
    counted: dict[int, int] = {}
    told: Counter[str] = Counter()
    for p, (step_s, n) in enumerate(comings, start=1):
        now_s += step_s
        window.advance(now_s)
        for change in retelling.count(n, f"r{n % 3}", p):
            told[change.route] = change.count
        counted = {row: at_s for row, at_s in counted.items() if at_s > now_s - 10}
        counted.setdefault(n, now_s)
        assert +told == Counter(f"r{row % 3}" for row in counted)
