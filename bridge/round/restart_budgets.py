"""What rounds may restart in any hour: in all, at a site, and of a worker.

What the last rounds restarted is taken off what the next one may. A worker is known by its executors: it is
the same one wherever they run, so that none goes to and fro between two slots.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bridge.problem.assignment import assignment_of, restarted_workers
from bridge.round.memory import Restarted
from bridge.wire.messages import Decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bridge.network.cluster import Slot
    from bridge.problem.occupancy import RoundState
    from bridge.round.memory import Memory
    from bridge.round.round_report import Round
    from bridge.settings import MoveSettings
    from bridge.wire.messages import PlanRequest, Topology, TopologyPlan

HOUR_S = 3600.0
_PER_SITE = "move.max_restarts_per_site_per_hour"
_PER_WORKER = "move.max_restarts_per_worker_per_hour"


@dataclass(frozen=True)
class Worker:
    """A worker that restarts.

    Attributes:
        topology: Id of its topology.
        site: Where it runs, None if that is not known.
        executors: Lowest task of each of its executors.
    """

    topology: str
    site: str | None
    executors: frozenset[int]


@dataclass(frozen=True)
class RestartBudgets:
    """What may still restart, beside the number of executors of one round.

    Attributes:
        per_site: Executors at one site in an hour; None: any number.
        per_worker: Times that a worker restarts in an hour; likewise.
        spent: What was restarted in the last hour.
        because: Says in brackets that the budget of the hour limits the round; empty if it does not.
    """

    per_site: int | None = None
    per_worker: int | None = None
    spent: tuple[Worker, ...] = ()
    because: str = ""

    @property
    def counts(self) -> bool:
        """Whether it matters which workers restart."""
        return self.per_site is not None or self.per_worker is not None

    @property
    def unspent(self) -> RestartBudgets:
        """The budgets of an hour in which nothing was restarted."""
        return replace(self, spent=())

    def after(self, workers: Iterable[Worker]) -> RestartBudgets:
        """Return what is left when these have been restarted."""
        return replace(self, spent=(*self.spent, *workers)) if self.counts else self

    def why_not(self, workers: Sequence[Worker], *, alone: bool = False) -> str:
        """Say which budget these workers would exceed, as the end of a sentence; empty if none.

        Args:
            workers: What would restart.
            alone: Whether a worker may exceed the budget of its site if nothing else of it restarts.
        """
        if self.per_site is not None:
            for site in dict.fromkeys(each.site for each in workers):
                there = [each for each in (*self.spent, *workers) if each.site == site]
                if sum(len(each.executors) for each in there) > self.per_site and not (
                    alone and len(there) == 1
                ):
                    name = "hosts of unknown site" if site is None else site
                    most = f"the {self.per_site} that may restart in an hour"
                    return f"restarts more executors at {name} than {most} ({_PER_SITE})"
        if self.per_worker is not None:
            times = Counter((each.topology, task) for each in self.spent for task in each.executors)
            if any(
                times[each.topology, task] >= self.per_worker for each in workers for task in each.executors
            ):
                most = f"the {self.per_worker} allowed in an hour"
                return f"restarts a worker more times than {most} ({_PER_WORKER})"
        return ""

    def why_over(
        self, state: RoundState, topology: int, assignment: Sequence[Slot | None], *, alone: bool = False
    ) -> str:
        """Say which budget an assignment would exceed, with all that the round restarts; empty if none.

        Args:
            state: The cluster when the round began, and after the decisions so far.
            topology: Index of the topology.
            assignment: Slot per executor.
            alone: As of `why_not`.
        """
        if not self.counts:
            return ""
        others = (
            worker
            for other in range(len(state.request.topologies))
            if other != topology and state.restarts(other)
            for worker in restarting(state, other)
        )
        return self.after(others).why_not(restarting(state, topology, assignment), alone=alone)


NO_BUDGETS = RestartBudgets()


def restarting(
    state: RoundState, topology: int, assignment: Sequence[Slot | None] | None = None
) -> tuple[Worker, ...]:
    """Return the workers of a topology that restart in a round.

    Args:
        state: The cluster when the round began, and after the decisions so far.
        topology: Index of the topology.
        assignment: Slot per executor afterwards; None stands for the decisions so far.
    """
    site_of = {
        executor: state.hosts.hosts[state.host_of(slot)].site
        for executor, slot in enumerate(state.initial(topology))
        if slot is not None
    }
    return tuple(
        worker_of(state.request.topologies[topology], executors, site_of[min(executors)])
        for executors in state.restarted_workers(topology, assignment)
    )


def worker_of(topology: Topology, executors: Iterable[int], site: str | None) -> Worker:
    """Return a worker by the positions of its executors in its topology."""
    first = topology.executor_first_task
    return Worker(topology.id, site, frozenset(first[executor] for executor in executors))


class Hour:
    """The budgets of an hour in one round.

    Args:
        move: The daemon's settings of moves.
        memory: What the round before handed on.
        now_s: Time of the round, on the clock of the memory.

    Attributes:
        move: The settings of moves for this round.
        budgets: What of sites and workers may still restart.
    """

    def __init__(self, move: MoveSettings, memory: Memory, now_s: float) -> None:
        self._now_s = now_s
        self._recent = tuple(each for each in memory.restarts if now_s - each[0] < HOUR_S)
        self._workers = tuple(each for each in memory.workers if now_s - each.time_s < HOUR_S)
        self._counts = move.max_restarts_per_hour is not None
        self.move = move
        because = ""
        if move.max_restarts_per_hour is not None:
            left = max(move.max_restarts_per_hour - sum(number for _, number in self._recent), 0)
            if left < move.max_restarts_per_round:
                self.move = move.model_copy(update={"max_restarts_per_round": left})
                because = " (move.max_restarts_per_hour)"
        self.budgets = RestartBudgets(
            move.max_restarts_per_site_per_hour,
            move.max_restarts_per_worker_per_hour,
            tuple(Worker(each.topology, each.site, frozenset(each.executors)) for each in self._workers),
            because,
        )

    def charged(self, request: PlanRequest, done: Round) -> Round:
        """Return the round with what it restarts in its memory.

        Args:
            request: The round as the shim sees it.
            done: What came out of it.
        """
        memory = done.memory
        if self._counts:
            own = ((self._now_s, done.restarts),) if done.restarts else ()
            memory = replace(memory, restarts=(*self._recent, *own))
        if self.budgets.counts:
            now = (
                Restarted(self._now_s, each.topology, each.site, tuple(sorted(each.executors)))
                for each in restarted_by(request, done.response.plans, done.known.hosts.site_of_supervisor)
            )
            memory = replace(memory, workers=(*self._workers, *now))
        return replace(done, memory=memory)


def restarted_by(
    request: PlanRequest, plans: Iterable[TopologyPlan], sites: Sequence[str | None]
) -> tuple[Worker, ...]:
    """Return the workers that plans restart.

    Args:
        request: The round.
        plans: Its plans.
        sites: Site of each supervisor.
    """
    topologies = {each.id: each for each in request.topologies}
    found: list[Worker] = []
    for plan in plans:
        if plan.decision is not Decision.ASSIGN or plan.price is None or not plan.price.executors_restarted:
            continue
        topology = topologies[plan.topology_id]
        before = assignment_of(topology)
        after = tuple(zip(plan.executor_supervisor, plan.executor_port, strict=True))
        where = {executor: sites[slot[0]] for executor, slot in enumerate(before) if slot is not None}
        found.extend(worker_of(topology, each, where[min(each)]) for each in restarted_workers(before, after))
    return tuple(found)
