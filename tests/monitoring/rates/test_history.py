"""Rules of deriving one executor's rates from its counters, with a scripted clock."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitoring.rates.counters import Counters, Stream
from monitoring.rates.history import ExecutorHistory

PLACE = ("host-1", 6700)
FROM = Stream("spout", "default")


def counters(uptime_s: int, count: int = 0, step: float = 1.0, ms: float | None = None) -> Counters:
    return Counters(
        uptime_s=uptime_s,
        step=step,
        emitted={"default": count},
        transferred={"default": 2 * count},
        executed={FROM: count},
        execute_ms={FROM: ms if ms is not None else 0.0},
    )


def fed(*looks: tuple[float, Counters], place: tuple[str, int] = PLACE) -> ExecutorHistory:
    one = ExecutorHistory()
    for now_s, shown in looks:
        one.look(now_s, place, shown)
    return one


def rate(one: ExecutorHistory, now_s: float) -> float | None:
    window = one.window(now_s)
    return None if window is None else window.executed_total


def test_time_is_taken_from_the_workers_age_not_from_the_looks() -> None:
    """Two renderings 60 s apart give their difference by 60 s, whenever they were looked at."""
    one = fed((100, counters(60, 600)), (169, counters(120, 1200)))
    window = one.window(169)
    assert window is not None
    assert window.length_s == 60
    assert window.emitted == {"default": 10}
    assert window.transferred == {"default": 20}
    assert window.executed == {FROM: 10}


def test_an_old_rendering_is_no_rate_of_zero() -> None:
    """Looks between two refreshes change nothing and do not count as news."""
    one = ExecutorHistory()
    assert one.look(0, PLACE, counters(60, 600))
    assert one.look(60, PLACE, counters(120, 1200))
    for now_s in range(70, 120, 10):
        assert not one.look(now_s, PLACE, counters(120, 1200))
        assert rate(one, now_s) == 10


def test_equal_counters_at_a_new_age_are_a_rate_of_zero() -> None:
    """A refresh in which nothing was counted says that nothing happened."""
    one = fed((0, counters(60, 600)), (60, counters(120, 600)))
    assert rate(one, 60) == 0


def test_one_rendering_is_not_enough() -> None:
    """A total since the start of a worker says nothing about now."""
    assert rate(fed((0, counters(1_000_000, 600))), 0) is None


def test_a_window_below_the_shortest_gives_no_rates() -> None:
    """Truncated seconds would show in a shorter window."""
    one = fed((0, counters(5, 50)), (19, counters(24, 240)))
    assert rate(one, 19) is None
    one.look(20, PLACE, counters(25, 250))
    assert rate(one, 20) == 10


def test_the_window_slides() -> None:
    """What happened more than a window ago does not count any more."""
    one = ExecutorHistory()
    for second in range(0, 300, 5):
        fast = 100 * min(second, 100)
        one.look(second, PLACE, counters(second, fast + 10 * max(0, second - 100)))
    window = one.window(295)
    assert window is not None
    assert window.length_s == 55  # nine tenths of 60 s, and as few refreshes as will do
    assert window.executed_total == 10


def test_a_refresh_every_minute_makes_windows_of_a_minute() -> None:
    """A window that is a second short of its length is not taken for half of two."""
    one = fed((0, counters(60, 0)), (60, counters(120, 600)), (120, counters(179, 1190)))
    window = one.window(120)
    assert window is not None
    assert window.length_s == 59


@pytest.mark.parametrize(
    "restarted",
    [
        counters(10, 700),  # the age went back
        counters(120, 599),  # a counter went back
        replace(counters(120, 700), emitted={}),  # a counter vanished
        counters(120, 700, step=20.0),  # the sampling changed
        counters(400, 5000),  # older than the time that has passed
        counters(61, 601),  # younger than the time that has passed
    ],
)
def test_a_restart_begins_a_new_history(restarted: Counters) -> None:
    """Counters of two runs of a worker are never subtracted, however the restart shows."""
    one = fed((0, counters(0, 0)), (60, counters(60, 600)), (110, counters(60, 600)))
    one.look(120, PLACE, restarted)
    assert one.restarts == 1
    assert rate(one, 120) is None
    later = replace(restarted, uptime_s=restarted.uptime_s + 30, executed={FROM: 10_000})
    one.look(150, PLACE, replace(later, emitted={"default": 10_000}, transferred={"default": 20_000}))
    assert rate(one, 150) == (10_000 - restarted.executed[FROM]) / 30


def test_a_restart_right_after_a_start_is_found() -> None:
    """An age that went back is a restart, even if it went back by less than the slack."""
    one = fed((0, counters(4, 0)), (2, counters(2, 5)))
    assert one.restarts == 1


@pytest.mark.parametrize("place", [("host-2", 6700), ("host-1", 6701)])
def test_a_moved_executor_begins_a_new_history(place: tuple[str, int]) -> None:
    """Another host or port is another worker, even if its counters look like a continuation."""
    one = fed((0, counters(0, 0)), (60, counters(60, 600)))
    one.look(120, place, counters(120, 1200))
    assert rate(one, 120) is None
    one.look(180, place, counters(180, 1800))
    assert rate(one, 180) == 10


def test_an_outage_of_nimbus_is_no_restart() -> None:
    """After minutes without a look the same worker goes on with a long window, then with the usual one."""
    one = fed((0, counters(0, 0)), (60, counters(60, 600)), (400, counters(360, 3600)))
    assert one.restarts == 0
    assert rate(one, 400) == 10


@pytest.mark.parametrize(("look_s", "render_s"), [(10.0, 5.0), (5.0, 5.0), (10.0, 60.0), (3.0, 7.0)])
def test_the_start_of_a_worker_is_known_to_half_the_time_between_looks(
    look_s: float, render_s: float
) -> None:
    """From the second rendering on, whatever the rhythms; ages are whole seconds."""
    chance = random.Random(7)
    for _ in range(50):
        start_s, phase_s = chance.uniform(0.0, 60.0), chance.uniform(0.0, look_s)
        one = ExecutorHistory()
        shown, seen = None, 0
        for number in range(60):
            now_s = phase_s + number * look_s
            age_s = (now_s - start_s) // render_s * render_s
            if age_s < render_s:
                continue
            fresh = counters(int(age_s), number)
            seen += shown is None or fresh.uptime_s != shown.uptime_s
            shown = fresh if shown is None or fresh.uptime_s != shown.uptime_s else shown
            one.look(now_s, PLACE, shown)
            if seen > 1:
                assert one.start_s == pytest.approx(start_s, abs=look_s / 2 + 1)


def test_a_restart_is_a_later_start() -> None:
    """On its old place and on another; before there are statistics there is no start."""
    assert ExecutorHistory().start_s is None
    one = fed((100, counters(60, 600)), (158, counters(60, 600)), (160, counters(120, 1200)))
    assert one.start_s == pytest.approx(39, abs=2)
    one.look(200, PLACE, counters(10, 5))
    assert one.start_s == pytest.approx(170, abs=21)
    one.look(210, ("host-2", 6700), counters(5, 5))
    assert one.start_s == pytest.approx(202, abs=4)


def test_the_time_to_acknowledge_is_that_of_the_window() -> None:
    """A tree that was slow before the window is none of it; without trees there is none."""
    acked = Stream("__acker", "__ack_ack")

    def spout(uptime_s: int, count: int, ms: float | None) -> Counters:
        return replace(counters(uptime_s), executed={acked: count}, complete_ms=ms)

    for last, expected in ((spout(120, 300, 7000.0), 10.0), (spout(120, 100, 5000.0), None)):
        window = fed((60, spout(60, 100, 5000.0)), (120, last)).window(120)
        assert window is not None
        assert window.complete_ms == expected
    assert fed((60, spout(60, 1, None)), (120, spout(120, 9, None))).window(120).complete_ms is None


def test_stale_statistics_are_none() -> None:
    """A worker that no longer renders has no rate after a while, though Nimbus still shows its counters."""
    one = fed((0, counters(0, 0)), (60, counters(60, 600)))
    one.look(209, PLACE, counters(60, 600))
    assert rate(one, 209) == 10
    one.look(211, PLACE, counters(60, 600))
    assert rate(one, 211) is None


def test_a_stream_counts_from_its_first_tuple() -> None:
    """A counter that appears within a run stood at zero before."""
    other = Stream("spout", "late")
    before, after = counters(0, 0), counters(60, 600)
    one = fed((0, before), (60, replace(after, executed={FROM: 600, other: 120})))
    window = one.window(60)
    assert window is not None
    assert window.executed == {FROM: 10, other: 2}


def test_execution_time_is_that_of_the_window() -> None:
    """The mean over the window's samples, not over all time; none without executions or measurement."""
    one = fed((0, counters(0, 1000, step=20, ms=500.0)), (60, counters(60, 3000, step=20, ms=700.0)))
    window = one.window(60)
    assert window is not None
    assert window.execute_ms == pytest.approx(200 / (2000 / 20))
    idle = fed((0, counters(0, 10)), (60, counters(60, 10))).window(60)
    assert idle is not None
    assert idle.execute_ms is None
    shell = replace(counters(60, 10), execute_ms=None)
    unmeasured = fed((0, counters(0)), (60, shell)).window(60)
    assert unmeasured is not None
    assert unmeasured.execute_ms is None


