"""Hours to come as steps: how busy they usually are, which hosts leave."""

from __future__ import annotations

import pytest

from bridge.round.small.steps_ahead import steps_ahead

HOUR_S = 3600.0


def shown(steps):
    return [(each.seconds, round(each.rate, 2), set(each.away)) for each in steps]


def test_the_present_lasts_until_the_hour_is_over():
    """Then each hour has its factor, in steps of a quarter; the last one is cut where the view ends."""
    steps = steps_ahead((2.0, 0.5, 1.0, 4.0), 600.0, {}, 2 * HOUR_S)
    assert shown(steps) == [(600.0, 1.0, set()), (HOUR_S, 1.95, set()), (3000.0, 0.51, set())]


def test_the_view_ends_where_nothing_is_known():
    """An hour that was never seen says nothing of those behind it."""
    assert shown(steps_ahead((2.0, None, 4.0), 600.0, {}, 6 * HOUR_S)) == [
        (600.0, 1.0, set()),
        (HOUR_S, 1.95, set()),
    ]


def test_hosts_leave_when_it_is_announced():
    """Also where nothing is known of rates; what leaves later than the view goes makes no difference."""
    steps = steps_ahead((), HOUR_S, {"a": 900.0, "b": 5 * HOUR_S, "c": 9 * HOUR_S}, 6 * HOUR_S)
    assert shown(steps) == [
        (900.0, 1.0, set()),
        (5 * HOUR_S - 900.0, 1.0, {"a"}),
        (HOUR_S, 1.0, {"a", "b"}),
    ]


@pytest.mark.parametrize(
    ("factors", "leaving"),
    [((), {}), ((1.0, 1.05, 0.95), {}), ((None, 5.0), {}), ((), {"a": 7 * HOUR_S}), ((1.0, 1.0), {})],
)
def test_where_nothing_differs_there_is_nothing_to_look_at(factors, leaving):
    assert steps_ahead(factors, 600.0, leaving, 6 * HOUR_S) == ()


def test_an_hour_without_load_has_none():
    assert shown(steps_ahead((0.0,), 600.0, {}, HOUR_S))[1] == (3000.0, 0.0, set())
