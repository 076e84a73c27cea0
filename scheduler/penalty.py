"""The link penalty delta: how far a link is from an ideal one (paper 000, section 4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scheduler.arrays import FloatArray
    from scheduler.problem import Problem

REFERENCE_EXECUTION_MS = 1.0
"""R_perp, the unitary execution time of the two reference operators."""
REFERENCE_RATE = 1.0
"""lambda_perp, the unitary data rate between them; it cancels out."""


def link_penalty(problem: Problem) -> FloatArray:
    """Return delta(u, v) in [0, 1] for every ordered pair of nodes, (n_nodes, n_nodes).

    delta = w_r delta_R + w_a delta_A + w_z delta_Z, each the position of the pair between the best and
    the worst pair of the network in what two reference operators on u and v would see:
    R~ = d_(u,v) + R_perp / S_u + R_perp / S_v; log A~ = log A_(u,v) + log A_u + log A_v, and log A_u alone
    when u = v; Z~ = lambda_perp d_(u,v). A metric in which all pairs are equal adds nothing.

    Complexity: O(n_nodes^2) in time and memory.
    """
    network, weights = problem.network, problem.objective.weights
    per_node = REFERENCE_EXECUTION_MS / network.speedup
    response = network.delay_ms + per_node[:, None] + per_node[None, :]
    log_node = np.log(network.availability)
    log_pair = log_node[:, None] + log_node[None, :]
    if network.link_availability is not None:
        log_pair = log_pair + np.log(network.link_availability)
    np.fill_diagonal(log_pair, log_node)
    usage = REFERENCE_RATE * network.delay_ms
    penalty: FloatArray = (
        weights["response_time"] * _position(response)
        + weights["availability"] * _position(-log_pair)
        + weights["network_usage"] * _position(usage)
    )
    return penalty


def _position(values: FloatArray) -> FloatArray:
    """Return where each value lies between the least (0) and the largest (1); 0 if they are equal."""
    least, most = values.min(), values.max()
    if most - least <= 1e-12 * max(1.0, abs(least), abs(most)):
        return np.zeros_like(values)
    position: FloatArray = (values - least) / (most - least)
    return position
