"""Availability A (paper 000, eq. 9-12): that all nodes of operators and all links of streams are up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, frozen
from scheduler.model.link_table import MatrixTable
from scheduler.model.metrics.record import AS_PROBABILITY, AdditiveMetric, LinkTerm

if TYPE_CHECKING:
    from scheduler.model.problem import Problem


def _places(problem: Problem) -> FloatArray:
    return -np.log(problem.network.availability)


def _links(problem: Problem) -> tuple[LinkTerm, ...]:
    given = problem.network.link_availability
    return () if given is None else (LinkTerm(MatrixTable(frozen(-np.log(given)))),)


AVAILABILITY = AdditiveMetric(
    name="availability",
    answer="availability",
    statement=AS_PROBABILITY,
    proof=1,
    places=_places,
    links=_links,
    shared_place_once=True,
)
