"""What the decisions of a round change of a topology's problem: hosts, room, and where executors may run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bridge.problem.shortlist import shortlist
from bridge.problem.worker_room import worker_room, worker_shares, workers_name
from scheduler.model.metrics.cost import COST
from scheduler.model.metrics.migration import MIGRATION
from scheduler.model.problem import UNPLACED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bridge.problem.links.bandwidth_book import BandwidthLeft
    from bridge.problem.links.terminals import Terminal
    from bridge.problem.occupancy import RoundState
    from bridge.problem.task import Task
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray


class NoHostError(ValueError):
    """No host at all has room and a free worker slot."""


@dataclass(frozen=True, eq=False)
class Frame:
    """The part of a problem that the decisions of a round change.

    Attributes:
        hosts: (n_hosts,) host index of each host, ascending; nodes behind them are sites outside Storm.
        terminals: Ends outside Storm; their operators come behind those of executors.
        resources: Names of the resources that can run out in this problem.
        demand: (n_executors, n_resources) what each executor needs of these.
        capacity: (n_hosts, n_resources) what each host offers of these.
        allowed: (n_executors, n_hosts) where executors may run.
        current: (n_ops,) node of each operator now, `UNPLACED` where none.
        most_ms: (n_executors,) most time per tuple of those that are free, 0 without a limit.
        budgets: Most of a metric's sum, by metric.
        whole: Whether no host is left out that is open to an executor.
        bandwidth: What other topologies leave of bandwidths between sites; None where these do not count.
    """

    hosts: IntArray
    terminals: tuple[Terminal, ...]
    resources: tuple[str, ...]
    demand: FloatArray
    capacity: FloatArray
    allowed: BoolArray
    current: IntArray
    most_ms: FloatArray
    budgets: tuple[tuple[str, float], ...]
    whole: bool
    bandwidth: BandwidthLeft | None

    @property
    def key(self) -> bytes:
        """Equal for equal frames."""
        arrays = (self.hosts, self.demand, self.capacity, self.allowed, self.current, self.most_ms)
        left = () if self.bandwidth is None else (self.bandwidth.uplink, self.bandwidth.between)
        names = repr((self.resources, self.budgets, len(left))).encode()
        return b"".join((names, *(array.tobytes() for array in (*arrays, *left))))

    @property
    def sites(self) -> tuple[str, ...]:
        """Sites of the ends outside Storm; each is a node behind the hosts."""
        return sites_of(self.terminals)

    @property
    def at_sites(self) -> IntArray:
        """(n_terminals,) node of each end outside Storm."""
        return nodes_of_terminals(self.terminals, len(self.hosts))

    def nodes_of(self, placement: Sequence[int] | IntArray) -> IntArray:
        """Node index per operator from host index per executor, or for many placements, (executor, n)."""
        nodes = self.nodes_of_hosts(placement)
        if not self.terminals:
            return nodes
        ends = np.broadcast_to(
            self.at_sites.reshape(-1, *(1,) * (nodes.ndim - 1)), (len(self.terminals), *nodes.shape[1:])
        )
        return np.concatenate([nodes, ends])

    def nodes_of_hosts(self, hosts: Sequence[int] | IntArray) -> IntArray:
        """Node index of each of some hosts."""
        return np.searchsorted(self.hosts, np.array(hosts, dtype=np.int64)).astype(np.int64)

    def hosts_of(self, nodes: IntArray) -> tuple[int, ...]:
        """Host index per executor from node index per operator."""
        return tuple(self.hosts[nodes[: len(nodes) - len(self.terminals)]].tolist())


def sites_of(terminals: Sequence[Terminal]) -> tuple[str, ...]:
    """Return the distinct sites of ends outside Storm."""
    return tuple(dict.fromkeys(each.site for each in terminals))


def nodes_of_terminals(terminals: Sequence[Terminal], n_hosts: int) -> IntArray:
    """(n_terminals,) node of each end outside Storm; their sites come behind the hosts."""
    sites = sites_of(terminals)
    return np.array([n_hosts + sites.index(each.site) for each in terminals], dtype=np.int64)


def make_frame(
    state: RoundState,
    task: Task,
    fixed: Sequence[int | None],
    closed: BoolArray | None = None,
    overload: float = 0.0,
    *,
    bandwidth: BandwidthLeft | None = None,
) -> Frame:
    """Work out which hosts are open to a topology's executors and what the other topologies leave there.

    Args:
        state: The cluster so far.
        task: The topology.
        fixed: Per executor the host that it must keep, None if it may run on each permitted host with a slot.
        closed: (n_hosts,) hosts to which no executor may come, None if there are none.
        overload: Part of a host's capacity by which it may be exceeded where it is no hard limit.
        bandwidth: What other topologies leave of bandwidths between sites; None where these do not count.

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
    current_nodes += nodes_of_terminals(task.terminals, len(nodes)).tolist()
    scarce = np.array(_scarce(capacity[nodes], demand), dtype=np.int64)
    names = (*state.resources, *task.limits.names, workers_name(task.workers))
    return Frame(
        hosts=nodes,
        terminals=task.terminals,
        resources=tuple(names[index] for index in scarce),
        demand=demand[:, scarce],
        capacity=capacity[np.ix_(nodes, scarce)],
        allowed=allowed[:, nodes],
        current=np.array(current_nodes, dtype=np.int64),
        most_ms=_most_ms(task, keepers),
        budgets=_budgets(task),
        whole=len(choice) == len(in_reach) and task.most is None,
        bandwidth=bandwidth,
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
