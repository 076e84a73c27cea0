"""Whether a gain may be noise of what it was read with: delays, availabilities and rates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bridge.network.outside import with_sites
from scheduler.model.metrics.availability import AVAILABILITY
from scheduler.model.metrics.inter_node_traffic import INTER_NODE_TRAFFIC
from scheduler.model.metrics.network_usage import NETWORK_USAGE
from scheduler.moving.noise import gain_noise
from scheduler.moving.reading_errors import ReadingErrors

if TYPE_CHECKING:
    from bridge.round.small.candidate import Candidate, Running
    from bridge.round.small.search import Search
    from scheduler.base.arrays import FloatArray

# Each draw evaluates two placements on the hosts that they use: enough of them to tell noise from twice the
# noise, and fewer for large topologies, of which 32 would take half of a round.
_MOST_DRAWS, _LEAST_DRAWS = 32, 8
_DRAWN_STREAMS = 16_000


def why_noise(running: Running, candidate: Candidate, search: Search) -> str:
    """Say that a gain may be noise, without its size, which noise changes; empty if it is above that.

    Args:
        running: The topology.
        candidate: The placement that gains.
        search: Knows how far off readings are.
    """
    sigmas, problem, frame = running.thresholds.sigmas, running.question.problem, running.question.frame
    if sigmas <= 0:
        return ""
    size = problem.n_ops + len(problem.application.streams)
    draws = min(max(_DRAWN_STREAMS // size, _LEAST_DRAWS), _MOST_DRAWS)
    errors = _errors(running, search)
    noise = gain_noise(problem, frame.current, frame.nodes_of(candidate.placement), errors, draws=draws)
    if candidate.gain.of_f > sigmas * noise:
        return ""
    read = "delays" if errors.availability is None and errors.rate is None else "readings"
    return f"the gain of the best candidate may be noise of the measured {read}"


def _errors(running: Running, search: Search) -> ReadingErrors:
    """Return how far off what is weighed may be, as far as that is known."""
    frame, weights = running.question.frame, running.question.problem.objective.weights
    availability = search.availability_error
    to_sites = len(frame.sites), len(frame.hosts)
    return ReadingErrors(
        delay_ms=with_sites(search.around.delays.error_ms(frame.hosts), np.zeros(to_sites), 0.0),
        availability=np.append(availability[frame.hosts], np.zeros(len(frame.sites)))
        if availability is not None and weights[AVAILABILITY.name]
        else None,
        rate=_rate_error(running)
        if weights[NETWORK_USAGE.name] or weights[INTER_NODE_TRAFFIC.name]
        else None,
    )


def _rate_error(running: Running) -> FloatArray | None:
    """(n_streams,) standard error of rates by the number of tuples that was counted; None without counts."""
    measured = running.task.measured
    if measured is None:
        return None
    rate = running.question.problem.application.rate
    return np.asarray(np.sqrt(rate * measured.least_rate), dtype=np.float64)
