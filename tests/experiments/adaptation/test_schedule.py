"""What is done when, at stated times: nothing here waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.adaptation.schedule import Step, changes, noise
from experiments.lab_steps import StepError
from experiments.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterable

TRUE_MS = {("a", "b"): 20.0, ("a", "c"): 100.0, ("b", "c"): 0.0}


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


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def schedule(steps: Iterable[Step]) -> tuple[Schedule, Clock, list[str]]:
    """Return a schedule, its clock, and the kinds of the steps that were carried out."""
    clock, done = Clock(), []
    wall_s = lambda: 1000.0 + clock.now_s  # noqa: E731 - as short as its name
    return Schedule(steps, lambda step: done.append(step.kind), clock, wall_s), clock, done


def test_nothing_is_due_before_the_beginning() -> None:
    watched, clock, done = schedule(changes(10.0, 10.0))
    clock.now_s = 1e9
    watched.act()
    assert (watched.due_s(), done) == (None, [])


def test_steps_are_carried_out_once_when_their_time_has_come() -> None:
    """Also two at once, after a while without a look; then nothing is left to wait for."""
    watched, clock, done = schedule(reversed(changes(10.0, 5.0)))
    clock.now_s = 100.0
    watched.begin()
    clock.now_s = 103.0
    assert watched.due_s() == 7.0
    clock.now_s = 109.9
    watched.act()
    assert done == []
    clock.now_s = 110.0
    watched.act()
    assert (done, watched.due_s()) == (["delay"], 5.0)
    clock.now_s = 140.0
    assert watched.due_s() == 0.0
    watched.act()
    assert (done, watched.due_s()) == (["delay", "isolate", "rejoin"], None)
    assert watched.start_s("taxi feed") == 1100.0


def test_a_schedule_that_runs_is_not_begun_again() -> None:
    watched, clock, _ = schedule(changes(10.0, 5.0))
    clock.now_s = 100.0
    watched.begin()
    clock.now_s = 105.0
    watched.begin()
    assert watched.due_s() == 5.0


def test_a_feeder_that_ends_too_early_is_no_good_run() -> None:
    """It never came to paced rows, or the network was still to change."""
    watched, _, _ = schedule(())
    with pytest.raises(StepError, match="`taxi feed` ended without anything measured"):
        watched.start_s("taxi feed")
    watched, clock, _ = schedule(changes(10.0, 5.0))
    watched.begin()
    clock.now_s = 15.0
    watched.act()
    with pytest.raises(StepError, match="`taxi feed` ended with 1 changes to come"):
        watched.start_s("taxi feed")
