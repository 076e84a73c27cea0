"""When rows are due."""

from __future__ import annotations

from topologies.taxi.replay.check import Row
from topologies.taxi.replay.pace import Pace, Rate, Speed


def offsets(pace: Pace, *times_s: int | None, first: int = 1) -> list[float]:
    rows = [Row(b"", time_s, None) for time_s in times_s]
    return [pace.offset_s(first + index, row) for index, row in enumerate(rows)]


def test_a_rate_counts_rows_from_the_first_that_is_asked_for() -> None:
    """Whatever their times."""
    assert offsets(Rate(10.0), 5, None, 4, first=7) == [0.0, 0.1, 0.2]


def test_rows_may_be_due_together() -> None:
    """As many at once as are said, in the rate of all."""
    assert offsets(Rate(10.0, together=2), *[None] * 5, first=7) == [0.0, 0.0, 0.2, 0.2, 0.4]


def test_a_speed_follows_the_drop_offs() -> None:
    """Rows without a time, or of an earlier one, are due with the row before."""
    assert offsets(Speed(10.0), None, 100, 130, 90, None, 140, first=7) == [0.0, 0.0, 3.0, 3.0, 3.0, 4.0]
