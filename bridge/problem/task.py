"""A topology that is planned executor by executor, whatever is decided about the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from bridge.problem.component_flows import ComponentFlows, component_flows
from bridge.problem.duration_limits import duration_limits
from bridge.problem.executor_graph import ExecutorGraph, build_executor_graph
from bridge.problem.flows import user_components
from bridge.problem.links.co_location import together
from bridge.problem.links.placement_costs import PlacementCosts, placement_costs
from bridge.problem.links.terminals import terminals_of
from bridge.problem.node_limits import host_limits
from bridge.problem.permits import permits_of
from bridge.problem.pricing import pricing_of
from bridge.problem.workers import workers_of
from bridge.readings.rates import UNMEASURED
from scheduler.model.constraints.link_bandwidth import LinkBandwidth
from scheduler.model.metrics.placement_cost import PLACEMENT_COST
from scheduler.registry import STRATEGIES

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from bridge.network.cluster import Host, Hosts
    from bridge.problem.duration_limits import DurationLimits
    from bridge.problem.links.terminals import Terminal
    from bridge.problem.node_limits import HostLimits
    from bridge.problem.occupancy import RoundState
    from bridge.problem.permits import Permits
    from bridge.problem.pricing import Pricing
    from bridge.problem.workers import WorkerNeeds
    from bridge.readings.rates import MeasuredRates
    from bridge.settings import PlanSettings
    from bridge.wire.messages import Topology
    from bridge.wishes.topology_settings import TopologySettings
    from bridge.wishes.wishes import Wishes
    from scheduler.base.arrays import BoolArray, FloatArray, IntArray

Role = Literal["source", "operator", "sink"]


@dataclass(frozen=True, eq=False)
class Task:
    """What is known about one topology in one round, whatever is decided about the others.

    Attributes:
        index: Position of the topology in the request.
        topology: The topology.
        wishes: What the topology asks for.
        plan_settings: How plans are made.
        component: (n_executors,) component of each executor.
        permits: Where pins and avoidances let its executors run.
        workers: How its executors may share workers.
        favored: (n_hosts,) hosts that its user prefers.
        unfavored: (n_hosts,) hosts that are used only if the others do not suffice.
        measured: The topology's measured rates, None without any.
        limits: Limits of executors of a component on one host.
        pricing: What hosts and moves cost it.
        places: What its executors cost where they run.
        speedup: (n_executors,) that of the host where each executor runs, NaN where it runs nowhere; None if
            all hosts are as fast as the reference processor.
        least: Executors for which there is room on each host that states no number of them.
        most: (n_hosts,) executors that each host takes at most; None without such limits.
        bounded: Whether its budget of cost and its limits on durations count.
        migration_left: What moves may cost; None: whatever they cost.
        within_bandwidth: Whether bandwidths between sites count.
    """

    index: int
    topology: Topology
    wishes: Wishes
    plan_settings: PlanSettings
    component: IntArray
    permits: Permits
    workers: WorkerNeeds
    favored: BoolArray
    unfavored: BoolArray
    measured: MeasuredRates | None
    limits: HostLimits
    pricing: Pricing
    places: PlacementCosts
    speedup: FloatArray | None
    least: int = 0
    most: IntArray | None = None
    bounded: bool = True
    migration_left: float | None = None
    within_bandwidth: bool = True

    @property
    def loose(self) -> Task:
        """The same where the number of workers asked for does not matter."""
        return replace(self, workers=self.workers.loose)

    @property
    def settings(self) -> TopologySettings:
        """The topology's settings for this scheduler."""
        return self.wishes.own

    @cached_property
    def flows(self) -> ComponentFlows:
        """What flows between components."""
        measured = self.measured or UNMEASURED
        own = self.settings
        return component_flows(self.topology, self.plan_settings, own.rates, measured, own.tuple_bytes)

    @cached_property
    def graph(self) -> ExecutorGraph:
        """Executors and streams; worked out only for topologies that are planned."""
        measured = self.measured or UNMEASURED
        own = self.settings
        return build_executor_graph(
            self.topology,
            self.plan_settings,
            own.rates,
            measured,
            self.speedup,
            declared_ms=own.execution_ms,
            link_cost_basis=own.link_cost_basis,
            flows=self.flows,
        )

    @cached_property
    def terminals(self) -> tuple[Terminal, ...]:
        """Its ends outside Storm."""
        return terminals_of(self.settings, self.topology.component_names, self.flows)

    @cached_property
    def durations(self) -> DurationLimits:
        """Limits on its time per tuple."""
        names = [self.topology.component_names[each] for each in self.topology.executor_component]
        rated = self.measured is not None or bool(self.settings.rates)
        return duration_limits(self.settings.duration_max_ms, names, self.graph.timed, rated=rated)

    @property
    def bounds(self) -> tuple[str, ...]:
        """Keys that limit costs and durations wherever executors run."""
        own = self.settings
        return (
            *(["budget.cost.per.sec"] if own.budget_cost_per_sec is not None else []),
            *(["duration.max.ms"] if own.duration_max_ms else []),
        )

    @property
    def costed(self) -> bool:
        """Whether costs of places and links have a say: they are weighed, or its strategy looks at them."""
        return _costed(self.settings)

    @property
    def roles(self) -> tuple[Role, ...]:
        """(n_executors,) what each is in its graph: where that begins or ends, pinned ones are its ends."""
        names, pinned = self.topology.component_names, self.settings.pin
        users = user_components(self.topology)
        pairs = [*zip(self.topology.stream_from, self.topology.stream_to, strict=True)]
        fed = {target for source, target in pairs if {source, target} <= users}
        feeding = {source for source, target in pairs if {source, target} <= users}
        return tuple(
            "operator"
            if names[each] not in pinned or (each in fed and each in feeding)
            else ("sink" if each in fed else "source")
            for each in self.component.tolist()
        )

    @property
    def together(self) -> tuple[tuple[str, ...], ...]:
        """Names of the executors that share a host, of each set."""
        return together(self.settings.colocate, self.topology, self.graph.names)

    @property
    def notes(self) -> tuple[str, ...]:
        """What it weighs, limits or states and cannot be known, one phrase each."""
        limited = bool(self.settings.duration_max_ms)
        placing = self.places.note if self.settings.weights.get(PLACEMENT_COST.name) else ""
        of_durations = self.durations.note if limited else ""
        return (*self.pricing.notes, *(note for note in (placing, of_durations) if note))

    def demand(self, state: RoundState) -> FloatArray:
        """(n_executors, n_resources) what the executors need: of the round's resources, of places."""
        return np.column_stack([state.demand(self.index), self.limits.demand])

    def capacity_left(self, state: RoundState, overload: float, least: int) -> FloatArray:
        """(n_hosts, n_resources) what the other topologies leave of these; see `RoundState.capacity_left`."""
        left = state.capacity_left(self.index, overload, least)
        if self.most is not None:
            left[:, 0] = np.minimum(left[:, 0], self.most)
        return np.column_stack([left, np.tile(self.limits.places, (len(left), 1))])


