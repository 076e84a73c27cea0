"""The limit on how long an operator takes per tuple, waiting included (paper 001, eq. 18).

Either as measured, which the paper scales with the speed of the node although waiting does not, or by
the queue that the rates of streams make: a server with Poisson arrivals and constant service time (M/D/1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from scheduler.base.arrays import BoolArray, FloatArray, frozen
from scheduler.model.capacity import TOLERANCE

if TYPE_CHECKING:
    from scheduler.model.application import Application
    from scheduler.model.network import Network

DurationModel = Literal["measured", "queue"]


def durations_ms(application: Application, speedup: FloatArray, model: DurationModel) -> FloatArray:
    """(n_ops, n_nodes) time per tuple that limits look at, ms.

    By measurements T_actual S_i / S_u: what was measured, as it would be on each node.

    Args:
        application: The operators and streams.
        speedup: (n_nodes,) S_u.
        model: What limits look at.
    """
    if model == "queue":
        return _queued_ms(application, speedup)
    return frozen((application.actual_ms * application.actual_speedup)[:, None] / speedup)


def _queued_ms(application: Application, speedup: FloatArray) -> FloatArray:
    """(n_ops, n_nodes) mean time of service and queue, s + rho s / (2 (1 - rho)); infinite where rho >= 1.

    s is the execution time on the node, rho that times the rate of tuples that come in: those of all streams
    into the operator; into a source come as many as the fullest of its streams takes away.
    """
    n_ops = len(application.operators)
    incoming = np.bincount(application.stream_target, application.rate, n_ops)
    outgoing = np.zeros(n_ops)
    np.maximum.at(outgoing, application.stream_source, application.rate)
    source = np.bincount(application.stream_target, minlength=n_ops) == 0
    per_ms = np.where(source, outgoing, incoming) / 1000.0
    service = application.execution_time_ms[:, None] / speedup
    busy = per_ms[:, None] * service
    with np.errstate(divide="ignore", invalid="ignore"):
        waiting = busy * service / (2.0 * (1.0 - busy))
    return frozen(np.where(busy < 1.0, service + waiting, np.inf))


def too_slow(application: Application, network: Network, model: DurationModel) -> BoolArray | None:
    """(n_ops, n_nodes) where operators would take longer than they may; None if no limit is at work.

    By measurements a limit works once the duration was measured, and the speed-up with it.
    """
    most = application.duration_max_ms
    limited = most > 0
    if model == "measured":
        limited &= (application.actual_ms > 0) & (application.actual_speedup > 0)
    if not limited.any():
        return None
    longest = np.where(limited, most * (1.0 + TOLERANCE), np.inf)
    return frozen(durations_ms(application, network.speedup, model) > longest[:, None])
