"""A bound of a flow form, and what each place costs at least: prices on capacities and bandwidths.

At prices, graphs have nothing in common, so that each is placed by itself; what all cost then, less what all
capacities and bandwidths are worth, is a lower bound of F (Lagrange). The bound is at least that of the
linear relaxation, as each graph's choices are whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.subgradient import StepRule, ascend
from scheduler.base.work import Work
from scheduler.exact.flows.graph_choices import GraphChoices, Prices

if TYPE_CHECKING:
    from scheduler.base.arrays import FloatArray, IntArray
    from scheduler.base.deadline import Deadline
    from scheduler.exact.flows.flow_form import FlowForm

RULE = StepRule(patience=6, shortened=0.6, least=1e-4, from_best=True)
"""How steps of the ascent become shorter."""


@dataclass(frozen=True, eq=False)
class Point:
    """Prices, with what they prove.

    Attributes:
        bound: F of no placement is below.
        at: (n_blocks,) where the graphs are at these prices, each by itself; they need not fit together.
        shares: (n_nodes, n_resources) and (n_links,) prices of whole capacities and bandwidths.
        prices: The same per unit.
    """

    bound: float
    at: IntArray
    shares: tuple[FloatArray, FloatArray]
    prices: Prices


class Priced:
    """The graphs of a form under prices.

    Attributes:
        met: (n_blocks,) the best placement so far that fits, met at some prices; None if there is none.
        worth: F of that; infinite without one.

    Args:
        form: The form; each block has a place.
    """

    def __init__(self, form: FlowForm) -> None:
        self.form = form
        self.graphs = [GraphChoices(form, graph) for graph in range(int(form.graph.max()) + 1)]
        self.met: IntArray | None = None
        self.worth = np.inf
        self._limited = np.isfinite(form.bandwidth) & (not form.by_pair)
        self._capacity = np.where(form.capacity > 0, form.capacity, 1.0)
        self._bandwidth = np.where(self._limited & (form.bandwidth > 0), form.bandwidth, 1.0)

    def point(self, capacity: FloatArray, link: FloatArray) -> Point:
        """Return what prices of whole capacities (n_nodes, n_resources) and bandwidths (n_links,) prove."""
        form = self.form
        prices = Prices.of(form, capacity / self._capacity, link / self._bandwidth)
        at = np.zeros(form.n_blocks, dtype=np.int64)
        bound = form.constant - float((prices.capacity * form.capacity).sum())
        bound -= float((prices.link * np.where(self._limited, form.bandwidth, 0.0)).sum())
        for graph in self.graphs:
            elimination = graph.elimination(prices)
            choices = elimination.choices()
            bound += elimination.least
            if choices is None:
                return Point(np.inf, at, (capacity, link), prices)
            at[graph.blocks] = graph.nodes_of(choices)
        self._meet(at)
        return Point(bound, at, (capacity, link), prices)

    def _meet(self, at: IntArray) -> None:
        if self.form.fits(at):
            worth = self.form.value(at)
            if worth < self.worth:
                self.met, self.worth = at, worth

    def point_without_prices(self) -> Point:
        """Return what nothing but each graph by itself proves."""
        return self.point(np.zeros(self.form.capacity.shape), np.zeros(len(self.form.bandwidth)))

    def ascended(self, target: float, deadline: Deadline, most: int) -> Point:
        """Return the point with the highest bound that an ascent from no prices finds.

        Args:
            target: F of a known placement, or something near it.
            deadline: When to stop.
            most: Steps at most.
        """
        form = self.form
        start = self.point_without_prices()

        def slopes(now: Point) -> tuple[FloatArray, FloatArray]:
            load = np.zeros(form.capacity.shape)
            np.add.at(load, now.at, form.demand)
            over = load / self._capacity - (form.capacity > 0)
            used = np.where(self._limited, form.used(now.at), 0.0)
            spare = self._limited & (form.bandwidth > 0)
            flow = used / self._bandwidth - spare
            # a price of 0 cannot fall
            return np.where((now.shares[0] <= 0) & (over < 0), 0.0, over), np.where(
                (now.shares[1] <= 0) & (flow < 0), 0.0, flow
            )

        def step(now: Point, length: float, slope: tuple[FloatArray, ...]) -> Point:
            return self.point(
                np.maximum(now.shares[0] + length * slope[0], 0.0),
                np.maximum(now.shares[1] + length * slope[1], 0.0),
            )

        work = Work(deadline, np.inf)
        return ascend(start, slopes, step, target=target, rule=RULE, most=most, work=work)

    def least_on_nodes(self, point: Point) -> FloatArray:
        """Return (n_blocks, n_nodes) what F is at least with each block on each node."""
        least = np.full(self.form.allowed.shape, np.inf)
        for graph in self.graphs:
            elimination = graph.elimination(point.prices)
            least[graph.blocks] = (point.bound - elimination.least) + graph.least_on_nodes(elimination)
        return least
