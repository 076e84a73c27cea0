"""How long executors stand still when a plan restarts them: learned from what earlier plans took."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from bridge.round.memory import Memory

DEFAULT_S = 20.0
"""Until anything is measured; supervisors end a worker, load what it needs and start a JVM in 5 to 25 s."""
LEAST_SAMPLES = 3
MOST_SAMPLES = 32
"""The last ones count: hosts, jars and Storm's settings change."""


class Pause(NamedTuple):
    """A pause that is to be expected.

    Attributes:
        pause_s: From the plan until the last of its workers runs, s.
        source: What it rests on: `restarts`, `first starts` where too few restarts were measured, or
            `default`.
        samples: Number of these workers; 0 for the default.
    """

    pause_s: float
    source: str
    samples: int


def expected_pause(memory: Memory, workers: int) -> Pause:
    """Return the pause that is to be expected of a plan.

    Executors wait for the last of its workers. On average the longest of k draws has k / (k + 1) of all below
    it: of one worker this is the median.

    Args:
        memory: What earlier plans took.
        workers: Workers that start.
    """
    for source, samples in (("restarts", memory.pauses), ("first starts", memory.first_starts)):
        if len(samples) >= LEAST_SAMPLES:
            share = max(workers, 1) / (max(workers, 1) + 1)
            return Pause(float(np.quantile(samples, share)), source, len(samples))
    return Pause(DEFAULT_S, "default", 0)
