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
    from scheduler.model.objective import Objective

DurationModel = Literal["measured", "queue"]
DurationLimit = Literal["hard", "soft"]


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


def too_slow(application: Application, network: Network, objective: Objective) -> BoolArray | None:
    """(n_ops, n_nodes) where operators may not run for the time they would take; None if no limit works.

    A hard limit closes all nodes on which they would take longer, a soft one those on which they cannot keep
    up with their tuples: there is no price for a queue that grows for ever.
    """
    over = _over_ms(application, network, objective)
    if over is None:
        return None
    return frozen(np.isinf(over) if objective.duration_limit == "soft" else over > 0)


def excess_ms(application: Application, network: Network, objective: Objective) -> FloatArray | None:
    """(n_ops, n_nodes) time per tuple beyond the limit, ms, 0 within it; None if no limit works.

    Where an operator cannot keep up, which no limit permits, it has the largest excess that it has elsewhere.
    """
    over = _over_ms(application, network, objective)
    if over is None:
        return None
    finite = np.where(np.isinf(over), 0.0, over)
    return frozen(np.where(np.isinf(over), finite.max(axis=1, keepdims=True), finite))


def _over_ms(application: Application, network: Network, objective: Objective) -> FloatArray | None:
    """(n_ops, n_nodes) time beyond the limit, perhaps infinite; what differs by rounding only is 0.

    By measurements a limit works once the duration was measured, and the speed-up with it.
    """
    model, most = objective.duration_model, application.duration_max_ms
    limited = most > 0
    if model == "measured":
        limited &= (application.actual_ms > 0) & (application.actual_speedup > 0)
    if not limited.any():
        return None
    taken = durations_ms(application, network.speedup, model)
    longer = limited[:, None] & (taken > (most * (1.0 + TOLERANCE))[:, None])
    return np.where(longer, taken - most[:, None], 0.0)
