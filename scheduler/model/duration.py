"""The limit on how long an operator takes per tuple, waiting included (paper 001, eq. 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, frozen
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.model.application import Application
    from scheduler.model.network import Network


def durations_ms(application: Application, speedup: FloatArray) -> FloatArray:
    """(n_ops, n_nodes) T_actual S_i / S_u: what was measured, as it would be on each node.

    Args:
        application: The operators.
        speedup: (n_nodes,) S_u.
    """
    return frozen((application.actual_ms * application.actual_speedup)[:, None] / speedup)


def too_slow(application: Application, network: Network) -> BoolArray | None:
    """(n_ops, n_nodes) where operators would take longer than they may; None if no limit is at work.

    A limit works once the duration was measured, and the speed-up with it.
    """
    most = application.duration_max_ms
    limited = (most > 0) & (application.actual_ms > 0) & (application.actual_speedup > 0)
    if not limited.any():
        return None
    longest = np.where(limited, most * (1.0 + TOLERANCE), np.inf)
    return frozen(durations_ms(application, network.speedup) > longest[:, None])