@settings(max_examples=40, deadline=None)
@given(
    true_rate=st.floats(0.5, 5000),
    step=st.sampled_from([1, 10, 20, 100]),
    refresh_s=st.sampled_from([1, 5, 10, 30, 60]),
    interval_s=st.sampled_from([1, 7, 10, 30]),
    start_s=st.floats(0, 60),
    seed=st.integers(0, 2**32),
)
def test_a_constant_rate_is_found_whatever_the_rhythms(
    *, true_rate: float, step: int, refresh_s: int, interval_s: int, start_s: float, seed: int
) -> None:
    """Off by at most the truncated second and one sampling step at either end of the window."""
    one = ExecutorHistory()
    rng = random.Random(seed)
    ages_s = [n * refresh_s + rng.uniform(0, 0.9) for n in range(400 // refresh_s)]
    renderings = [(start_s + age_s, age_s) for age_s in ages_s]
    found = []
    for now_s in range(0, 300, interval_s):
        shown = [(at_s, age_s) for at_s, age_s in renderings if at_s <= now_s]
        if not shown:
            continue
        age_s = shown[-1][1]
        sampled = math.floor(true_rate * age_s / step) * step
        truncated = math.floor(start_s % 1 + age_s)  # as of the clock's whole seconds
        one.look(now_s, PLACE, counters(truncated, sampled, step))
        window = one.window(now_s)
        if window is not None:
            slack = (true_rate + 2 * step) / window.length_s
            found.append(abs(window.executed_total - true_rate) <= slack * 1.001)
    assert one.restarts == 0
    assert found
    assert all(found)


@pytest.mark.parametrize(
    ("before_ms", "after_ms", "percent"),
    [
        (1000.0, 7000.0, 10.0),
        (0.0, 90_000.0, 100.0),
        (5.0, 4.9, 0.0),
        (None, 7000.0, None),
        (0.0, None, None),
    ],
)
def test_time_in_executions_is_a_part_of_the_window(
    before_ms: float | None, after_ms: float | None, percent: float | None
) -> None:
    """One thread is never busier than always, and rounded means of Storm's never make it less than idle."""
    one = fed(
        (0, replace(counters(60, 600), busy_ms=before_ms)),
        (60, replace(counters(120, 1200), busy_ms=after_ms)),
    )
    window = one.window(60)
    assert window is not None
    assert window.busy_percent == percent
