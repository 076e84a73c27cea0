/*
 * Contract between the shim in Nimbus and the placement daemon.
 *
 * Transport framed, protocol binary. One round of scheduling is one call. Large things travel as parallel lists of
 * integers; a name is written once and meant by its index afterwards. No list, set or struct is ever a map key.
 * Both sides refuse a version they do not know. The response holds no clock reading, so the same request gives the
 * same bytes.
 */
namespace java io.stormplace.wire

const i32 VERSION = 1

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
}

struct Reading {
  1: required ReadingKind kind
  2: required string name              // host or topology id: the last part of the znode's path
  3: required binary payload           // bytes of the znode, unparsed
  4: required i64 age_ms               // since the shim saw it change
}

struct PlanRequest {
  1: required i32 version
  2: required string round_id
  3: required i64 deadline_ms          // how long the shim waits for the answer
  4: required list<Supervisor> supervisors
  5: required list<Topology> topologies
  6: required list<Reading> readings
  7: required bool readings_live       // false: the shim has no ZooKeeper connection, readings only grow older
}

struct Price {
  1: required double gain              // fraction of the current objective that the move saves; 0 for a first placement
  2: required i32 executors_moved
  3: required i32 workers_moved
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
}

struct PlanResponse {
  1: required i32 version
  2: required string round_id
  3: required list<TopologyPlan> plans
}

exception Refused {
  1: required string reason
}

service PlacementDaemon {
  PlanResponse plan(1: PlanRequest request) throws (1: Refused refused)
}
