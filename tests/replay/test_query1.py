"""The window and the kernel against the plain reference, on generated trips."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from replay.kernel import Trip, answers
from replay.query1 import Ranked, RouteWindow, challenge_row

if TYPE_CHECKING:
    from collections.abc import Callable

GAPS = st.sampled_from((0, 0, 1, 59, 60, 600, 1799, 1800, 1801, 7200))
TRIPS = st.lists(st.tuples(GAPS, st.integers(150, 152), st.integers(150, 155)), min_size=1, max_size=80)


def test_of_equal_counts_the_freshest_route_ranks_first() -> None:
    window = RouteWindow()
    for sequence, route in enumerate(("a", "b", "c", "b", "a"), start=1):
        window.add(sequence, 0, route)

    assert window.ranks() == [Ranked("a", 2), Ranked("b", 2), Ranked("c", 1)]


def test_a_route_that_loses_a_trip_is_placed_by_its_freshest_remaining_trip() -> None:
    window = RouteWindow()
    for sequence, (time_s, route) in enumerate(((0, "a"), (10, "a"), (20, "b"), (1805, "c")), start=1):
        window.add(sequence, time_s, route)

    assert window.ranks() == [Ranked("c", 1), Ranked("b", 1), Ranked("a", 1)]


def test_a_trip_of_exactly_half_an_hour_is_out() -> None:
    window = RouteWindow()
    window.add(1, 0, "a")
    window.advance(1799)
    assert len(window) == 1

    window.advance(1800)

    assert window.ranks() == []


def test_a_missing_route_is_two_nulls() -> None:
    row = challenge_row("p", "d", [Ranked("1.2-3.4", 5)])

    assert row == "p,d,1.2,3.4" + ",NULL,NULL" * 9


@settings(max_examples=60, deadline=None)
@given(trips=TRIPS, cut=st.integers(0, 80))
def test_the_kernel_answers_a_block_with_history_like_the_reference(
    trips: list[tuple[int, int, int]],
    cut: int,
    reference: Callable[..., object],
    line: Callable[..., str],
) -> None:
    """Trips before the cut are history: every later answer is the same as without any cut."""
    time_s, lines, given_trips = 1_357_000_000, [], []
    for number, (gap, start, end) in enumerate(trips, start=1):
        time_s += gap
        lines.append(line(time_s, (150, start), (150, end)))
        fields = lines[-1].split(",")
        route = f"150.{start}-150.{end}"
        given_trips.append(Trip(number, time_s, route, fields[2], fields[3], number <= cut))
    expected = reference(lines)

    found = list(answers(given_trips))

    changes = [(a.line, a.row) for a in found if a.kind == "change"]
    instants = {
        a.line: (a.time_s, a.trips, list(zip(a.routes, a.counts, strict=True)), a.tied)
        for a in found
        if a.kind == "instant"
    }
    minutes = {
        a.time_s: (a.line, list(zip(a.routes, a.counts, strict=True))) for a in found if a.kind == "minute"
    }
    assert changes == [each for each in expected.tops if each[0] > cut]  # type: ignore[attr-defined]  # fixture
    assert instants == {n: s for n, s in expected.instants.items() if n > cut}  # type: ignore[attr-defined]  # same
    assert minutes == {m: s for m, s in expected.minutes.items() if s[0] > cut}  # type: ignore[attr-defined]  # same
