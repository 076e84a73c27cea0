"""F, or any weighted sum of metrics, in one form: a value per place, per link, and per node in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.evaluation.evaluate import charges_of_use, mean_weights
from scheduler.model.metrics.response_time import RESPONSE_TIME
from scheduler.model.metrics.terms import DELAY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.model.link_table import LinkTable
    from scheduler.model.problem import Problem


@dataclass(frozen=True, eq=False)
class PairTerm:
    """What streams add to a sum by the link that they use.

    Attributes:
        weight: (n_streams,) factor of each stream.
        slot: Position of the table in `MetricTerms.tables` of the problem.
        table: Value of each link.
    """

    weight: FloatArray
    slot: int
    table: LinkTable


@dataclass(frozen=True, eq=False)
class LinearForm:
    """F(x) = constant + response_factor R(x) + sum over i of unary[i, x_i] + sums over streams (eq. 22).

    The last sums are, for each pair term, weight[s] table(x_i, x_j) over the streams s = (i, j). What nodes
    in use are charged comes to that.

    Attributes:
        constant: What belongs to no decision.
        response_factor: F per ms of response time, w_r / (R_max - R_min).
        path_factor: F per ms of the longest path of one graph.
        unary: (n_ops, n_nodes) what an operator adds where it runs, read-only; it takes no memory per
            operator unless operators differ.
        pairs: One pair term per link table, by ascending slot; those that are zero everywhere are left out.
        set_up: (n_nodes,) what a node in use adds, however many operators are there; None if none adds any.
    """

    constant: float
    response_factor: float
    path_factor: float
    unary: FloatArray
    pairs: tuple[PairTerm, ...]
    set_up: FloatArray | None = None

    def delay_weight(self) -> FloatArray | float:
        """Return (n_streams,) what a ms of each stream's delay adds, response time apart, or 0 for all."""
        return next((term.weight for term in self.pairs if term.slot == DELAY), 0.0)

    def value(self, problem: Problem, placement: IntArray) -> float:
        """Return F without its response time part, for a placement (n_ops,)."""
        start = placement[problem.application.stream_source]
        end = placement[problem.application.stream_target]
        along = sum(float(term.weight @ term.table.between(start, end)) for term in self.pairs)
        use = 0.0 if self.set_up is None else float(charges_of_use(self.set_up, placement))
        return self.constant + float(self.unary[np.arange(len(placement)), placement].sum()) + along + use


def linear_form(problem: Problem) -> LinearForm:
    """Return the linear form of a problem's objective.

    Memory: O(n_streams + n_nodes), plus O(n_ops x n_nodes) if a metric of weight has values per operator.
    """
    scale = problem.scale
    return _form(
        problem,
        {name: factor for name, (factor, _) in scale.terms.items()},
        scale.constant,
        scale.factor(RESPONSE_TIME.name),
    )


def sum_form(problem: Problem, metric: str) -> LinearForm:
    """Return the linear form of one additive metric's raw sum, whatever its weight in F."""
    return _form(problem, {metric: 1.0}, constant=0.0, response_factor=0.0)


def mean_delay_term(problem: Problem) -> PairTerm:
    """Return the pair term of the rate-weighted mean delay in ms, which is no part of F."""
    return PairTerm(mean_weights(problem), DELAY, problem.network.delays)


def _form(
    problem: Problem, factors: Mapping[str, float], constant: float, response_factor: float
) -> LinearForm:
    """Return constant + response_factor R + the sum of the additive metrics, each by its factor (else 0)."""
    terms = problem.terms
    unary = np.zeros(problem.n_nodes)
    set_up: FloatArray | None = None
    weights: dict[int, FloatArray] = {}
    for metric, links in terms.links.items():
        factor = factors.get(metric, 0.0)
        if not factor:
            continue
        if metric in terms.places:
            unary = unary + factor * terms.places[metric]
        if metric in terms.set_up:
            charges = factor * terms.set_up[metric]
            set_up = charges if set_up is None else set_up + charges
        for slot, weight in links:
            own = np.full(len(problem.application.streams), factor) if weight is None else factor * weight
            weights[slot] = weights[slot] + own if slot in weights else own
    return LinearForm(
        constant,
        response_factor,
        response_factor / problem.application.graphs.count,
        np.broadcast_to(unary, (problem.n_ops, problem.n_nodes)),
        tuple(
            PairTerm(weights[slot], slot, terms.tables[slot])
            for slot in sorted(weights)
            if weights[slot].any()
        ),
        set_up,
    )
