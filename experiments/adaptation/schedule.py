"""What is done to the network when."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

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
