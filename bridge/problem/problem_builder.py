"""A topology becomes a placement problem: its executors are the operators, hosts are the nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.shortlist import shortlist
from bridge.problem.worker_room import worker_room, worker_shares, workers_name
from scheduler.base.checks import LARGEST
from scheduler.model.constraints.metric_budget import MetricBudget
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.migration import MIGRATION
from scheduler.model.problem import UNPLACED, Application, Network, Node, Objective, Operator, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.network.delays import Delays
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


class NoHostError(ValueError):
    """No host at all has room and a free worker slot."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The part of a problem that the decisions of a round change.

    Attributes:
        hosts: (n_nodes,) host index of each node, ascending.
        resources: Names of the resources that can run out in this problem.
        demand: (n_executors, n_resources) what each executor needs of these.
        capacity: (n_nodes, n_resources) what each node offers of these.
        allowed: (n_executors, n_nodes) where executors may run.
        current: (n_executors,) node of each executor now, `UNPLACED` where none.
        most_ms: (n_executors,) most time per tuple of those that are free, 0 without a limit.
        budgets: Most of a metric's sum, by metric.
        whole: Whether no host is left out that is open to an executor.
    """

    hosts: IntArray
    resources: tuple[str, ...]
    demand: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    current: IntArray
    most_ms: FloatArray
    budgets: tuple[tuple[str, float], ...]
    whole: bool

    @property
    def key(self) -> bytes:
        """Equal for equal frames."""
        arrays = (self.hosts, self.demand, self.capacity, self.allowed, self.current, self.most_ms)
        names = repr((self.resources, self.budgets)).encode()
        return b"".join((names, *(array.tobytes() for array in arrays)))

    def nodes_of(self, placement: Sequence[int] | IntArray) -> IntArray:
        """Node index per executor from host index per executor, or for many placements at once."""
        return np.searchsorted(self.hosts, np.array(placement, dtype=np.int64)).astype(np.int64)

    def hosts_of(self, nodes: IntArray) -> tuple[int, ...]:
        """Host index per executor from node index per executor."""
        return tuple(self.hosts[nodes].tolist())


def make_frame(
    state: RoundState,
    task: Task,
    fixed: Sequence[int | None],
    closed: BoolArray | None = None,
    overload: float = 0.0,
) -> Frame:
    """Work out which hosts are open to a topology's executors and what the other topologies leave there.

    Args:
        state: The cluster so far.
        task: The topology.
        fixed: Per executor the host that it must keep, None if it may run on each permitted host with a slot.
        closed: (n_hosts,) hosts to which no executor may come, None if there are none.
        overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.

    Raises:
        NoHostError: There is no such host.
    """
    n_hosts = len(state.hosts.hosts)
    slots = state.slots_for(task.index)
    demand = np.column_stack([task.demand(state), worker_shares(state, task.index, task.workers)])
    current = state.hosts_of(state.assignment(task.index))
    keepers = np.array([executor for executor, host in enumerate(fixed) if host is not None], dtype=np.int64)
    held = np.array([host for host in fixed if host is not None], dtype=np.int64)
    # What must stay fits by definition, even where less is left than it needs.
    needed = np.zeros((n_hosts, demand.shape[1]))
    np.add.at(needed, held, demand[keepers])
    room = worker_room(state, task.workers, slots, overload)
    left = task.capacity_left(state, overload, task.least)
    capacity = np.maximum(np.column_stack([left, room]), needed)
    permitted: BoolArray = task.permits.permitted[task.component]
    somewhere = permitted.any(axis=0)
    if closed is not None:
        permitted[:, closed] = False
    for executor, host in enumerate(current):
        if host is not None and state.hosts.hosts[host].usable:
            # It alone may stay where it could not come: at a host of unknown site, or one that is closed.
            permitted[executor, host] |= task.permits.tolerated[task.component[executor], host]
    open_to_some: BoolArray = np.any(permitted, axis=0)
    in_reach = [
        host
        for host in np.flatnonzero(somewhere | open_to_some).tolist()
        if capacity[host, 0] > 0 and slots[host] > 0
    ]
    open_hosts = [host for host in in_reach if open_to_some[host]]
    # Twice the hosts that the executors need leaves the strategies something to choose from.
    most = max(task.plan_settings.max_hosts, 2 * task.limits.hosts)
    choice = shortlist(open_hosts, state.hosts.hosts, capacity[:, 0], permitted, most)
    nodes = np.array(
        sorted({*choice, *held.tolist(), *(host for host in current if host is not None)}), dtype=np.int64
    )
    if nodes.size == 0:
        raise NoHostError("no host has a free worker slot and room for an executor")
    chosen = np.zeros(n_hosts, dtype=np.bool_)
    chosen[choice] = True
    allowed = permitted & chosen
    allowed[keepers] = False
    allowed[keepers, held] = True
    position = {host: node for node, host in enumerate(nodes.tolist())}
    current_nodes = [UNPLACED if host is None else position[host] for host in current]
    scarce = np.array(_scarce(capacity[nodes], demand), dtype=np.int64)
    names = (*state.resources, *task.limits.names, workers_name(task.workers))
    return Frame(
        hosts=nodes,
        resources=tuple(names[index] for index in scarce),
        demand=demand[:, scarce],
        capacity=capacity[np.ix_(nodes, scarce)],
        allowed=allowed[:, nodes],
        current=np.array(current_nodes, dtype=np.int64),
        most_ms=_most_ms(task, keepers),
        budgets=_budgets(task),
        whole=len(choice) == len(in_reach) and task.most is None,
    )


def _most_ms(task: Task, keepers: IntArray) -> FloatArray:
    """(n_executors,) limits on durations; what must stay is not limited."""
    if not (task.bounded and task.settings.duration_max_ms):
        return np.zeros(task.topology.n_executors)
    most_ms = np.array(task.durations.most_ms)
    most_ms[keepers] = 0.0
    return most_ms


def _budgets(task: Task) -> tuple[tuple[str, float], ...]:
    budgets = {
        COST.name: task.settings.budget_cost_per_sec if task.bounded else None,
        MIGRATION.name: task.migration_left,
    }
    return tuple((metric, most) for metric, most in budgets.items() if most is not None)


def _scarce(capacity: FloatArray, demand: FloatArray) -> list[int]:
    """Return the resources that can run out: those of which a host full of executors may lack some."""
    enough = capacity[:, :1] * demand.max(axis=0, initial=0.0)
    # Workers are the topology's own: no host takes more than all of its executors need.
    enough[:, -1] = np.minimum(enough[:, -1], demand[:, -1].sum())
    scarce = (enough > capacity).any(axis=0)
    return [index for index in range(demand.shape[1]) if index == 0 or scarce[index]]


def build_problem(
    state: RoundState, task: Task, frame: Frame, delays: Delays, availability: FloatArray
) -> Problem:
    """Build the problem of placing a topology's executors; its `current` is where they run now.

    Args:
        state: The cluster so far.
        task: The topology.
        frame: Hosts that are open to it.
        delays: Delays between hosts.
        availability: (n_hosts,) fraction of time that each host is up.
    """
    # What has to start somewhere does so whatever is to be loaded: then no move has a price.
    priced = task.pricing.pull_mb_per_s is not None and bool((frame.current >= 0).all())
    scale = task.settings.migration_scale
    return Problem(
        application=_application(state, task, frame, priced=priced),
        network=_network(state, task, frame, delays, availability, priced=priced),
        objective=Objective(
            weights=dict(task.settings.weights),
            ranges={} if scale is None else {MIGRATION.name: (0.0, scale)},
            cost_model="per-node" if task.settings.cost_model == "per-host" else "per-operator",
            duration_model="queue",
        ),
        current=frame.current,
        constraints=tuple(MetricBudget(metric, most) for metric, most in frame.budgets),
    )


def _application(state: RoundState, task: Task, frame: Frame, *, priced: bool) -> Application:
    names = [state.hosts.hosts[host].name for host in frame.hosts]
    demand = frame.demand.tolist()
    times = task.graph.execution_time_ms.tolist()
    state_mb = (task.pricing.state_mb if priced else np.zeros(len(times))).tolist()
    most_ms = frame.most_ms.tolist()
    named: dict[bytes, tuple[str, ...]] = {}
    operators: list[Operator] = []
    for executor, name in enumerate(task.graph.names):
        # Executors of one component share one tuple of names: there may be thousands of either.
        row = frame.allowed[executor]
        key = row.tobytes()
        if key not in named:
            named[key] = tuple(names[node] for node in np.flatnonzero(row))
        operators.append(
            Operator(
                name=name,
                execution_time_ms=times[executor],
                demand=dict(zip(frame.resources, demand[executor], strict=True)),
                allowed=named[key],
                state_mb=state_mb[executor],
                duration_max_ms=most_ms[executor],
            )
        )
    return Application(tuple(operators), task.graph.streams)


def _network(
    state: RoundState,
    task: Task,
    frame: Frame,
    delays: Delays,
    availability: FloatArray,
    *,
    priced: bool,
) -> Network:
    block = np.ix_(frame.hosts, frame.hosts)
    # Worked out only where it is weighed: most topologies weigh the response time alone.
    links = delays.link_availability if task.settings.weights.get("availability") else None
    cost = task.pricing.cost[frame.hosts].tolist()
    speedup = state.hosts.speedup[frame.hosts].tolist()
    shared_s, rates = np.zeros(len(frame.hosts)), np.zeros(len(frame.hosts))
    if priced and task.pricing.pull_mb_per_s is not None:
        shared_s = task.pricing.shared_pull_s(frame.hosts)
        rates = np.minimum(task.pricing.pull_mb_per_s[frame.hosts], LARGEST)
    return Network(
        nodes=tuple(
            Node(
                name=state.hosts.hosts[host].name,
                capacity=dict(zip(frame.resources, capacity, strict=True)),
                availability=float(availability[host]),
                site=state.hosts.hosts[host].site,
                speedup=speedup[node],
                cost=cost[node],
                shared_pull_s=float(shared_s[node]),
                pull_mb_per_s=float(rates[node]),
            )
            for node, (host, capacity) in enumerate(zip(frame.hosts, frame.capacity.tolist(), strict=True))
        ),
        delay_ms=delays.delay_ms[block],
        link_availability=None if links is None else links[block],
    )
