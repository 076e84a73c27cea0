package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.stormplace.wire.PlanRequest;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Topology;
import io.stormplace.wire.TopologyPlan;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import org.apache.storm.Config;
import org.apache.storm.DaemonConfig;
import org.apache.storm.LocalCluster;
import org.apache.storm.generated.ExecutorSummary;
import org.apache.storm.generated.TopologyInfo;
import org.junit.jupiter.api.Test;

/** Storm's real Nimbus with the shim as its scheduler. */
class LocalClusterTest {
    private static PlanResponse allOnLastSlot(PlanRequest request) {
        int last = request.getSupervisorsSize() - 1;
        List<Integer> ports = request.getSupervisors().get(last).getPorts();
        TopologyPlan[] plans = request.getTopologies().stream().map(Topology::getId)
            .map(id -> TestDaemon.onOneSlot(request, id, request.getSupervisors().get(last).getId(),
                ports.get(ports.size() - 1)))
            .toArray(TopologyPlan[]::new);
        return TestDaemon.response(request, plans);
    }

    @Test
    void nimbusRunsATopologyWhereTheDaemonSays() throws Exception {
        CountDownLatch asked = new CountDownLatch(2);
        try (TestDaemon daemon = new TestDaemon(request -> {
            asked.countDown();
            return allOnLastSlot(request);
        })) {
            Map<String, Object> conf = new HashMap<>();
            conf.put(DaemonConfig.STORM_SCHEDULER, PlacementScheduler.class.getName());
            conf.put(ShimSettings.DAEMON_PORT, daemon.port());
            conf.put(ShimSettings.DAEMON_DEADLINE_MS, 10_000);
            try (LocalCluster cluster = new LocalCluster.Builder().withSupervisors(2).withPortsPerSupervisor(2)
                    .withNimbusDaemon(true).withDaemonConf(conf).build()) {
                Map<String, Object> topologyConf = new HashMap<>(Map.of(Config.TOPOLOGY_WORKERS, 2));
                try (LocalCluster.LocalTopology topology = cluster.submitTopology("words", topologyConf,
                        Fixture.wordCount())) {
                    asked.await();
                    TopologyInfo info = placed(cluster, "words");
                    assertEquals("placed by the test", info.get_sched_status());
                    Set<Integer> ports = info.get_executors().stream().map(ExecutorSummary::get_port)
                        .collect(Collectors.toSet());
                    assertEquals(1, ports.size(), info.toString());
                    Topology told = daemon.lastRequest().getTopologies().get(0);
                    assertEquals("words", told.getName());
                    assertEquals(info.get_executors_size(), told.getExecutor_first_taskSize());
                    assertEquals(List.of("__acker", "count", "words"), told.getComponent_names());
                }
            }
        }
    }

    /** Nimbus has no call-back for a finished assignment. */
    private static TopologyInfo placed(LocalCluster cluster, String name) throws Exception {
        while (true) {
            TopologyInfo info = cluster.getTopologyInfoByName(name);
            if (info.get_executors_size() > 0 && info.get_sched_status() != null) {
                return info;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        }
    }
}
