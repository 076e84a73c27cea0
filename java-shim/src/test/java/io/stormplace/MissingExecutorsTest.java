package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.storm.Config;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Topologies that run in part, in rounds without a daemon. */
class MissingExecutorsTest {
    private static final String HEAP = Config.TOPOLOGY_WORKER_MAX_HEAP_SIZE_MB;

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

    /** Fourteen executors of 128 MB each; 3 to 14 are missing. */
    private static Fixture twelveMissing(Object... keysAndValues) {
        return new Fixture().supervisor("a", 3).supervisor("b", 3)
            .topology("p", 1, Fixture.wordCount(), executors(14), keysAndValues).placed("p", "a", 6700, 1, 2);
    }

    private static Map<ExecutorDetails, String> executors(int count) {
        Map<ExecutorDetails, String> executors = new HashMap<>();
        Fixture.executors(IntStream.rangeClosed(1, count).toArray()).forEach(executor -> executors.put(executor, "words"));
        return executors;
    }

    private static Map<WorkerSlot, Set<ExecutorDetails>> dealt(Fixture fixture, String id) {
        return MissingExecutors.deal(fixture.cluster(), List.of(fixture.details(id))).get(id);
    }

    /** Numbers of executors of the new workers on each supervisor, in the order of ports. */
    private static Map<String, List<Integer>> sizes(Map<WorkerSlot, Set<ExecutorDetails>> workers) {
        Map<String, List<Integer>> sizes = new TreeMap<>();
        workers.entrySet().stream().sorted(Map.Entry.comparingByKey(
            Comparator.comparing(WorkerSlot::getNodeId).thenComparing(WorkerSlot::getPort)))
            .forEach(worker -> sizes.computeIfAbsent(worker.getKey().getNodeId(), id -> new ArrayList<>())
                .add(worker.getValue().size()));
        return sizes;
    }

    @Test
    void aNewWorkerHoldsWhatItsHeapHoldsAndItIsBesideTheRunningOnes() {
        assertEquals(Map.of(Fixture.slot("a", 6700), Fixture.executors(1, 2),
                Fixture.slot("a", 6701), Fixture.executors(3, 4, 5, 6, 7, 8),
                Fixture.slot("a", 6702), Fixture.executors(9, 10, 11, 12, 13, 14)),
            dealt(twelveMissing(), "p"));
    }

    @Test
    void theHeapOfATopologyIsItsOwnSetting() {
        assertEquals(Map.of("a", List.of(2, 12)), sizes(dealt(twelveMissing(HEAP, 1_536.0), "p")));
        assertEquals(Map.of("a", List.of(2, 3, 3), "b", List.of(3, 3)), sizes(dealt(twelveMissing(HEAP, 400.0), "p")));
    }

    @Test
    void anExecutorLargerThanTheHeapHasAWorkerOfItsOwnWhileSlotsLast() {
        assertEquals(Map.of("a", List.of(2, 3, 3), "b", List.of(2, 2, 2)), sizes(dealt(twelveMissing(HEAP, 1.0), "p")));
    }

    @Test
    void whereNearSupervisorsLackMemoryWorkersGoToTheRoomiestAndWhereAllDoNoneIsLeftOut() {
        // 1,000 MB each: a has 2,096 MB left and b 4,096. Four go to b, two to a, the others where most is left, overbooked.
        assertEquals(Map.of("a", List.of(2, 2, 6), "b", List.of(4)),
            sizes(dealt(twelveMissing(HEAP, 100_000.0, Config.TOPOLOGY_COMPONENT_RESOURCES_ONHEAP_MEMORY_MB, 1_000.0), "p")));
    }

    @Test
    void whereSlotsRunOutTheNewWorkersShareTheRest() {
        Fixture fixture = new Fixture().supervisor("a", 3).topology("p", 1, 10, HEAP, 256.0).placed("p", "a", 6700, 1, 2);
        assertEquals(Map.of("a", List.of(2, 6, 6)), sizes(dealt(fixture, "p")));
    }

    @Test
    void theSameHostIsNearerThanTheSameRackAndThatIsNearerThanAnEmptyHostElsewhere() {
        Fixture fixture = new Fixture().config(Config.STORM_NETWORK_TOPOGRAPHY_PLUGIN, HostNameTopography.class.getName())
            .supervisor("far", "oslo-1", List.of(6700, 6701), Map.of())
            .supervisor("rackmate", "rome-1", List.of(6700), Map.of())
            .supervisor("hostmate", "rome-2", List.of(6700), Map.of())
            .supervisor("own", "rome-2", List.of(6700), Map.of())
            .topology("p", 1, 16).placed("p", "own", 6700, 1, 2);
        assertEquals(Map.of("own", List.of(2), "hostmate", List.of(6), "rackmate", List.of(6), "far", List.of(6)),
            sizes(dealt(fixture, "p")));
    }

    @Test
    void aSlotIsGivenToOneTopologyOnly() {
        Fixture fixture = twelveMissing().topology("q", 1, 0).placed("q", "a", 6705, 1);
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> dealt =
            MissingExecutors.deal(fixture.cluster(), List.of(fixture.details("q"), fixture.details("p")));
        assertEquals(Map.of("a", List.of(2, 6, 6)), sizes(dealt.get("p")));
        assertEquals(Map.of("a", List.of(1), "b", List.of(3)), sizes(dealt.get("q")));
    }

    @Test
    void aLargeTopologyGetsItsWorkersAllOverALargeCluster() {
        Fixture fixture = new Fixture();
        for (int i = 0; i < 1_312; i++) {
            fixture.supervisor("s" + i, 50);
        }
        fixture.topology("p", 1, Fixture.wordCount(), executors(5_412))
            .placed("p", "s7", 6700, IntStream.rangeClosed(1, 10).toArray());
        Map<WorkerSlot, Set<ExecutorDetails>> workers = dealt(fixture, "p");
        // 5,402 executors, six in a worker.
        assertEquals(1 + 901, workers.size());
        assertEquals(executors(5_412).keySet(), workers.values().stream().flatMap(Set::stream).collect(Collectors.toSet()));
        assertEquals(Fixture.executors(IntStream.rangeClosed(1, 10).toArray()), workers.get(Fixture.slot("s7", 6700)));
        // 32 executors of 128 MB in 4,096 MB.
        assertTrue(workers.entrySet().stream().collect(Collectors.groupingBy(worker -> worker.getKey().getNodeId(),
            Collectors.summingInt(worker -> worker.getValue().size()))).values().stream().allMatch(count -> count <= 32));
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
            public Collection<WorkerSlot> getUsedSlotsByTopologyId(String id) {
                if (armed != null && armed[0]) {
                    throw new IllegalStateException("injected");
                }
                return super.getUsedSlotsByTopologyId(id);
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
