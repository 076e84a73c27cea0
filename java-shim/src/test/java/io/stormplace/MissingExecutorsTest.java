package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SupervisorDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Topologies that run in part, in rounds without a daemon. */
class MissingExecutorsTest {
    private final List<String> warnings = new ArrayList<>();
    private final PlacementScheduler scheduler =
        new PlacementScheduler(new StateChangeLog((message, cause) -> warnings.add(message)));

    /** Nine executors, one wanted worker; executor 9 is missing. */
    private static Fixture fixture(int slotsPerHost) {
        return new Fixture().supervisor("a", slotsPerHost).supervisor("b", slotsPerHost).supervisor("c", slotsPerHost)
            .topology("part", 1, 5).placed("part", "a", 6700, 1, 2).placed("part", "b", 6700, 3, 4, 5)
            .placed("part", "c", 6700, 6, 7, 8);
    }

    private static Map<WorkerSlot, Set<ExecutorDetails>> with(Map<WorkerSlot, Set<ExecutorDetails>> workers,
                                                              WorkerSlot slot, int... tasks) {
        Map<WorkerSlot, Set<ExecutorDetails>> all = new HashMap<>(workers);
        all.put(slot, Fixture.executors(tasks));
        return all;
    }

    private void round(Fixture fixture, Cluster cluster) {
        scheduler.schedule(fixture.topologies(), cluster);
    }

    private void prepare() {
        scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, 1), new StormMetricsRegistry());
    }

    @AfterEach
    void cleanup() {
        scheduler.cleanup();
    }

    @Test
    void stormsDefaultSchedulerWouldRestartHealthyWorkers() {
        Fixture fixture = fixture(2);
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "part");
        new DefaultScheduler().schedule(fixture.topologies(), cluster);
        assertFalse(SlotMap.of(cluster, "part").entrySet().containsAll(before.entrySet()));
    }

    @Test
    void aMissingExecutorGetsANewSlotAndEveryWorkerStaysAsItIs() {
        prepare();
        Fixture fixture = fixture(2);
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "part");
        round(fixture, cluster);
        assertEquals(with(before, Fixture.slot("a", 6701), 9), SlotMap.of(cluster, "part"));
        assertTrue(cluster.getStatus("part").endsWith(
            "; 1 missing executors placed on free slots; its workers stay where they are"), cluster.getStatus("part"));
    }

    @Test
    void withoutAFreeSlotNothingChangesAndTheStatusSaysSo() {
        prepare();
        Fixture fixture = fixture(1);
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "part");
        round(fixture, cluster);
        assertEquals(before, SlotMap.of(cluster, "part"));
        assertTrue(cluster.getStatus("part").endsWith(
            "; no free slot for 1 missing executors; its workers stay where they are"), cluster.getStatus("part"));
    }

    @Test
    void aBlacklistedHostGetsNoNewWorker() {
        prepare();
        Fixture fixture = fixture(2);
        Cluster cluster = fixture.cluster();
        cluster.setBlacklistedHosts(Set.of("host-a"));
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "part");
        round(fixture, cluster);
        assertEquals(with(before, Fixture.slot("b", 6701), 9), SlotMap.of(cluster, "part"));
    }

    @Test
    void executorsAreDealtRoundRobinOverHostsAndNoSlotIsGivenTwice() {
        Fixture fixture = new Fixture().supervisor("a", 2).supervisor("b", 4)
            .supervisor("b2", "host-b", List.of(6800), Map.of())
            .topology("p", 1, 0).placed("p", "a", 6700, 1).topology("q", 1, 0).placed("q", "b", 6700, 1, 2, 3);
        Cluster cluster = fixture.cluster();
        assertEquals(Map.of(
                "p", Map.of(Fixture.slot("a", 6700), Fixture.executors(1), Fixture.slot("b", 6701),
                    Fixture.executors(2, 4), Fixture.slot("a", 6701), Fixture.executors(3)),
                "q", Map.of(Fixture.slot("b", 6700), Fixture.executors(1, 2, 3), Fixture.slot("b", 6702),
                    Fixture.executors(4))),
            MissingExecutors.deal(cluster, List.of(fixture.details("q"), fixture.details("p"))));
    }

    @Test
    void theFallbackPlacesANewTopologyBesideIt() {
        prepare();
        Fixture fixture = fixture(2).topology("new", 1, 0);
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "part");
        round(fixture, cluster);
        assertEquals(with(before, Fixture.slot("a", 6701), 9), SlotMap.of(cluster, "part"));
        assertEquals(0, cluster.getUnassignedExecutors(fixture.details("new")).size());
        assertTrue(cluster.getStatus("new").endsWith("; placed by DefaultScheduler"), cluster.getStatus("new"));
    }

    @Test
    void workersWithExecutorsThatTheTopologyNoLongerHasAreTheFallbacksBusiness() {
        Fixture fixture = fixture(2).placed("part", "a", 6701, 99);
        assertFalse(MissingExecutors.concerns(fixture.cluster(), fixture.details("part")));
        assertTrue(MissingExecutors.concerns(fixture(2).cluster(), fixture(2).details("part")));
    }

    @Test
    void aFaultInTheShimsOwnSnapshotIsOneWarningHoweverLongItLasts() {
        prepare();
        Fixture fixture = fixture(2);
        boolean[] armed = {false};
        Cluster cluster = new Cluster(fixture.cluster()) {
            @Override
            public Map<String, SupervisorDetails> getSupervisors() {
                if (armed != null && armed[0]) {
                    throw new IllegalStateException("injected");
                }
                return super.getSupervisors();
            }
        };
        armed[0] = true;
        round(fixture, cluster);
        assertNotEquals(null, cluster.getStatus("part"));
        assertTrue(cluster.getStatus("part").contains("injected"), cluster.getStatus("part"));
        round(fixture, cluster);
        List<String> said = warnings.stream().filter(warning -> !warning.contains("ZooKeeper")).toList();
        assertEquals(1, said.size(), said.toString());
    }
}
