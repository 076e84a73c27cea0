"""What the sources of topologies usually emit, kept by their names."""

from __future__ import annotations

import json

import pytest

from formats.week_curve import HourMean, hour_of_week
from monitoring.rates.week_memory import LEAST_WEEKS, MOST_NAMES, WeekMemory, name_of

MONDAY_S = 1_764_547_200.0  # 2025-12-01T00:00Z
HOUR_S = 3600.0
WEEK_S = 168 * HOUR_S


def run(
    memory: WeekMemory, begin_s: float, rates: list[float], name: str = "t", every_s: float = 60.0
) -> int:
    """Show a rate per hour, a sample a minute; return how many hours have counted."""
    counted = 0
    for hour, rate in enumerate(rates):
        at_s = begin_s + hour * HOUR_S
        while at_s < begin_s + (hour + 1) * HOUR_S:
            counted += memory.take(name, at_s, rate)
            at_s += every_s
    return counted


def test_hours_that_were_seen_in_two_weeks_say_how_busy_they_usually_are() -> None:
    """Against the present hour; a single week says nothing, and hours never seen neither."""
    memory = WeekMemory()
    for week in range(LEAST_WEEKS):
        assert memory.ahead("t", MONDAY_S) == ()
        run(memory, MONDAY_S + week * WEEK_S, [10.0, 30.0, 5.0, 1.0])
    ahead = memory.ahead("t", MONDAY_S + LEAST_WEEKS * WEEK_S + 1800.0)
    assert ahead[0] == pytest.approx(3.0, rel=0.05)
    assert ahead[1] == pytest.approx(0.5, rel=0.05)
    assert set(ahead[2:]) == {None}


def test_an_hour_counts_if_half_of_it_was_seen() -> None:
    """The collector may have started in the middle of it."""
    late = WeekMemory()
    for minute in range(35, 61):
        assert not late.take("t", MONDAY_S + 60.0 * minute, 7.0)
    early = WeekMemory()
    counted = [early.take("t", MONDAY_S + 60.0 * minute, 7.0) for minute in range(20, 61)]
    assert counted == [False] * 40 + [True]


def test_times_without_a_reading_are_not_made_up() -> None:
    """A sample holds for three minutes at most."""
    memory = WeekMemory()
    assert not any(memory.take("t", MONDAY_S + 900.0 * k, 7.0) for k in range(8))


def test_a_topology_that_is_submitted_anew_keeps_its_week() -> None:
    assert name_of("taxi-3-1764547200") == name_of("taxi-12-1764999999") == "taxi"
    assert name_of("my-query-2-1-1764547200") == "my-query-2"
    assert name_of("odd") == "odd"


def test_what_is_kept_comes_back() -> None:
    memory = WeekMemory()
    for week in range(2):
        run(memory, MONDAY_S + week * WEEK_S, [10.0, 30.0, 5.0])
    text = json.dumps(memory.content()).encode()
    again = WeekMemory.read(text)
    assert again.content() == memory.content()
    now_s = MONDAY_S + 2 * WEEK_S + 60.0
    assert again.ahead("t", now_s) == memory.ahead("t", now_s) != ()


def test_a_clock_that_went_back_counts_nothing_twice() -> None:
    memory = WeekMemory()
    run(memory, MONDAY_S, [10.0, 10.0])
    run(memory, MONDAY_S - 5 * HOUR_S, [10.0])
    hours = {hour: HourMean(mean, weeks) for hour, mean, weeks in memory.content()["weeks"]["t"]["hours"]}
    assert all(seen.mean == pytest.approx(10.0) for seen in hours.values())
    assert hours[hour_of_week(MONDAY_S)].weeks == 1


def test_topologies_that_were_not_seen_for_long_are_forgotten() -> None:
    """Names may be made up anew with each submission."""
    memory = WeekMemory()
    for number in range(MOST_NAMES + 5):
        memory.take(f"t{number}", MONDAY_S + number, 1.0)
    run(memory, MONDAY_S + WEEK_S, [1.0, 1.0], "kept")
    names = memory.content()["weeks"].keys()
    assert len(names) == MOST_NAMES
    assert {"kept", f"t{MOST_NAMES + 4}"} <= names
    assert "t0" not in names


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"[]", "not a JSON object"),
        (b'{"version": 2, "weeks": {}}', "not a state file of version 1"),
        (b'{"version": 1}', "weeks is not an object"),
        (b'{"version": 1, "weeks": {"t": {"seen": 0, "hours": [[1, 2]]}}}', "t.hours: an entry is not"),
        (b'{"version": 1, "weeks": {"t": {"seen": 0, "hours": [[168, 2, 1]]}}}', "hour 168"),
        (b'{"version": 1, "weeks": {"t": {"seen": 0, "hours": [[1, -2, 1]]}}}', "not a finite number from 0"),
        (b'{"version": 1, "weeks": {"t": {"hours": []}}}', "t.seen is not a finite number"),
    ],
)
def test_bad_content_is_refused_with_its_place(text: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        WeekMemory.read(text)
