"""Operators emit what their rates ask for, of every path alike, without chance."""

from __future__ import annotations

from collections import Counter

import pytest

from topologies.synthetic import selectivity
from topologies.synthetic.selectivity import Selectivity


@pytest.mark.parametrize("ratio", [0.1, 1.0 / 3.0, 1.0, 2.5, 7.0])
def test_a_stream_gets_its_rate_to_within_a_tuple(ratio: float) -> None:
    """After any number of tuples the count is the ratio times that number, off by less than one tuple."""
    passing = Selectivity(10.0, {5: 10.0 * ratio})
    sent = 0
    for taken in range(1, 1_000):
        sent += sum(copies for _, copies in passing.pass_on((0,)))
        assert abs(sent - taken * ratio) < 1.0 + 1e-6


def test_all_paths_are_passed_on_even_where_they_take_turns() -> None:
    """Paths that come in a fixed order do not meet the accumulator always at the same step."""
    passing = Selectivity(40.0, {9: 10.0})
    kept: Counter[int] = Counter()
    for step in range(400):
        kept[step % 4] += len(passing.pass_on((step % 4,)))
    assert all(24 <= kept[path] <= 26 for path in range(4))


def test_many_paths_do_not_pass_on_at_once() -> None:
    """Accumulators begin at different values: of each hundred tuples about a tenth goes on."""
    passing = Selectivity(1000.0, {0: 100.0})
    for _ in range(20):
        assert 7 <= sum(len(passing.pass_on((path,))) for path in range(100)) <= 13


def test_a_second_pass_says_the_same() -> None:
    """The same tuples in the same order give the same emits."""
    paths = [(step * 7 % 5,) for step in range(200)]
    first, second = (Selectivity(5.0, {0: 2.0, 1: 9.0}) for _ in range(2))
    assert [first.pass_on(path) for path in paths] == [second.pass_on(path) for path in paths]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths beyond the limit share an accumulator, and the rate holds."""
    monkeypatch.setattr(selectivity, "MOST_PATHS", 10)
    passing = Selectivity(4.0, {0: 1.0})
    sent = sum(len(passing.pass_on((path,))) for path in range(1_000))
    assert len(passing._count) <= 11
    assert sent == pytest.approx(250, abs=8)
