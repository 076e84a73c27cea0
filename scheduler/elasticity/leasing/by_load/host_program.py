"""The set of hosts and the placement as one integer program, for when packing does not reach its bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scheduler.base.deadline import NO_DEADLINE
from scheduler.exact.solver.model_builder import ModelBuilder
from scheduler.exact.solver.solvers import SolverAnswer, SolverRequest, run_highs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scheduler.base.arrays import BoolArray, FloatArray, IntArray
    from scheduler.elasticity.leasing.by_load.sized_parameters import SizedParameters
    from scheduler.elasticity.leasing.host import Host

_ROUNDING = 1.0 + 1e-9
_NODES = 100
"""Of the search tree: a dozen hosts rarely need more, and three dozen would take minutes."""
_STOP_SHARE = 0.01
"""Of the cost of a move is that of a stop, so that none stops without use."""


@dataclass(frozen=True, eq=False)
class HostChoice:
    """Which hosts are kept, and what then runs where.

    Attributes:
        hosts: (n_hosts,) candidates.
        here: (n_hosts, n_components) executors on each.
        may_go: (n_hosts,) whether its paid time ends.
        late_costs: For each component what items cost that are late with 0 to all of its executors on these
            hosts (total + 1,).
        least: Executors of each component that have to stay.
        parameters: Components, offer and prices.
    """

    hosts: Sequence[Host]
    here: IntArray
    may_go: BoolArray
    late_costs: Sequence[FloatArray]
    least: Sequence[int]
    parameters: SizedParameters

    @cached_property
    def size(self) -> FloatArray:
        """CPU and memory guaranteed to an executor of each component (n_components, 2)."""
        sizes = [(each.cpu, each.memory_mb) for each in self.parameters.components]
        return np.array(sizes, dtype=np.float64)

    @cached_property
    def room(self) -> FloatArray:
        """CPU and memory of each host (n_hosts, 2); a host that is overfull already may stay as it is."""
        return np.maximum([(each.cpu, each.memory_mb) for each in self.hosts], self.here @ self.size)

    @cached_property
    def surplus(self) -> IntArray:
        """How many executors of each component save nothing (n_components,)."""
        needed = [
            max(least, int(np.argmax(each <= each[-1])))
            for each, least in zip(self.late_costs, self.least, strict=True)
        ]
        surplus: IntArray = self.here.sum(axis=0) - np.array(needed)
        return surplus

    def cost(self, after: IntArray, stays: BoolArray) -> float:
        """Return what a choice costs, in the currency of the offer.

        Args:
            after: (n_hosts, n_components) executors on each host.
            stays: (n_hosts,) which are kept.
        """
        late = sum(each[n] for each, n in zip(self.late_costs, after.sum(axis=0).tolist(), strict=True))
        arriving = float(np.maximum(after - self.here, 0).sum())
        paid = self.parameters.offer.unit_cost * int((stays & self.may_go).sum())
        return paid + self.parameters.move_cost * arriving + float(late)


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """What the program says.

    Attributes:
        executors: (n_hosts, n_components) executors on each host.
        stays: (n_hosts,) which are kept.
        bound: Every choice costs at least so much.
    """

    executors: IntArray
    stays: BoolArray
    bound: float


def solved(choice: HostChoice, gap: float) -> ProgramAnswer | None:
    """Return a choice of little cost; None if it fails.

    The cost is the least, but for the gap, unless the search ends before it is through.

    Args:
        choice: What there is to choose from.
        gap: So much above the optimum is good enough, in the currency of the offer.
    """
    answers: list[SolverAnswer] = []
    run_highs(_program(choice, gap), NO_DEADLINE, answers.append)
    values = answers[0].values
    if values is None:
        return None
    size = choice.here.size
    after = np.rint(values[:size]).astype(np.int64).reshape(choice.here.shape)
    stays = values[size:] > 0.5
    within = after @ choice.size <= np.where(stays[:, None], choice.room * _ROUNDING, 0.0)
    # the program counts what more executors than the fewest save
    late = sum(each[n] for each, n in zip(choice.late_costs, choice.least, strict=True))
    return ProgramAnswer(after, stays, answers[0].bound + float(late)) if within.all() else None


def _program(choice: HostChoice, gap: float) -> SolverRequest:
    """Return the program; reported are executors (n_hosts, n_components), then kept hosts (n_hosts,)."""
    here, parameters, n_hosts = choice.here, choice.parameters, len(choice.hosts)
    builder = ModelBuilder(NO_DEADLINE)
    most = np.broadcast_to(here.sum(axis=0), here.shape).astype(np.float64)
    at = builder.variables(most, np.zeros(1), integer=True)
    arriving = builder.variables(most, np.full(1, parameters.move_cost), integer=False)
    cost = np.where(choice.may_go, parameters.offer.unit_cost, 0.0)
    kept = builder.variables(np.ones(n_hosts), cost, integer=True, low=np.where(choice.may_go, 0.0, 1.0))
    for per, room in zip(choice.size.T, choice.room.T * _ROUNDING, strict=True):
        builder.rows(n_hosts, -np.inf, 0.0, (at, per / room[:, None]), (kept[:, None], -1.0))
    already = here.ravel().astype(np.float64)
    builder.rows(here.size, -np.inf, already, (at.reshape(-1, 1), 1.0), (arriving.reshape(-1, 1), -1.0))
    for k, (of_number, fewest) in enumerate(zip(choice.late_costs, choice.least, strict=True)):
        # of each executor above the fewest: what it saves, and a little for not stopping it
        saved = np.diff(of_number)[fewest:] - _STOP_SHARE * parameters.move_cost
        more = builder.variables(np.ones(len(saved)), saved, integer=True)
        builder.row(fewest, fewest, (at[:, k], 1.0), (more, -1.0))
        if len(more) > 1:
            builder.rows(len(more) - 1, 0.0, np.inf, (more[:-1, None], 1.0), (more[1:, None], -1.0))
    return SolverRequest(
        builder.build(0.0), np.concatenate((at.ravel(), kept)), gap=gap, presolve=False, nodes=_NODES
    )
