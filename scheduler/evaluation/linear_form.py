"""F in one form for every metric: a factor on response time, a value per place, and values per link."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.arrays import FloatArray, frozen

if TYPE_CHECKING:
    from scheduler.base.arrays import IntArray
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTerm:
    """What streams add to F by the link that they use.

    Attributes:
        weight: (n_streams,) factor of each stream.
        matrix: (n_nodes, n_nodes) value of each link, from row to column, diagonal 0.
    """

    weight: FloatArray
    matrix: FloatArray


@dataclass(frozen=True, eq=False)
class LinearForm:
    """F(x) = constant + response_factor R(x) + sum over i of unary[i, x_i] + sums over streams (eq. 22).

    The last sums are, for each pair term, weight[s] matrix[x_i, x_j] over the streams s = (i, j).

    Attributes:
        constant: What belongs to no decision.
        response_factor: F per ms of response time, w_r / (R_max - R_min).
        unary: (n_ops, n_nodes) what an operator adds where it runs.
        pairs: The pair terms; those that are zero everywhere are left out.
    """

    constant: float
    response_factor: float
    unary: FloatArray
    pairs: tuple[PairTerm, ...]

    def value(self, problem: Problem, placement: IntArray) -> float:
        """Return F without its response time part, for a placement (n_ops,)."""
        start = placement[problem.application.stream_source]
        end = placement[problem.application.stream_target]
        along = sum(float(term.weight @ term.matrix[start, end]) for term in self.pairs)
        return self.constant + float(self.unary[np.arange(len(placement)), placement].sum()) + along


def linear_form(problem: Problem) -> LinearForm:
    """Return the linear form of a problem's objective.

    Memory: O(n_ops x n_nodes + n_nodes^2 x number of pair terms).
    """
    application, network, scale = problem.application, problem.network, problem.scale
    by_a, by_c = scale.factor("availability"), scale.factor("cost")
    per_node = by_a * -np.log(network.availability) + by_c * network.cost
    bandwidth = application.rate * application.tuple_bytes
    ones = np.ones(len(application.streams))
    terms = [PairTerm(scale.factor("network_usage") * bandwidth / 1000.0, network.delay_ms)]
    if scale.factor("inter_node_traffic"):
        apart = 1.0 - np.eye(problem.n_nodes)
        terms.append(PairTerm(scale.factor("inter_node_traffic") * bandwidth, apart))
    if network.link_availability is not None:
        terms.append(PairTerm(by_a * ones, -np.log(network.link_availability)))
    if network.link_cost is not None:
        terms.append(PairTerm(by_c * ones, network.link_cost))
    return LinearForm(
        constant=scale.constant,
        response_factor=scale.factor("response_time"),
        unary=frozen(np.tile(per_node, (problem.n_ops, 1))),
        pairs=tuple(term for term in terms if term.weight.any()),
    )