def make_task(
    state: RoundState,
    index: int,
    wishes: Wishes,
    plan_settings: PlanSettings,
    measured: MeasuredRates | None = None,
) -> Task:
    """Work out where the executors of a topology may run at all.

    Args:
        state: The cluster.
        index: Position of the topology in the request.
        wishes: What the topology asks for.
        plan_settings: How plans are made.
        measured: The topology's measured rates, None without any.
    """
    topology = state.request.topologies[index]
    permits = permits_of(topology, wishes.own, state.hosts.hosts)
    component = np.array(topology.executor_component, dtype=np.int64)
    running = state.hosts_of(state.initial(index))
    reach: BoolArray = np.any(permits.permitted | permits.doubtful, axis=0)
    reach[[host for host in running if host is not None]] = True
    names = [topology.component_names[each] for each in topology.executor_component]
    return Task(
        index=index,
        topology=topology,
        wishes=wishes,
        plan_settings=plan_settings,
        component=component,
        permits=permits,
        workers=workers_of(topology, wishes.storm),
        favored=_named(state.hosts.hosts, wishes.storm.favored),
        unfavored=_named(state.hosts.hosts, wishes.storm.unfavored),
        measured=measured,
        limits=host_limits(topology, wishes.storm),
        pricing=pricing_of(wishes.own, state.hosts, reach, names),
        within_bandwidth=LinkBandwidth.kind not in STRATEGIES[wishes.own.strategy].ignores,
        places=_places(wishes.own, topology, state.hosts, permits),
        speedup=_speedups(state.hosts, running),
    )


def _costed(own: TopologySettings) -> bool:
    return own.weighs_costs or bool(STRATEGIES[own.strategy].needs)


def _places(own: TopologySettings, topology: Topology, hosts: Hosts, permits: Permits) -> PlacementCosts:
    """Return what executors cost; it is not looked at where costs have no say, as in most topologies."""
    if not _costed(own):
        return PlacementCosts(np.zeros(len(hosts.hosts)), {}, "")
    near = permits.permitted | permits.doubtful
    reach = {topology.component_names[each]: near[each] for each in sorted(set(topology.executor_component))}
    return placement_costs(own.placement_cost, hosts.hosts, reach)


def _speedups(hosts: Hosts, running: Sequence[int | None]) -> FloatArray | None:
    """(n_executors,) speed-up of the host where each executor runs; None if that of all hosts is 1."""
    if hosts.alike:
        return None
    return np.array([np.nan if host is None else hosts.speedup[host] for host in running], dtype=np.float64)


def _named(hosts: Sequence[Host], names: Collection[str]) -> BoolArray:
    """(n_hosts,) hosts of some names."""
    if not names:
        return np.zeros(len(hosts), dtype=np.bool_)
    return np.array([host.name in names for host in hosts], dtype=np.bool_)
