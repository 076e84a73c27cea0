"""What two placements of a topology are worth beside each other, in each metric that is known."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from bridge.problem.cpu_demand import with_cpu
from bridge.problem.frame import NoHostError
from bridge.problem.occupancy import RoundState
from bridge.problem.task import make_task
from bridge.round.small.search import Search
from bridge.round.unread import with_stand_ins
from scheduler.base.deadline import Deadline
from scheduler.evaluation.evaluate import evaluate
from scheduler.model.metrics.catalogue import METRICS, RANGED
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.duration_excess import DURATION_EXCESS
from scheduler.model.metrics.migration import MIGRATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from bridge.problem.assignment import Assignment
    from bridge.problem.task import Task
    from bridge.round.round_data import RoundData
    from bridge.settings import Settings
    from bridge.wire.messages import PlanRequest
    from scheduler.evaluation.evaluate import Evaluation


@dataclass(frozen=True)
class Worth:
    """What two placements are worth.

    Attributes:
        metrics: Values of staying and of the placement to come, by the names of metrics in answers; None of a
            placement that is not whole.
        pulled_mb: Images and state that hosts load for the move, MB; None where none are stated.
        move_cost: Price of that, in cost units; None where it or the cost of hosts is not known.
    """

    metrics: Mapping[str, tuple[float | None, float | None]]
    pulled_mb: float | None = None
    move_cost: float | None = None


class Worths:
    """Looks at topologies of one round.

    Args:
        request: The round as the shim sees it.
        data: What is known of hosts, delays and rates.
        settings: The daemon's settings.
        clock: Monotonic seconds.
    """

    def __init__(
        self, request: PlanRequest, data: RoundData, settings: Settings, clock: Callable[[], float]
    ) -> None:
        self._request = request
        self._data = data
        self._settings = settings
        self._clock = clock

    def between(self, index: int, before: Assignment, after: Assignment) -> Worth:
        """Compare what runs with what is to come.

        Without metrics for a topology that cannot be read or is too large to be moved for a gain, and in
        clusters of which not all delays are worked out.

        Args:
            index: Position of the topology.
            before: Slot of each executor by now.
            after: Slot of each executor then.
        """
        topology, data = self._request.topologies[index], self._data
        too_large = topology.n_executors > self._settings.plan.max_executors
        whole = [each for each in (after, before) if each and None not in each]
        if too_large or topology.id in data.unread or len(data.located) < len(data.hosts.hosts) or not whole:
            return Worth({})
        state, task = self._state, self._task(index)
        hosts = {each: [state.host_of(slot) for slot in each if slot is not None] for each in whole}
        try:
            question = self._search.pose(task, hosts[whole[0]])
        except NoHostError:
            return Worth({})
        worth = {
            each: evaluate(question.problem, question.frame.nodes_of(there)) for each, there in hosts.items()
        }
        # limits on durations are those of executors that may move, and here none may
        unknown = {DURATION_EXCESS.name}
        costed = self._costs_are_known(task, hosts.values())
        pricing, pulled_mb = task.pricing, None
        if before in hosts and after in hosts and pricing.pull_mb_per_s is not None:
            pulled_mb = pricing.loaded_mb(hosts[before], hosts[after])
        if not costed:
            unknown.add(COST.name)
        if pulled_mb is None or not costed:
            unknown.add(MIGRATION.name)
        metrics = {
            METRICS[name].answer: (_value(worth.get(before), name), _value(worth.get(after), name))
            for name in RANGED
            if name not in unknown
        }
        move_cost = None if MIGRATION.name in unknown else pricing.price(hosts[before], hosts[after])
        return Worth(metrics, pulled_mb, move_cost)

    def _costs_are_known(self, task: Task, placements: Iterable[Sequence[int]]) -> bool:
        """Whether all hosts of some placements state what they cost, and that counts for the topology."""
        used = sorted({host for each in placements for host in each})
        hosts = self._data.hosts
        stated = all(hosts.hosts[host].cost is not None for host in used)
        return stated and bool((task.pricing.cost[used] == hosts.cost[used]).all())

    @cached_property
    def _state(self) -> RoundState:
        data = self._data
        readable = with_stand_ins(with_cpu(self._request, data.cpu), data.unread)
        return RoundState(readable, data.hosts, self._settings.capacity.resources)

    @cached_property
    def _search(self) -> Search:
        data, clock = self._data, self._clock
        return Search(self._state, data.surroundings, lambda _: Deadline(clock, clock()))

    def _task(self, index: int) -> Task:
        measured = self._data.rates.by_topology.get(self._request.topologies[index].id)
        return make_task(self._state, index, self._data.wishes[index], self._settings.plan, measured)


def _value(worth: Evaluation | None, metric: str) -> float | None:
    return None if worth is None else worth.values[metric]
