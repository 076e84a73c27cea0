"""Readings have errors: problems that could be the true one just as well, given what was read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, frozen
from scheduler.base.checks import LARGEST, ModelError
from scheduler.model.link_table import MatrixTable

if TYPE_CHECKING:
    from scheduler.model.problem import Application, Problem

LEAST_AVAILABILITY = 1e-6
"""What is drawn below counts as this: the logarithm of 0 has no value."""


@dataclass(frozen=True, eq=False)
class ReadingErrors:
    """Standard errors of what a problem was read with, each in its unit; None: exact.

    Attributes:
        delay_ms: (n_nodes, n_nodes) of delays; of both directions of a pair the same error is drawn.
        availability: (n_nodes,) of nodes.
        link_availability: (n_nodes, n_nodes) of links, if the network states any; likewise.
        rate: (n_streams,) of the rates of streams.
    """

    delay_ms: FloatArray | None = None
    availability: FloatArray | None = None
    link_availability: FloatArray | None = None
    rate: FloatArray | None = None

    def check(self, problem: Problem) -> None:
        """Refuse errors that are none of this problem.

        Raises:
            ModelError: The shape is not that of the network, or an error is negative or no number.
        """
        n, n_streams = problem.n_nodes, len(problem.application.streams)
        shapes = {
            "delay_ms": (n, n),
            "availability": (n,),
            "link_availability": (n, n),
            "rate": (n_streams,),
        }
        for name, shape in shapes.items():
            given: FloatArray | None = getattr(self, name)
            if given is None:
                continue
            if given.shape != shape:
                raise ModelError(f"errors.{name}", f"expected the shape {shape}, got {given.shape}")
            if not (np.isfinite(given).all() and (given >= 0).all()):
                raise ModelError(f"errors.{name}", "expected numbers >= 0")

    def within(self, nodes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> ReadingErrors:
        """Return the errors of some nodes, (k,), and of the links between them."""
        block = np.ix_(nodes, nodes)
        return ReadingErrors(
            None if self.delay_ms is None else self.delay_ms[block],
            None if self.availability is None else self.availability[nodes],
            None if self.link_availability is None else self.link_availability[block],
            self.rate,
        )


def drawn(problem: Problem, errors: ReadingErrors, random: np.random.Generator) -> Problem:
    """Return the problem as it might be: every reading differs by a normal error, within its bounds.

    Args:
        problem: As it was read.
        errors: Of its readings.
        random: Source of chance.
    """
    network = problem.network
    nodes = network.nodes
    if errors.availability is not None:
        up = _probable(network.availability + errors.availability * random.standard_normal(len(nodes)))
        nodes = tuple(replace(node, availability=float(value)) for node, value in zip(nodes, up, strict=True))
    delays = network.delays
    if errors.delay_ms is not None:
        every = np.arange(len(nodes))
        now = delays.between(every[:, None], every[None, :])
        delays = MatrixTable(frozen(np.clip(now + errors.delay_ms * _by_pair(random, now), 0.0, LARGEST)))
    links = network.link_availability
    if links is not None and errors.link_availability is not None:
        links = _probable(links + errors.link_availability * _by_pair(random, links))
    network = replace(network, nodes=nodes, delays=delays, link_availability=links)
    return replace(problem, application=_with_rates(problem, errors, random), network=network)


def _with_rates(problem: Problem, errors: ReadingErrors, random: np.random.Generator) -> Application:
    application = problem.application
    if errors.rate is None:
        return application
    rates = application.rate + errors.rate * random.standard_normal(len(application.rate))
    rates = np.clip(rates, 0.0, LARGEST)
    streams = tuple(
        replace(stream, rate=float(rate)) for stream, rate in zip(application.streams, rates, strict=True)
    )
    return replace(application, streams=streams)


def _by_pair(random: np.random.Generator, like: FloatArray) -> FloatArray:
    """Return standard normal numbers, alike in both directions, 0 on the diagonal."""
    upper = np.triu(random.standard_normal(like.shape), 1)
    return upper + upper.T


def _probable(values: FloatArray) -> FloatArray:
    return np.clip(values, LEAST_AVAILABILITY, 1.0)
