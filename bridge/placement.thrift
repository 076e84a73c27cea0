/*
 * Contract between the shim in Nimbus and the placement daemon.
 *
 * Transport framed, protocol binary. One round of scheduling is one call. Large things travel as parallel lists of
 * integers; a name is written once and meant by its index afterwards. No list, set or struct is ever a map key.
 * The response holds no clock reading, so the same request gives the same bytes.
 *
 * Versions. Each side speaks OLDEST_VERSION to VERSION. A field that is added is optional, and a reader that does not
 * know it skips it: that raises no version. VERSION rises with what an older reader would misunderstand, such as a
 * further enumerator or another meaning of a field. The shim asks in its newest version. A daemon that does not speak
 * it names its own range in Refused, and the shim asks again in that range's newest version if it speaks that one:
 * then it writes nothing that came later but optional fields. The daemon answers in the version of the request.
 */
namespace java io.stormplace.wire

const i32 VERSION = 1
const i32 OLDEST_VERSION = 1

// Keys of Storm's own that placements heed: a topology's values go into storm_json.
const list<string> STORM_KEYS = [
  "topology.isolate.machines",
  "topology.priority",
  "topology.ras.constraints",
  "topology.ras.one.component.per.worker",
  "topology.ras.one.executor.per.worker",
  "topology.scheduler.favored.nodes",
  "topology.scheduler.unfavored.nodes",
  "topology.spread.components",
  "topology.worker.max.heap.size.mb"
]

// Keys of Nimbus' configuration that placements heed: its values go into cluster_json.
const list<string> CLUSTER_KEYS = [
  "isolation.scheduler.machines",
  "multitenant.scheduler.user.pools",
  "resource.aware.scheduler.user.pools"
]

enum ComponentKind { SPOUT = 0, BOLT = 1, ACKER = 2, SYSTEM = 3 }

enum Grouping { SHUFFLE = 0, FIELDS = 1, ALL = 2, GLOBAL = 3, NONE = 4, DIRECT = 5, LOCAL_OR_SHUFFLE = 6, CUSTOM = 7 }

enum ReadingKind { NODE = 0, RATES = 1 }

enum Decision { KEEP = 0, ASSIGN = 1, UNPLACEABLE = 2 }

struct Supervisor {
  1: required string id
  2: required string host
  3: required list<i32> ports          // every port that may be used or is in use this round
  4: required bool alive               // false: known only because an assignment still names it
  5: required bool blacklisted
  6: required double cpu_percent       // capacity, 100 = one core; 0 if unknown
  7: required double memory_mb         // capacity; 0 if unknown
  8: required map<string, string> meta // supervisor.scheduler.meta
  9: optional string rack              // by Storm's network topography; absent if there is one rack only
  10: optional list<double> resources  // capacity of each of the request's resource_names
}

struct Topology {
  1: required string id
  2: required string name
  3: required i32 num_workers
  4: required string settings_json     // JSON object: every key of the topology's conf that starts with topology.stormplace.
  // components; index = position
  5: required list<string> component_names
  6: required list<i32> component_kinds        // ComponentKind
  // streams between components; stream_from and stream_to are component indices
  7: required list<i32> stream_from
  8: required list<i32> stream_to
  9: required list<string> stream_ids
  10: required list<i32> stream_groupings      // Grouping
  // executors, in ascending order of first task
  11: required list<i32> executor_first_task
  12: required list<i32> executor_last_task
  13: required list<i32> executor_component    // component index
  14: required list<double> executor_cpu_percent
  15: required list<double> executor_memory_mb
  16: required list<i32> executor_supervisor   // supervisor index, -1 = unassigned
  17: required list<i32> executor_port         // -1 = unassigned
  18: optional list<double> component_heap_mb  // of one executor
  19: optional list<double> component_resources  // of one executor, each of the request's resource_names, row by row
  20: optional string storm_json               // JSON object: keys of Storm's own that placements heed
  21: optional i64 launched_s                  // Unix time of the submission
  // where each executor ran last, if not all have a slot; -1 = not known or on a supervisor that is gone
  22: optional list<i32> last_supervisor
  23: optional list<i32> last_port
  // slots of executors that ran last and are none of these, if not all of these have a slot
  31: optional list<i32> left_supervisor
  32: optional list<i32> left_port
  // memory that components share: pairs of component and piece, then three amounts in MB for each piece:
  // heap of a worker, memory of a worker beside its heap, memory of a node
  26: optional list<i32> shared_component
  27: optional list<i32> shared_piece
  28: optional list<double> shared_mb
  25: optional string status                   // ACTIVE, INACTIVE, KILLED or REBALANCING; absent if not known
  30: optional string owner            // the user who submitted it
}

