"""What is done to the network when: a list of moments that never waits."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from experiments.lab_steps import StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Pair = tuple[str, str]
"""Two different sites."""

CHANGE_PHASES = 3
"""After the calm: a delay that has tripled, an isolated site, a site that has come back."""
NOISE_EVERY_S = 10.0
NOISE = 0.2
"""Largest relative error of a delay under noise."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do.

    Attributes:
        at_s: When, in seconds from the start of the schedule.
        kind: What; for `noise` the delays are given, for the others it depends on where the query then runs.
        delays_ms: New delay by pair of sites, ms, one way.
    """

    at_s: float
    kind: Literal["delay", "isolate", "rejoin", "noise"]
    delays_ms: tuple[tuple[Pair, float], ...] = ()


def changes(calm_s: float, phase_s: float) -> tuple[Step, ...]:
    """Return the steps of the scenario in which the network changes for good, phase by phase."""
    return (
        Step(calm_s, "delay"),
        Step(calm_s + phase_s, "isolate"),
        Step(calm_s + 2 * phase_s, "rejoin"),
    )


def noise(duration_s: float, delays_ms: Mapping[Pair, float], seed: int) -> tuple[Step, ...]:
    """Return steps that draw every delay anew, again and again, from the start on.

    Args:
        duration_s: Nothing is drawn from then on.
        delays_ms: True delay by pair of sites, ms, one way.
        seed: Seed of the draws: uniform within the largest error around the true delay, each for itself.
    """
    generator = np.random.default_rng(seed)
    true_ms = np.array(list(delays_ms.values()))
    steps = []
    for number in range(math.ceil(duration_s / NOISE_EVERY_S)):
        drawn_ms = true_ms * generator.uniform(1.0 - NOISE, 1.0 + NOISE, true_ms.shape)
        pairs = tuple(zip(delays_ms, drawn_ms.tolist(), strict=True))
        steps.append(Step(number * NOISE_EVERY_S, "noise", pairs))
    return tuple(steps)


class Schedule:
    """Steps, each carried out once when its time has come; nothing is due before it has begun.

    Args:
        steps: What is to be done.
        carry_out: Does a step.
        clock: Monotonic seconds.
        wall_s: Unix time.
    """

    def __init__(
        self,
        steps: Iterable[Step],
        carry_out: Callable[[Step], None],
        clock: Callable[[], float] = time.monotonic,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._waiting = sorted(steps, key=lambda step: step.at_s, reverse=True)
        self._carry_out = carry_out
        self._clock = clock
        self._wall_s = wall_s
        self._begun: tuple[float, float] | None = None

    def begin(self) -> None:
        """Begin with the paced rows; a schedule that runs goes on as it began."""
        if self._begun is None:
            self._begun = self._clock(), self._wall_s()

    def due_s(self) -> float | None:
        """Return the seconds until the next step is due, 0 if one is, None if none will ever be."""
        if self._begun is None or not self._waiting:
            return None
        return max(self._begun[0] + self._waiting[-1].at_s - self._clock(), 0.0)

    def act(self) -> None:
        """Carry out the steps whose time has come, oldest first."""
        while self.due_s() == 0.0:
            self._carry_out(self._waiting.pop())

    def start_of_paced_rows_s(self) -> float:
        """Return when it began, Unix time, once feeding has ended.

        Raises:
            StepError: It never began, or not all of it was done.
        """
        if self._begun is None:
            raise StepError("`taxi feed` ended without any paced row")
        if self._waiting:
            raise StepError(f"`taxi feed` ended with {len(self._waiting)} changes of the network to come")
        return self._begun[1]
