/* The calls and fields of Nimbus' service that are used here (storm.thrift of Storm 2.8);
   fields that are not named here are skipped when a reply is read. */

struct GlobalStreamId {
  1: required string componentId;
  2: required string streamId;
}

struct NullStruct {
}

/* of the groupings, whether every task gets every tuple is all that matters here */
struct Grouping {
  3: optional NullStruct all;
}

struct ShellComponent {
  1: string execution_command;
  2: string script;
}

union ComponentObject {
  2: ShellComponent shell;
}

struct ComponentCommon {
  1: required map<GlobalStreamId, Grouping> inputs;
  3: optional i32 parallelism_hint;
  4: optional string json_conf;
}

struct SpoutSpec {
  1: required ComponentObject spout_object;
  2: required ComponentCommon common;
}

struct Bolt {
  1: required ComponentObject bolt_object;
  2: required ComponentCommon common;
}

struct StormTopology {
  1: required map<string, SpoutSpec> spouts;
  2: required map<string, Bolt> bolts;
}

struct TopologySummary {
  1: required string id;
  2: required string name;
  7: required string status;
}

/* window -> stream -> count or mean; the windows are numbers of seconds and ":all-time" */
struct BoltStats {
  4: required map<string, map<GlobalStreamId, i64>> executed;
  5: required map<string, map<GlobalStreamId, double>> execute_ms_avg;
}

struct SpoutStats {
  1: required map<string, map<string, i64>> acked;
  2: required map<string, map<string, i64>> failed;
  3: required map<string, map<string, double>> complete_ms_avg;
}

union ExecutorSpecificStats {
  1: BoltStats bolt;
  2: SpoutStats spout;
}

struct ExecutorStats {
  1: required map<string, map<string, i64>> emitted;
  2: required map<string, map<string, i64>> transferred;
  3: required ExecutorSpecificStats specific;
  4: required double rate;
}

struct ExecutorInfo {
  1: required i32 task_start;
  2: required i32 task_end;
}

struct ExecutorSummary {
  1: required ExecutorInfo executor_info;
  2: required string component_id;
  3: required string host;
  4: required i32 port;
  5: required i32 uptime_secs;
  7: optional ExecutorStats stats;
}

struct TopologyInfo {
  1: required string id;
  4: required list<ExecutorSummary> executors;
}

struct NimbusSummary {
  1: required string host;
  2: required i32 port;
  4: required bool isLeader;
}

struct SupervisorSummary {
  1: required string host;
  3: required i32 num_workers;
  4: required i32 num_used_workers;
  7: optional map<string, double> total_resources;
  12: optional bool blacklisted;
}

struct ClusterSummary {
  1: required list<SupervisorSummary> supervisors;
}

enum NumErrorsChoice {
  ALL,
  NONE,
  ONE
}

struct GetInfoOptions {
  1: optional NumErrorsChoice num_err_choice;
}

/* a component that is not named keeps its executors */
struct RebalanceOptions {
  1: optional i32 wait_secs;
  3: optional map<string, i32> num_executors;
}

exception NotAliveException {
  1: required string msg;
}

exception AuthorizationException {
  1: required string msg;
}

exception InvalidTopologyException {
  1: required string msg;
}

service Nimbus {
  ClusterSummary getClusterInfo();
  NimbusSummary getLeader();
  list<TopologySummary> getTopologySummaries() throws (1: AuthorizationException aze);
  TopologyInfo getTopologyInfoWithOpts(1: string id, 2: GetInfoOptions options) throws (1: NotAliveException e, 2: AuthorizationException aze);
  string getTopologyConf(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze);
  void rebalance(1: string name, 2: RebalanceOptions options) throws (1: NotAliveException e, 2: InvalidTopologyException ite, 3: AuthorizationException aze);
  StormTopology getTopology(1: string id) throws (1: NotAliveException e, 2: AuthorizationException aze);
}