struct Reading {
  1: required ReadingKind kind
  2: required string name              // host or topology id: the last part of the znode's path
  // text of the znode, unparsed; packed as there if the shim cannot unpack it, which a daemon names
  3: required binary payload
  4: required i64 age_ms               // since the shim saw it change
}

// A host or site that is to be emptied.
struct Drain {
  1: required string place             // host:NAME or site:NAME: the last part of the znode's path
  2: required binary payload           // text of the znode, unparsed
  3: required i64 age_ms               // since the shim saw it change
}

struct PlanRequest {
  1: required i32 version
  2: required string round_id
  3: required i64 deadline_ms          // how long the shim waits for the answer
  4: required list<Supervisor> supervisors
  5: required list<Topology> topologies
  6: required list<Reading> readings
  7: required bool readings_live       // false: the shim has no ZooKeeper connection, readings only grow older
  8: optional string cluster           // names the cluster: the same before and after a fail-over of Nimbus
  9: optional list<string> resource_names  // beside CPU and memory
  // JSON object: keys of Nimbus' configuration that placements heed; absent from a shim that cannot evict
  10: optional string cluster_json
  11: optional list<Drain> drains
}

struct Price {
  1: required double gain              // fraction of the current objective that the move saves; 0 for a first placement
  2: required i32 executors_moved
  3: required i32 workers_moved
  4: optional i32 executors_restarted  // all executors of those workers
  // the price list of a plan that restarts executors: estimates, absent where nothing is known
  5: optional double pause_s           // for about so long restarted executors stand still
  6: optional string pause_source      // what that rests on, such as restarts, first starts at rome, default
  7: optional i32 pause_samples        // number of these
  8: optional double replayed_tuples   // tuples that spouts emit again
  9: optional double pulled_mb         // images and state that hosts load
  10: optional double move_cost        // price of that, in cost units
  11: optional double payback_s        // after so long it is paid; absent beside a move_cost: never
  12: optional double objective_before // F of staying, where more than the response time is weighed
  // parallel: names of metrics, values of staying and after the plan
  13: optional list<string> metrics
  14: optional list<double> staying
  15: optional list<double> after
}

struct TopologyPlan {
  1: required string topology_id
  2: required Decision decision
  3: required list<i32> executor_supervisor    // parallel to the request's executors; empty unless ASSIGN
  4: required list<i32> executor_port          // likewise
  5: required string status                    // one line for the topology's sched_status
  6: required string strategy
  7: optional double objective
  8: optional double response_time_ms
  9: optional double bound
  10: optional Price price
  // id of the topology that needs its slots: all of them are freed before any plan is carried out
  11: optional string evicted_for
}

struct PlanResponse {
  1: required i32 version
  2: required string round_id
  3: required list<TopologyPlan> plans
  4: optional i32 hold_ms              // for so long a cluster in which nothing changes needs no plan
}

exception Refused {
  1: required string reason
  // the versions that the daemon speaks, where the version of the request is the reason
  2: optional i32 oldest_version
  3: optional i32 newest_version
}

// A look at what a plan would do to a topology; it changes nothing.
struct PreviewRequest {
  1: required i32 version
  2: required string topology          // name or id
  3: optional string cluster           // as in PlanRequest; may be absent where the daemon plans for one only
  4: optional string settings_json     // JSON object: keys below topology.stormplace. that take the place of its own
  5: optional list<string> drains      // host:NAME or site:NAME, taken for drained
}

struct Preview {
  1: required string answer_json       // docs/replacement.md says what it holds
}

// What the shim asks.
service PlacementDaemon {
  PlanResponse plan(1: PlanRequest request) throws (1: Refused refused)
}

// What people ask, on the same connections.
service PreviewDaemon extends PlacementDaemon {
  Preview preview(1: PreviewRequest request) throws (1: Refused refused)
}
