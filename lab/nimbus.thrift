/* The few calls and fields of Nimbus' service that tell whether the cluster is up (storm.thrift of Storm 2.8);
   fields that are not named here are skipped when a reply is read. */

struct NimbusSummary {
  1: required string host;
  2: required i32 port;
  4: required bool isLeader;
}

struct SupervisorSummary {
  1: required string host;
  3: required i32 num_workers;
  4: required i32 num_used_workers;
}

struct ClusterSummary {
  1: required list<SupervisorSummary> supervisors;
}

service Nimbus {
  ClusterSummary getClusterInfo();
  NimbusSummary getLeader();
}
