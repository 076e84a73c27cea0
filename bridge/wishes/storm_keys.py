"""Keys of Storm's own schedulers: who reads each in Storm, what it means here, and the tests that show it.

Read from Storm 2.8.3. The page docs/storm-keys.md is written from these records.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StormKey:
    """A key that a scheduler of Storm's own reads.

    Attributes:
        key: The key.
        reader: Who reads it in Storm.
        use: What it means here, in plain sentences.
        tests: The tests that show it, each `FILE::NAME`; none if the key is not heeded.
        sent: Whether the shim sends a topology's value along (`STORM_KEYS`); Storm itself works out what the
            other keys amount to, and the shim sends that.
    """

    key: str
    reader: str
    use: str
    tests: tuple[str, ...] = ()
    sent: bool = False


_LARGE = "tests/bridge/round/large/test_large.py::"
_CAPACITY = "tests/bridge/round/small/test_capacity.py::"
_SMALL = "tests/bridge/round/small/test_workers.py::"
_KEYS = "tests/bridge/round/test_storm_keys.py::"
_CONSTRAINTS = "tests/bridge/round/test_constraints.py::"
_SHIM = "java-shim/src/test/java/io/stormplace/ResourcesTest.java::"
_RAS, _EVEN, _ISOLATION, _TENANTS = "RAS", "Default and Even", "Isolation", "Multitenant"
_NO_SEARCH = "Not heeded: there is no backtracking search, `plan.time_limit_ms` bounds a round."
_ORDER = "tests/bridge/round/test_order.py::"
_EVICTION = "tests/bridge/round/test_eviction.py::"
_MACHINES = "tests/bridge/round/test_isolated_machines.py::"
_SHIM_KEYS = "java-shim/src/test/java/io/stormplace/ClusterKeysTest.java::"

RECORDS = (
    StormKey(
        "topology.workers",
        f"{_EVEN}; Nimbus for the number of ackers",
        "Above 1: so many workers where slots allow, at most one per executor; more where heap or rules need"
        " them.",
        (
            f"{_LARGE}test_as_many_workers_as_asked_for",
            f"{_SMALL}test_there_are_as_many_workers_as_asked_for_at_most_one_per_executor",
        ),
    ),
    StormKey(
        "topology.acker.executors",
        "Nimbus",
        "Nimbus makes so many ackers, or as many as `topology.workers` without it; they are placed as any"
        " bolt is, by their streams.",
        (f"{_SHIM}ackersAreComponentsWithTheirOwnDemand",),
    ),
    StormKey(
        "topology.ras.acker.executors.per.worker",
        f"{_RAS}; Nimbus, if `storm.scheduler` is RAS itself",
        "Not heeded: Nimbus derives the number of ackers from it for RAS alone, and RAS starts each worker"
        " with so many of them.",
    ),
    StormKey(
        "topology.component.cpu.pcore.percent",
        _RAS,
        "CPU of an executor; no host carries more than it offers, unless `capacity.resources` is `soft` and"
        " the topology fits no other way.",
        (f"{_CAPACITY}test_strict_resources_refuse_what_does_not_fit",),
    ),
    StormKey(
        "topology.component.resources.onheap.memory.mb",
        f"{_RAS}; Nimbus for the heap of workers",
        "Heap of an executor: memory of the host, and part of the heap of its worker.",
        (f"{_LARGE}test_the_heap_of_a_worker_is_kept",),
    ),
    StormKey(
        "topology.component.resources.offheap.memory.mb",
        _RAS,
        "Memory of an executor beside its heap: memory of the host.",
        (f"{_SHIM}resourcesAreThoseThatAnyoneOffersOrNeeds",),
    ),
    StormKey(
        "topology.component.resources.map",
        _RAS,
        "Further resources of an executor; a host never carries more than it offers.",
        (f"{_KEYS}test_further_resources_are_never_exceeded",),
    ),
    StormKey(
        "addSharedMemory",
        f"{_RAS}; Nimbus for the heap of workers",
        "Memory that components share, declared in the topology: once in each worker, or on each node, with"
        " executors of one of them ([how](#memory)).",
        (
            f"{_SHIM}memoryThatComponentsShareIsNamedOnce",
            "tests/bridge/round/test_shared_memory.py::test_it_counts_once_for_all_that_use_it",
        ),
    ),
    *(
        StormKey(
            f"topology.{who}.{what}",
            _RAS,
            f"Demand of {of}, as those of components.",
            (f"{_SHIM}ackersAreComponentsWithTheirOwnDemand",),
        )
        for who, of in (("acker", "an acker"), ("metrics.consumer", "a metrics consumer"))
        for what in ("cpu.pcore.percent", "resources.onheap.memory.mb", "resources.offheap.memory.mb")
    ),
    StormKey(
        "supervisor.cpu.capacity",
        _RAS,
        "CPU of a host, and its cores where the number of its executors is not stated.",
        (f"{_CAPACITY}test_declared_resources_are_exceeded_where_a_topology_fits_no_other_way",),
    ),
    StormKey(
        "supervisor.memory.capacity.mb",
        _RAS,
        "Memory of a host.",
        ("tests/bridge/packing/test_grounds.py::test_stated_resources_are_those_of_the_supervisor",),
    ),
    StormKey(
        "supervisor.resources.map",
        _RAS,
        "Further resources of a host.",
        (f"{_KEYS}test_further_resources_are_never_exceeded",),
    ),
    StormKey(
        "topology.worker.max.heap.size.mb",
        _RAS,
        "Heap of a worker: how many workers a topology gets on a host follows from it.",
        (
            f"{_LARGE}test_the_heap_of_a_worker_is_kept",
            f"{_SMALL}test_workers_are_as_many_as_heap_makes_them",
        ),
        sent=True,
    ),
    StormKey(
        "worker.heap.memory.mb",
        "Nimbus and supervisors",
        "Not heeded, as by RAS: it is the heap of a worker whose executors state none.",
    ),
    StormKey(
        "topology.worker.logwriter.childopts",
        "supervisors",
        "Not heeded, as by RAS: the log writer of a worker (64 MB) is no part of what executors need.",
    ),
    StormKey(
        "storm.worker.min.cpu.pcore.percent",
        _RAS,
        "Not heeded: a worker needs what its executors need.",
    ),
    StormKey(
        "topology.priority",
        _RAS,
        "Topologies of a lower number come first where there is not room for all; of equals the one submitted"
        " first. With `plan.evict` others are evicted for them ([how](#order-and-eviction)).",
        (
            f"{_EVICTION}test_a_topology_of_lower_priority_goes",
            f"{_LARGE}test_priority_decides_where_there_is_not_room_for_all",
            f"{_SMALL}test_priority_then_submission_then_id_decide_who_is_served_first",
        ),
        sent=True,
    ),
    StormKey(
        "topology.ras.constraints",
        f"{_RAS} with `ConstraintSolverStrategy`",
        "Whatever the strategy: `incompatibleComponents` never share a worker, `maxNodeCoLocationCnt` is the"
        " most executors of a component on a node. The older list of pairs keeps components apart.",
        (
            f"{_CONSTRAINTS}test_a_node_gets_no_more_executors_of_a_component_than_it_may",
            f"{_CONSTRAINTS}test_components_that_are_apart_share_no_worker",
        ),
        sent=True,
    ),
    StormKey(
        "topology.spread.components",
        f"{_RAS} with `ConstraintSolverStrategy`",
        "One executor of each of these on a node, unless `topology.ras.constraints` states another number.",
        (f"{_CONSTRAINTS}test_a_node_gets_no_more_executors_of_a_component_than_it_may",),
        sent=True,
    ),
    StormKey(
        "topology.ras.one.executor.per.worker",
        _RAS,
        "Each executor gets a worker of its own.",
        (
            f"{_LARGE}test_a_worker_per_executor_is_no_wish",
            f"{_SMALL}test_each_executor_has_its_own_worker_if_asked",
        ),
        sent=True,
    ),
    StormKey(
        "topology.ras.one.component.per.worker",
        _RAS,
        "A worker holds executors of one component only.",
        (
            f"{_KEYS}test_a_worker_holds_one_component",
            f"{_SMALL}test_a_worker_holds_one_component_if_asked",
        ),
        sent=True,
    ),
    StormKey(
        "topology.scheduler.favored.nodes",
        _RAS,
        "Hosts, by name, that are filled first in large rounds, and in others preferred to those as good.",
        (
            f"{_KEYS}test_favored_hosts_are_filled_first_and_unfavored_last",
            f"{_SMALL}test_favored_hosts_come_first_where_they_are_as_good",
        ),
        sent=True,
    ),
    StormKey(
        "topology.scheduler.unfavored.nodes",
        _RAS,
        "Hosts, by name, that are used only if the others do not suffice.",
        (
            f"{_KEYS}test_favored_hosts_are_filled_first_and_unfavored_last",
            f"{_SMALL}test_unfavored_hosts_are_used_only_if_the_others_do_not_suffice",
        ),
        sent=True,
    ),
    StormKey(
        "topology.scheduler.strategy",
        _RAS,
        "Not heeded: `topology.stormplace.strategy` says how a topology is placed.",
    ),
    StormKey(
        "topology.ras.order.executors.by.proximity.needs",
        _RAS,
        "Not heeded: streams between components always count.",
    ),
    StormKey("topology.ras.constraint.max.state.search", _RAS, _NO_SEARCH),
    StormKey("topology.ras.constraint.max.time.secs", _RAS, _NO_SEARCH),
    StormKey("resource.aware.scheduler.constraint.max.state.search", _RAS, _NO_SEARCH),
    StormKey("resource.aware.scheduler.max.topology.scheduling.attempts", _RAS, _NO_SEARCH),
    StormKey("scheduling.timeout.seconds.per.topology", _RAS, _NO_SEARCH),
    StormKey(
        "resource.aware.scheduler.priority.strategy",
        _RAS,
        "Not heeded: the order is that of `DefaultSchedulingPriorityStrategy` where users have guarantees,"
        " and else by priority.",
    ),
    StormKey(
        "resource.aware.scheduler.user.pools",
        _RAS,
        "CPU and memory that users are guaranteed: their topologies come first until they have that much"
        " ([how](#order-and-eviction)).",
        (
            f"{_ORDER}test_who_is_below_the_guarantee_comes_first",
            f"{_EVICTION}test_a_guarantee_evicts_what_none_covers_and_protects",
            f"{_SHIM_KEYS}aFileOfStormsSchedulersWinsOverStormYaml",
        ),
    ),
    StormKey(
        "multitenant.scheduler.user.pools",
        _TENANTS,
        "Most hosts that topologies of a user get by `topology.isolate.machines`, all together; users that"
        " are not named get none. Topologies that are not isolated share hosts with those of all users.",
        ("tests/bridge/problem/test_isolation.py::test_pools_of_machines_bound_what_users_get",),
    ),
    StormKey(
        "scheduler.config.loader.uri",
        f"{_RAS} and {_TENANTS}",
        "Not heeded, with a line in Nimbus' log: fetching pools from elsewhere could block Nimbus.",
    ),
    StormKey(
        "isolation.scheduler.machines",
        _ISOLATION,
        "The named topology has so many hosts for itself ([how](#hosts-for-one-topology)).",
        (f"{_MACHINES}test_a_topology_and_the_others_have_different_hosts",),
    ),
    StormKey(
        "topology.isolate.machines",
        f"{_TENANTS}; {_RAS} with `RoundRobinResourceAwareStrategy`",
        "The topology has so many hosts for itself ([how](#hosts-for-one-topology)), if its user has them in"
        " `multitenant.scheduler.user.pools` and `isolation.scheduler.machines` does not name it.",
        (f"{_MACHINES}test_a_topology_asks_for_hosts_itself",),
        sent=True,
    ),
    StormKey(
        "storm.network.topography.plugin",
        _RAS,
        "Racks, in large rounds.",
        (f"{_LARGE}test_every_executor_gets_a_free_slot",),
    ),
)
"""All keys, those of topologies and components first."""


def storm_keys_reference() -> str:
    """Return one Markdown table: key, who reads it in Storm, what it means here, the test."""
    head = ["| key | read by | here | shown by |", "|---|---|---|---|"]
    return "\n".join([*head, *(_row(each) for each in RECORDS), ""])


def _row(record: StormKey) -> str:
    shown = ", ".join(f"`{test.rpartition('/')[2]}`" for test in record.tests) or "-"
    return f"| `{record.key}` | {record.reader} | {record.use} | {shown} |"
