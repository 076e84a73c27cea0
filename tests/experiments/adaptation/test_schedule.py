"""What is done when, at stated times: nothing here waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.adaptation.scenario_run import ScheduleKeeper
from experiments.adaptation.schedule import Schedule, Step, changes, noise
from experiments.lab_steps import StepError

TRUE_MS = {("a", "b"): 20.0, ("a", "c"): 100.0, ("b", "c"): 0.0}


def kinds(steps: tuple[Step, ...]) -> list[str]:
    return [step.kind for step in steps]


def test_the_network_changes_phase_by_phase_after_the_calm() -> None:
    steps = changes(150.0, 100.0)
    assert [(step.at_s, step.kind) for step in steps] == [
        (150.0, "delay"),
        (250.0, "isolate"),
        (350.0, "rejoin"),
    ]


@given(duration_s=st.floats(0.1, 200.0), seed=st.integers(0, 10_000))
def test_noise_draws_every_delay_anew_every_ten_seconds(duration_s: float, seed: int) -> None:
    """Within 20 % of the true delay, from the start on, never at the end or later; the seed alone decides."""
    steps = noise(duration_s, TRUE_MS, seed)
    assert [step.at_s for step in steps] == [10.0 * number for number in range(len(steps))]
    assert steps[-1].at_s < duration_s <= steps[-1].at_s + 10.0
    for step in steps:
        assert [pair for pair, _ in step.delays_ms] == list(TRUE_MS)
        assert all(0.8 * TRUE_MS[pair] <= ms <= 1.2 * TRUE_MS[pair] for pair, ms in step.delays_ms)
    assert noise(duration_s, TRUE_MS, seed) == steps


def test_noise_uses_its_whole_range_and_no_pair_follows_another() -> None:
    steps = noise(10_000.0, TRUE_MS, 1)
    errors = [[ms / TRUE_MS[pair] for pair, ms in step.delays_ms[:2]] for step in steps]
    for pair in (0, 1):
        assert min(each[pair] for each in errors) < 0.81
        assert max(each[pair] for each in errors) > 1.19
    assert any((one < 0.85 and other > 1.15) for one, other in errors)
    assert noise(10_000.0, TRUE_MS, 2) != steps


def test_nothing_is_due_before_the_beginning() -> None:
    schedule = Schedule(changes(10.0, 10.0))
    assert not schedule.begun
    assert schedule.wait_s(1e9) is None
    assert schedule.due(1e9) == ()


def test_steps_are_handed_out_once_when_their_time_has_come() -> None:
    """Also two at once, if nobody asked for a while; then nothing is left to wait for."""
    schedule = Schedule(reversed(changes(10.0, 5.0)))
    schedule.begin(100.0)
    assert schedule.wait_s(103.0) == 7.0
    assert schedule.due(109.9) == ()
    assert kinds(schedule.due(110.0)) == ["delay"]
    assert schedule.wait_s(110.0) == 5.0
    assert schedule.wait_s(140.0) == 0.0
    assert kinds(schedule.due(140.0)) == ["isolate", "rejoin"]
    assert (schedule.left, schedule.wait_s(140.0)) == (0, None)


def test_a_schedule_that_runs_is_not_begun_again() -> None:
    schedule = Schedule(changes(10.0, 5.0))
    schedule.begin(100.0)
    schedule.begin(105.0)
    assert schedule.wait_s(105.0) == 5.0


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def keeper(steps: tuple[Step, ...]) -> tuple[ScheduleKeeper, Clock, list[str]]:
    clock, done = Clock(), []
    return (
        ScheduleKeeper(
            Schedule(steps), lambda step: done.append(step.kind), clock, lambda: 1000.0 + clock.now_s
        ),
        clock,
        done,
    )


def test_the_schedule_begins_with_the_line_that_announces_paced_rows() -> None:
    """The moment counts at which it is heard first; other lines mean nothing."""
    watched, clock, done = keeper(changes(10.0, 5.0))
    watched.heard("2000 of 10004 rows, 400 rows/s, fast, 12 rows ahead of the results\n")
    assert watched.due_s() is None
    clock.now_s = 30.0
    watched.heard("paced rows begin\n")
    clock.now_s = 32.0
    watched.heard("paced rows begin\n")
    assert watched.due_s() == 8.0
    clock.now_s = 50.0
    watched.act()
    assert done == ["delay", "isolate", "rejoin"]
    assert watched.start_of_paced_rows_s() == 1030.0


def test_a_feeder_that_ends_too_early_is_no_good_run() -> None:
    """It never came to paced rows, or the network was still to change."""
    watched, _, _ = keeper(())
    with pytest.raises(StepError, match="ended without any paced row"):
        watched.start_of_paced_rows_s()
    watched, clock, _ = keeper(changes(10.0, 5.0))
    watched.heard("paced rows begin")
    clock.now_s = 15.0
    watched.act()
    with pytest.raises(StepError, match="ended with 1 changes of the network to come"):
        watched.start_of_paced_rows_s()
