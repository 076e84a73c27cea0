"""The messages of placement.thrift as frozen Python values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

UNASSIGNED = -1


class ComponentKind(IntEnum):
    """What a component of a topology is."""

    SPOUT = 0
    BOLT = 1
    ACKER = 2
    SYSTEM = 3


class Grouping(IntEnum):
    """How a stream's tuples are dealt to the tasks of the component that consumes it."""

    SHUFFLE = 0
    FIELDS = 1
    ALL = 2
    GLOBAL = 3
    NONE = 4
    DIRECT = 5
    LOCAL_OR_SHUFFLE = 6
    CUSTOM = 7


class ReadingKind(IntEnum):
    """What a published reading is about."""

    NODE = 0
    RATES = 1


class Decision(IntEnum):
    """What the daemon answers for one topology."""

    KEEP = 0
    ASSIGN = 1
    UNPLACEABLE = 2


@dataclass(frozen=True, slots=True)
class Supervisor:
    """A supervisor of the cluster.

    Attributes:
        id: Storm's id of the supervisor.
        host: Name of its host; several supervisors may share one.
        ports: Worker slots that may be used or are in use in this round.
        alive: False if only an assignment still names it.
        blacklisted: True if Storm's blacklist holds its host.
        cpu_percent: Capacity, 100 = one core, 0 if unknown.
        memory_mb: Capacity, 0 if unknown.
        meta: `supervisor.scheduler.meta`.
        rack: Name of its rack; None if the cluster knows none.
        resources: Capacity of each of the request's `resource_names`.
    """

    id: str
    host: str
    ports: tuple[int, ...]
    alive: bool
    blacklisted: bool
    cpu_percent: float
    memory_mb: float
    meta: dict[str, str]
    rack: str | None = None
    resources: tuple[float, ...] | None = None

    @property
    def usable(self) -> bool:
        """Whether new executors may be placed here."""
        return self.alive and not self.blacklisted


@dataclass(frozen=True, slots=True)
class Topology:
    """A topology with its executors in ascending order of their first task.

    The lists of one prefix (`component_`, `stream_`, `executor_`) are parallel. `stream_from`, `stream_to`
    and `executor_component` hold component indices; `executor_supervisor` holds supervisor indices, -1 =
    unassigned.

    Attributes:
        component_heap_mb: Heap of one executor, by component.
        component_resources: What one executor needs of the request's `resource_names`, one component after
            the other.
        storm_json: JSON object of the keys of Storm's own configuration that placements heed.
        launched_s: Unix time of the submission.
        last_supervisor: Supervisor on which each executor ran last, -1 if that is not known; None if all have
            a slot.
        last_port: Its port there, -1 likewise.
        left_supervisor: Supervisor of each slot in which executors ran last that are not to come back: others
            have their tasks, or another number of workers is asked for. None if all executors have a slot.
        left_port: Its port.
        shared_component: Components that share memory, one for each piece that they use; None without any.
        shared_piece: The piece of memory that each of these uses.
        shared_mb: Heap of a worker, memory of a worker beside its heap, and memory of a node that a piece
            takes, MB, one piece after the other.
        status: `ACTIVE`, `INACTIVE`, `KILLED` or `REBALANCING` as Storm has it; None if that is not known.
        owner: User who submitted it; None from a shim that does not say.
    """

    id: str
    name: str
    num_workers: int
    settings_json: str
    component_names: tuple[str, ...]
    component_kinds: tuple[ComponentKind, ...]
    stream_from: tuple[int, ...]
    stream_to: tuple[int, ...]
    stream_ids: tuple[str, ...]
    stream_groupings: tuple[Grouping, ...]
    executor_first_task: tuple[int, ...]
    executor_last_task: tuple[int, ...]
    executor_component: tuple[int, ...]
    executor_cpu_percent: tuple[float, ...]
    executor_memory_mb: tuple[float, ...]
    executor_supervisor: tuple[int, ...]
    executor_port: tuple[int, ...]
    component_heap_mb: tuple[float, ...] | None = None
    component_resources: tuple[float, ...] | None = None
    storm_json: str | None = None
    launched_s: int | None = None
    last_supervisor: tuple[int, ...] | None = None
    last_port: tuple[int, ...] | None = None
    left_supervisor: tuple[int, ...] | None = None
    left_port: tuple[int, ...] | None = None
    shared_component: tuple[int, ...] | None = None
    shared_piece: tuple[int, ...] | None = None
    shared_mb: tuple[float, ...] | None = None
    status: str | None = None
    owner: str | None = None

    @property
    def n_executors(self) -> int:
        """Number of executors."""
        return len(self.executor_first_task)


