"""When the response time is back: courses whose moment of recovery is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from experiments.adaptation.report.deliveries import Deliveries
from experiments.adaptation.report.labels import Label, arrange
from experiments.adaptation.report.recovery import (
    Recovery,
    longest_silence_s,
    recovery,
    rolling_median_ms,
    settled_ms,
)

if TYPE_CHECKING:
    from collections.abc import Callable

RATE, EVENT_S, END_S = 10.0, 20.0, 140.0
LEVEL_MS = 60.0


def rows(response_ms: Callable[[float], float], *, without: tuple[float, float] = (0, 0)) -> Deliveries:
    """Rows each 0.1 s from 0 to the end, none in the stretch `without`."""
    available_s = np.arange(0, END_S, 1 / RATE)
    available_s = available_s[(available_s < without[0]) | (available_s >= without[1])]
    times_ms = np.array([response_ms(time_s) for time_s in available_s.tolist()])
    return Deliveries(
        numbers=np.arange(1, len(times_ms) + 1),
        available_s=available_s,
        response_ms=times_ms,
        wanted=len(times_ms),
        lost=0,
        repeated=0,
        replayed=0,
        by_expected_answers=True,
    )


def recovered(found: Deliveries, moved_s: float = EVENT_S) -> Recovery:
    return recovery(found, rolling_median_ms(found), EVENT_S, END_S, RATE, moved_s=moved_s)


def back_after_s(found: Deliveries) -> float | None:
    return recovered(found).back_s


def silent_until(end_s: float) -> Callable[[float], float]:
    """Rows of the event and later get their result when the silence ends, or as always."""
    return lambda at_s: max(LEVEL_MS, (end_s - at_s) * 1000.0) if at_s >= EVENT_S else LEVEL_MS


@settings(deadline=None, max_examples=12)
@given(st.floats(min_value=6.0, max_value=80.0))
def test_after_a_silence_the_response_time_is_back_when_half_a_window_is(length_s: float) -> None:
    """Of 2.5 s; rows come each 0.1 s, and those that wait for less than 72 ms are quick."""
    found = back_after_s(rows(silent_until(EVENT_S + length_s)))
    assert found == pytest.approx(length_s + 2.5, abs=0.1)


def test_the_rolling_median_is_that_of_the_rows_of_the_last_five_seconds() -> None:
    found = rows(lambda at_s: 50.0 + (at_s * 7.7) % 13.0)
    at = 700
    inside = (found.available_s > found.available_s[at] - 5.0) & (found.available_s <= found.available_s[at])
    assert inside.sum() == 50
    assert rolling_median_ms(found)[at] == np.median(found.response_ms[inside])


def test_a_response_time_that_never_left_is_back_at_once() -> None:
    """Single slow rows, and rows without result, are no outage."""
    assert back_after_s(rows(lambda at_s: np.inf if at_s % 1.0 < 0.05 else LEVEL_MS)) == 0.0


def test_a_level_within_a_fifth_of_the_settled_one_counts_as_back() -> None:
    def course(factor: float) -> Deliveries:
        return rows(lambda at_s: LEVEL_MS * (factor if EVENT_S + 10 <= at_s < EVENT_S + 40 else 1.0))

    assert back_after_s(course(1.2)) == 0.0
    assert back_after_s(course(1.2001)) == pytest.approx(42.4)


def leaving_twice(second_s: int) -> Deliveries:
    """Slow for 5 s after the event, and for 10 s again later."""
    slow = {*range(5), *range(second_s, second_s + 10)}
    return rows(lambda at_s: 900.0 if int(at_s - EVENT_S) in slow else LEVEL_MS)


def test_the_last_departure_counts() -> None:
    """A response time that is well for a while and leaves again is back after the second time."""
    found = recovered(leaving_twice(50))
    assert found.back_s == pytest.approx(62.5)
    assert found.first_s == pytest.approx(7.5)


def test_half_a_minute_of_quick_rows_is_what_counts_as_back_for_a_first_time() -> None:
    """From 7.5 s to 34.5 s it is less."""
    found = recovered(leaving_twice(32))
    assert found.first_s == found.back_s == pytest.approx(44.5)


def test_quick_rows_before_the_last_move_do_not_count() -> None:
    """The move comes 30 s after the event and is an outage from the 50th second on."""
    found = recovered(leaving_twice(50), moved_s=EVENT_S + 30)
    assert found.first_s == found.back_s == pytest.approx(62.5)


def test_a_move_that_costs_nothing_is_no_departure() -> None:
    """It was never away, and that has been seen for half a minute after the move."""
    assert recovered(rows(lambda _: LEVEL_MS), moved_s=EVENT_S + 60) == Recovery(0.0, 0.0)


def test_what_comes_back_shortly_before_the_end_is_back_for_less_than_half_a_minute() -> None:
    """The phase ends well, which is all that can be known."""
    found = recovered(rows(lambda at_s: 900.0 if EVENT_S <= at_s < END_S - 25 else LEVEL_MS))
    assert found.first_s == found.back_s == pytest.approx(END_S - EVENT_S - 22.5)


def test_newer_rows_that_are_quick_do_not_hide_a_backlog() -> None:
    """Rows of a third of each second wait until 50 s after the event while all others are quick."""

    def course(at_s: float) -> float:
        slow = EVENT_S <= at_s < EVENT_S + 30 and at_s % 1.0 < 0.29
        return (EVENT_S + 50 - at_s) * 1000.0 if slow else LEVEL_MS

    found = rows(course)
    assert rolling_median_ms(found).max() == LEVEL_MS
    assert back_after_s(found) == pytest.approx(50.0)


@pytest.mark.parametrize(("wait_s", "back_s"), [(17.0, 0.0), (18.0, 45.4)])
def test_a_row_is_in_the_backlog_only_from_the_time_on_at_which_it_is_late(
    wait_s: float, back_s: float
) -> None:
    """With a level of 4 s that is 4.8 s after the row; four rows a second are slow, and 50 may wait."""

    def course(at_s: float) -> float:
        slow = EVENT_S <= at_s < EVENT_S + 40 and round(at_s * 10) % 10 in {0, 3, 5, 8}
        return wait_s * 1000.0 if slow else 4_000.0

    found = rows(course)
    assert rolling_median_ms(found).max() == 4_000.0
    assert back_after_s(found) == pytest.approx(back_s)


def test_a_stretch_of_more_than_five_seconds_without_rows_is_an_outage() -> None:
    at_s = EVENT_S + 30
    assert back_after_s(rows(lambda _: LEVEL_MS, without=(at_s, at_s + 6))) == pytest.approx(36.0)
    assert back_after_s(rows(lambda _: LEVEL_MS, without=(at_s, at_s + 4.8))) == 0.0
    assert back_after_s(rows(lambda _: LEVEL_MS, without=(EVENT_S, EVENT_S + 7))) == pytest.approx(7.0)
    assert back_after_s(rows(lambda _: LEVEL_MS, without=(END_S - 6, END_S))) is None


def test_a_stretch_of_rows_without_result_is_an_outage() -> None:
    found = back_after_s(rows(lambda at_s: np.inf if EVENT_S + 3 <= at_s < EVENT_S + 25 else LEVEL_MS))
    assert found == pytest.approx(27.5)


@pytest.mark.parametrize("late_ms", [5_100.0, np.inf])
def test_who_waits_longer_than_an_outage_has_not_settled(late_ms: float) -> None:
    """Even if the response time has been constant since the event."""
    found = rows(lambda at_s: late_ms if at_s >= EVENT_S else LEVEL_MS)
    assert settled_ms(found, EVENT_S, END_S) is None
    assert back_after_s(found) is None


def test_what_leaves_before_the_end_is_not_back() -> None:
    """However long it was well before."""
    assert recovered(rows(lambda at_s: 500.0 if at_s >= END_S - 4 else LEVEL_MS)) == Recovery(None, None)


def test_settled_is_the_median_of_the_last_half_minute() -> None:
    found = rows(lambda at_s: 80.0 if at_s >= END_S - 16 else LEVEL_MS)
    assert settled_ms(found, EVENT_S, END_S) == 80.0
    assert settled_ms(found, EVENT_S, END_S - 16) == LEVEL_MS
    assert settled_ms(found, END_S, END_S + 1) is None


def test_silence_is_the_longest_time_without_any_result() -> None:
    assert longest_silence_s(rows(silent_until(EVENT_S + 9)), EVENT_S, END_S) == pytest.approx(9.0)


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.floats(0, 600), st.integers(1, 60)), min_size=1, max_size=8),
)
def test_labels_never_cover_each_other(found: list[tuple[float, int]]) -> None:
    """Each begins at its moment, or ends with the panel."""
    figure = Figure(figsize=(10, 1), dpi=100)
    FigureCanvasAgg(figure)
    labels = [Label(x, "n" * letters, "red") for x, letters in found]
    placed = arrange(figure, labels, (0.0, 600.0), 1000.0)
    boxes = []
    for each in placed:
        text = figure.text(0, 0, each.label.text, fontsize=9.0)
        boxes.append((each.line, each.left, each.left + text.get_window_extent().width))
        assert each.left == pytest.approx(min(each.label.x / 0.6, 1000.0 - (boxes[-1][2] - each.left)))
    for one, (line, left, right) in enumerate(boxes):
        assert all(line != other or right <= start or end <= left for other, start, end in boxes[one + 1 :])
