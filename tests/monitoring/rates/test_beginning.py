"""Rules of when an executor began to work, by what its worker rendered and when that was looked at."""

from __future__ import annotations

import random

import pytest

from monitoring.rates.counters import Counters, Stream
from monitoring.rates.history import ExecutorHistory

OLD, NEW = ("fog-1", 6700), ("fog-2", 6700)
FROM = Stream("spout", "default")
BEFORE = 3600
"""Age of the worker that ran before, s."""


def counters(uptime_s: int, count: float, step: float = 1.0) -> Counters:
    taken = int(count // step * step)
    return Counters(uptime_s, step, {}, {}, {FROM: taken} if taken else {}, None)


def history(
    *renderings: tuple[int, float], step: float = 1.0, looked: bool = True, moved: bool = True
) -> ExecutorHistory:
    """Follow an executor whose worker starts at 0 s and shows so many tuples at these ages.

    Args:
        renderings: Age, tuples.
        step: What counts advance by.
        looked: Whether it is looked for every 5 s before; else the first look is at the first rendering.
        moved: Whether it ran elsewhere before.
    """
    one = ExecutorHistory()
    if moved:
        one.look(-5.0, OLD, counters(BEFORE, 10_000))
    for now_s in range(0, renderings[0][0], 5) if looked else ():
        one.look_in_vain(now_s)
    for age_s, count in renderings:
        one.look(age_s + 0.5, NEW, counters(age_s, count, step))
    return one


def test_it_began_between_two_renderings_by_the_counts_and_the_rate_since() -> None:
    """Two tuples a second: of six that were taken by then the first came three seconds before."""
    one = history((5, 0), (10, 0), (15, 6), (20, 16), (25, 26))
    assert one.worked_after_s == pytest.approx(12.0)
    more = history((5, 0), (10, 0), (15, 12), (20, 22))
    assert more.worked_after_s == pytest.approx(10.0)


def test_a_worker_that_shows_no_executors_for_a_while_has_none() -> None:
    """What waits for them is worked off at once, and says nothing: the middle of the last period counts."""
    one = history((22, 14), (28, 17), (35, 20))
    assert one.worked_after_s == pytest.approx(19.0)
    steady = history((22, 2), (28, 5), (35, 8))
    assert steady.worked_after_s == pytest.approx(18.0, abs=0.5)


@pytest.mark.parametrize("idle", [(), ((0, 0),)])
def test_a_backlog_in_the_first_rendering_of_all_does_not_say_when(
    idle: tuple[tuple[int, float], ...],
) -> None:
    """The middle of the worker's age then, not its start: what was replayed came at once."""
    one = history(*idle, (20, 1000), (80, 1600), looked=False)
    assert one.worked_after_s == pytest.approx(10.0)


def test_a_rendering_a_minute_is_refined_by_the_counts() -> None:
    """Storm's default; the sampling hides nineteen of twenty tuples."""
    rng = random.Random(7)
    for begins_s in (3, 20, 50):
        taken = [(age_s, 40.0 * (age_s - begins_s)) for age_s in (60, 120, 180)]
        noisy = [(age_s, count + rng.uniform(0, 20)) for age_s, count in taken]
        assert history(*noisy, step=20.0).worked_after_s == pytest.approx(begins_s, abs=1.5)


@pytest.mark.parametrize(
    "renderings",
    [
        [(5, 0), (10, 0), (15, 0)],
        [(5, 3)],
        [(5, 0), (60, 1), (120, 2)],
    ],
)
def test_it_is_not_known_without_tuples_that_come_often_enough(renderings: list[tuple[int, float]]) -> None:
    """No tuple, a single rendering with some, one tuple a minute."""
    assert history(*renderings).worked_after_s is None


def test_it_is_not_known_before_there_are_statistics() -> None:
    """Nor that it was ready."""
    assert (ExecutorHistory().worked_after_s, ExecutorHistory().ready_after_s) == (None, None)


def test_what_has_no_tuple_at_first_is_ready_in_the_middle_of_what_is_possible() -> None:
    """It was there by its first rendering, and not at the one that was due before."""
    assert history((22, 0), (28, 0), (60, 30)).ready_after_s == pytest.approx(19.0)
    assert history((1, 0), (6, 0)).ready_after_s == pytest.approx(0.5)
    assert history((22, 1), (28, 4)).ready_after_s is None
    assert history((22, 0)).ready_after_s is None


def test_a_run_that_was_not_followed_says_little_of_its_begin() -> None:
    """A collector that starts minutes later knows no rendering before: counts alone bound it."""
    late = history((300, 600), (306, 612), looked=False, moved=False)
    assert late.worked_after_s == pytest.approx(0.0)
    assert history((300, 0), (306, 0), looked=False, moved=False).ready_after_s is None
    assert history((300, 0), (306, 0), looked=False).ready_after_s is None


def test_a_restart_begins_anew() -> None:
    """What the run before did is none of this one's."""
    one = history((5, 0), (10, 5), (15, 15))
    assert one.worked_after_s == pytest.approx(7.5)
    for now_s in range(20, 40, 5):
        one.look_in_vain(now_s)
    one.look(41.0, OLD, counters(10, 0))
    assert one.worked_after_s is None
    one.look(46.0, OLD, counters(15, 4))
    one.look(51.0, OLD, counters(20, 14))
    assert one.worked_after_s == pytest.approx(13.0)