@dataclass(frozen=True, slots=True)
class Reading:
    """A published reading as it stands in ZooKeeper.

    Attributes:
        kind: What it is about.
        name: Host or topology id.
        payload: Text of the znode, unparsed; packed as there if the shim is an older one or could not
            unpack it.
        age_ms: Time since the shim saw it change.
    """

    kind: ReadingKind
    name: str
    payload: bytes
    age_ms: int


@dataclass(frozen=True, slots=True)
class Drain:
    """A host or site that is to be emptied, as it stands in ZooKeeper.

    Attributes:
        place: `host:NAME` or `site:NAME`.
        payload: Text of the znode, unparsed.
        age_ms: Time since the shim saw it change.
    """

    place: str
    payload: bytes
    age_ms: int


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """One round of scheduling as the shim sees it.

    Attributes:
        cluster: Names the cluster, None if the client does not.
        resource_names: Resources beside CPU and memory that supervisors offer.
        cluster_json: JSON object of the keys of Nimbus' configuration that placements heed; None from a shim
            that sends none and knows no evictions.
        drains: Hosts and sites that are to be emptied.
    """

    version: int
    round_id: str
    deadline_ms: int
    supervisors: tuple[Supervisor, ...]
    topologies: tuple[Topology, ...]
    readings: tuple[Reading, ...]
    readings_live: bool
    cluster: str | None = None
    resource_names: tuple[str, ...] = ()
    cluster_json: str | None = None
    drains: tuple[Drain, ...] = ()


@dataclass(frozen=True, slots=True)
class Price:
    """What a move saves and costs.

    Attributes:
        gain: Fraction of the current objective that is saved; 0 for a first placement.
        executors_moved: Running executors that change their worker.
        workers_moved: Running workers that end or restart because their set of executors changes.
        executors_restarted: All executors of those workers.
        pause_s: For about so long these stand still; what follows is None where nothing is known.
        pause_source: What that rests on: `restarts` or `first starts`, `at` a site if of one, or `default`;
            `, until they run` at its end where it is not known when executors worked.
        pause_samples: Number of these.
        replayed_tuples: Tuples that spouts emit again.
        pulled_mb: Images and state that hosts load.
        move_cost: Price of that, in cost units.
        payback_s: After so long it is paid; None beside a `move_cost` if it never is.
        objective_before: F of staying, where more than the response time is weighed.
        metrics: Names of metrics, as in answers.
        staying: Their values if nothing moves.
        after: Their values after the plan.
    """

    gain: float
    executors_moved: int
    workers_moved: int
    executors_restarted: int | None = None
    pause_s: float | None = None
    pause_source: str | None = None
    pause_samples: int | None = None
    replayed_tuples: float | None = None
    pulled_mb: float | None = None
    move_cost: float | None = None
    payback_s: float | None = None
    objective_before: float | None = None
    metrics: tuple[str, ...] | None = None
    staying: tuple[float, ...] | None = None
    after: tuple[float, ...] | None = None

    def known(self, metric: str) -> tuple[float | None, float | None]:
        """Return what staying and the plan are worth in a metric, None where that is not known."""
        values = zip(self.metrics or (), self.staying or (), self.after or (), strict=True)
        return next(((before, after) for name, before, after in values if name == metric), (None, None))


@dataclass(frozen=True, slots=True)
class TopologyPlan:
    """The answer for one topology; the executor lists are parallel to the request's, empty unless ASSIGN.

    Attributes:
        evicted_for: Id of the topology that needs its slots, which are all freed before any plan is carried
            out; None if it is not evicted.
    """

    topology_id: str
    decision: Decision
    executor_supervisor: tuple[int, ...]
    executor_port: tuple[int, ...]
    status: str
    strategy: str
    objective: float | None = None
    response_time_ms: float | None = None
    bound: float | None = None
    price: Price | None = None
    evicted_for: str | None = None


@dataclass(frozen=True, slots=True)
class PlanResponse:
    """The answer for one round.

    Attributes:
        hold_ms: Time for which a cluster in which nothing changes needs no plan; None if it always needs one.
    """

    version: int
    round_id: str
    plans: tuple[TopologyPlan, ...]
    hold_ms: int | None = None
