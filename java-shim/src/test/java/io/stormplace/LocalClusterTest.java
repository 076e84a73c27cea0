package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Supervisor;
import io.stormplace.wire.Topology;
import io.stormplace.wire.TopologyPlan;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.SupervisorInfo;
import org.apache.storm.generated.TopologyInfo;
import org.apache.storm.utils.Time;
import org.junit.jupiter.api.Test;

/**
 * Storm's real Nimbus with the shim as its scheduler.
 *
 * <p>Supervisors are only announced in ZooKeeper: real ones in this process halt the whole virtual machine when a topology is killed while
 * they still fetch it, and what runs in a worker is no matter of scheduling.
 */
class LocalClusterTest {
    private static PlanResponse allOnTheLastSupervisor(PlanRequest request) {
        String last = request.getSupervisors().get(request.getSupervisorsSize() - 1).getId();
        return TestDaemon.response(request, request.getTopologies().stream()
            .map(topology -> TestDaemon.onOneSlot(request, topology.getId(), last, 6701)).toArray(TopologyPlan[]::new));
    }

    private static void announce(LocalCluster cluster, String id) {
        SupervisorInfo info = new SupervisorInfo(Time.currentTimeSecs(), "host-" + id);
        info.set_assignment_id(id);
        info.set_meta(List.of(6700L, 6701L));
        info.set_scheduler_meta(Map.of("stormplace.site", "site-of-" + id));
        info.set_resources_map(Map.of(Config.SUPERVISOR_CPU_CAPACITY, 400.0,
            Config.SUPERVISOR_MEMORY_CAPACITY_MB, 4096.0));
        cluster.getClusterState().supervisorHeartbeat(id, info);
    }

    @Test
    void nimbusAssignsATopologyWhereTheDaemonSays() throws Exception {
        try (TestDaemon daemon = new TestDaemon(LocalClusterTest::allOnTheLastSupervisor)) {
            Map<String, Object> conf = Map.of(DaemonConfig.STORM_SCHEDULER, PlacementScheduler.class.getName(),
                ShimSettings.DAEMON_PORT, daemon.port(), ShimSettings.DAEMON_DEADLINE_MS, 20_000);
            try (LocalCluster cluster = new LocalCluster.Builder().withSupervisors(0).withNimbusDaemon(true)
                    .withDaemonConf(new HashMap<>(conf)).build()) {
                announce(cluster, "sup-a");
                announce(cluster, "sup-b");
                cluster.submitTopology("words", new HashMap<>(Map.of(Config.TOPOLOGY_WORKERS, 2)), Fixture.wordCount());
                TopologyInfo info = assigned(cluster, "words");
                assertEquals("placed by the test", info.get_sched_status());
                assertEquals(Set.of("host-sup-b:6701"), info.get_executors().stream()
                    .map(executor -> executor.get_host() + ":" + executor.get_port()).collect(Collectors.toSet()));
                PlanRequest request = daemon.lastRequest();
                assertEquals(List.of("host-sup-a", "host-sup-b"),
                    request.getSupervisors().stream().map(Supervisor::getHost).toList());
                assertEquals(Map.of("stormplace.site", "site-of-sup-a"), request.getSupervisors().get(0).getMeta());
                Topology words = request.getTopologies().get(0);
                assertEquals("words", words.getName());
                assertEquals(List.of("__acker", "count", "words"), words.getComponent_names());
                assertEquals(info.get_executors_size(), words.getExecutor_first_taskSize());
                awaitStatus(daemon, "ACTIVE");
                cluster.deactivate("words");
                awaitStatus(daemon, "INACTIVE");
            }
        }
    }

    /** The status comes by a watch, so that a later round is the first to show it. */
    private static void awaitStatus(TestDaemon daemon, String status) {
        while (!status.equals(daemon.lastRequest().getTopologies().get(0).getStatus())) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            assertFalse(Thread.interrupted(), "the status did not come before the test's time-out");
        }
    }

    /** Nimbus has no call-back for a finished assignment. */
    private static TopologyInfo assigned(LocalCluster cluster, String name) throws Exception {
        while (true) {
            TopologyInfo info = cluster.getTopologyInfoByName(name);
            if (info.get_executors_size() > 0 && info.get_sched_status() != null) {
                return info;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            assertFalse(Thread.interrupted(), "there was no assignment before the test's time-out");
        }
    }
}
