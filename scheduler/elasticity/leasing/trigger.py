"""Algorithm 1 of paper 003: does a component need one more executor?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


def predicted_ms(durations_ms: Sequence[float]) -> float:
    """Return the next duration by the least-squares line through the last ones, ms.

    With x_k = k, k = 1 the oldest of N: beta = sum (x - mean x)(d - mean d) / sum (x - mean x)^2, and the
    line is read at N + 1. The paper calls the newest value the first, so that N + 1 would lie in the past; a
    trend is meant. Of a single value there is no trend.

    Args:
        durations_ms: (n,) o_d1..o_dN, n >= 1, the oldest first, ms.
    """
    durations = np.asarray(durations_ms, dtype=np.float64)
    if durations.size == 1:
        return float(durations[0])
    offsets = np.arange(durations.size) - (durations.size - 1) / 2.0
    slope = float(offsets @ (durations - durations.mean()) / (offsets @ offsets))
    return float(durations.mean()) + slope * (durations.size + 1) / 2.0


def is_late(durations_ms: Sequence[float], slo_ms: float) -> bool:
    """Return whether the last duration, or the predicted one, is above what is agreed.

    Args:
        durations_ms: (n,) as in `predicted_ms`.
        slo_ms: o_slo, ms.
    """
    return durations_ms[-1] > slo_ms or predicted_ms(durations_ms) > slo_ms


def needs_one_more(durations_ms: Sequence[float], slo_ms: float, queued: float, queue_up: float) -> bool:
    """Return whether a component is late, or about to be, while its queue is long.

    Args:
        durations_ms: (n,) as in `predicted_ms`.
        slo_ms: o_slo, ms.
        queued: o_queue, items.
        queue_up: scalingThreshold, items: short peaks, which pass by themselves, leave shorter queues.
    """
    return queued > queue_up and is_late(durations_ms, slo_ms)
