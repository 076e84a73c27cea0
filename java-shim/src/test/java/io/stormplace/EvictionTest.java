package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Decision;
import io.stormplace.wire.TopologyPlan;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A full cluster: the topology "z-low" goes for "a-high"; "b-other" runs beside it. */
class EvictionTest {
    private static final WorkerSlot A0 = Fixture.slot("a", 6700);
    private static final WorkerSlot A1 = Fixture.slot("a", 6701);
    private static final WorkerSlot B0 = Fixture.slot("b", 6700);

    private final Fixture fixture = new Fixture().supervisor("a", 2).supervisor("b", 1)
        .topology("a-high", 1, 0).topology("b-other", 1, 0).topology("z-low", 2, 0)
        .placed("b-other", "b", 6700, 1, 2, 3, 4).placed("z-low", "a", 6700, 1, 2).placed("z-low", "a", 6701, 3, 4);
    private final Cluster cluster = fixture.cluster();
    private final Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = Fixture.state(cluster);
    private final Snapshot snapshot = new SnapshotBuilder(new LastAssignments()).build("round", fixture.topologies(), cluster,
        new ReadingsCache.View(List.of(), List.of(), true), () -> false);

    private Map<String, Verdict> check(TopologyPlan... plans) throws DaemonFault {
        return PlanValidator.check(snapshot, TestDaemon.response(snapshot.request(), plans), cluster).verdicts();
    }

    private static TopologyPlan evicted(String id, String winner) {
        return TestDaemon.decide(id, Decision.UNPLACEABLE, "not placed: evicted for " + winner).setEvicted_for(winner);
    }

    private static TopologyPlan keep() {
        return TestDaemon.decide("b-other", Decision.KEEP, "stays");
    }

    private static TopologyPlan high(int supervisor) {
        return TestDaemon.assign("a-high", List.of(0, 0, 0, supervisor), List.of(6700, 6700, 6701, 6700));
    }

    @Test
    void theSlotsOfAnEvictedTopologyMayBeGivenAway() throws DaemonFault {
        Map<String, Verdict> verdicts = check(high(0), keep(), evicted("z-low", "a-high"));
        assertEquals(new Verdict(Verdict.Outcome.ASSIGN, "placed by the test",
            Map.of(A0, Fixture.executors(1, 2, 4), A1, Fixture.executors(3)), true), verdicts.get("a-high"));
        assertEquals(new Verdict(Verdict.Outcome.EVICT, "not placed: evicted for a-high", Map.of(), true), verdicts.get("z-low"));
        assertEquals(Verdict.Outcome.KEEP, verdicts.get("b-other").outcome());
    }

    @Test
    void withoutEvictionTheyMayNot() throws DaemonFault {
        Verdict verdict = check(high(0), keep(), TestDaemon.decide("z-low", Decision.KEEP, "stays")).get("a-high");
        assertTrue(verdict.status().contains("slot a:6700 is occupied by another topology"), verdict.status());
    }

    static Stream<List<TopologyPlan>> unsound() {
        return Stream.of(
            // The slot of a topology that stays.
            List.of(high(1), keep(), evicted("z-low", "a-high")),
            List.of(TestDaemon.decide("a-high", Decision.UNPLACEABLE, "no room"), keep(), evicted("z-low", "a-high")),
            List.of(keep(), evicted("z-low", "a-high")),
            List.of(high(0), keep(), evicted("z-low", "unknown")),
            List.of(high(0), keep(), evicted("z-low", "a-high"), evicted("z-low", "a-high")),
            List.of(high(0), keep(), TestDaemon.decide("z-low", Decision.KEEP, "stays").setEvicted_for("a-high")),
            List.of(high(0), evicted("b-other", "z-low"), evicted("z-low", "a-high")));
    }

    @ParameterizedTest
    @MethodSource("unsound")
    void anUnsoundEvictionEvictsNothing(List<TopologyPlan> plans) throws DaemonFault {
        Map<String, Verdict> verdicts = check(plans.toArray(TopologyPlan[]::new));
        assertEquals(Verdict.Outcome.REFUSED, verdicts.get("z-low").outcome());
        assertEquals(List.of(), verdicts.values().stream()
            .filter(verdict -> verdict.outcome() == Verdict.Outcome.ASSIGN || verdict.outcome() == Verdict.Outcome.EVICT).toList());
    }

    @Test
    void evictionsAreCarriedOutBeforeWhatTheyAreFor() {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets =
            Map.of("a-high", Map.of(A0, Fixture.executors(1, 2, 3, 4)), "z-low", Map.of());
        assertEquals(Map.of(), new PlanApplier().apply(cluster, targets, targets.keySet()));
        assertEquals(Map.of("a-high", targets.get("a-high"), "b-other", before.get("b-other")), Fixture.state(cluster));
        assertEquals(Set.of(A0, B0), Set.copyOf(cluster.getUsedSlots()));
    }

    @Test
    void whatCannotBePlacedEvictsNothing() {
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = new TreeMap<>(Map.of("a-high",
            Map.of(A0, Fixture.executors(1, 2), B0, Fixture.executors(3, 4)), "z-low", Map.of()));
        Set<String> together = Set.copyOf(targets.keySet());
        assertEquals(together, new PlanApplier().apply(cluster, targets, together).keySet());
        assertEquals(before, Fixture.state(cluster));
    }

    @Test
    void aThrowAfterTheEvictionTakesItBack() {
        PlanApplier applier = new PlanApplier(source -> new Cluster(source) {
            private boolean armed = true;

            @Override
            public void assign(WorkerSlot slot, String id, Collection<ExecutorDetails> executors) {
                if (armed && id.equals("a-high")) {
                    armed = false;
                    throw new IllegalStateException("injected");
                }
                super.assign(slot, id, executors);
            }
        });
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets =
            Map.of("a-high", Map.of(A0, Fixture.executors(1, 2, 3, 4)), "z-low", Map.of());
        assertEquals(Set.of("a-high", "z-low"), applier.apply(cluster, targets, targets.keySet()).keySet());
        assertEquals(before, Fixture.state(cluster));
    }

    @Test
    void anotherTopologyMayTakeASlotThatAnEvictionLeavesFree() {
        Fixture more = fixture.topology("c-new", 1, 0);
        Cluster larger = more.cluster();
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> targets = Map.of("a-high", Map.of(A0, Fixture.executors(1, 2, 3, 4)),
            "c-new", Map.of(A1, Fixture.executors(1, 2, 3, 4)), "z-low", Map.of());
        assertEquals(Map.of(), new PlanApplier().apply(larger, targets, Set.of("a-high", "z-low")));
        assertEquals(Set.of("a-high", "b-other", "c-new"), Fixture.state(larger).keySet());
    }

    @Test
    void aWholeRoundEvictsAndDoesNotBringBackTheLastSlots() throws Exception {
        PlacementScheduler scheduler = new PlacementScheduler(new StateChangeLog((message, cause) -> { }));
        try (TestDaemon daemon = new TestDaemon(request -> TestDaemon.response(request, high(0), keep(), evicted("z-low", "a-high")))) {
            scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, daemon.port(), ShimSettings.DAEMON_DEADLINE_MS, 20_000),
                new StormMetricsRegistry());
            scheduler.schedule(fixture.topologies(), cluster);
            assertEquals(Set.of("a-high", "b-other"), Fixture.state(cluster).keySet());
            assertEquals("not placed: evicted for a-high", cluster.getStatus("z-low"));

            scheduler.schedule(fixture.topologies(), new Cluster(cluster));
            assertEquals(false, TestDaemon.topology(daemon.lastRequest(), "z-low").isSetLast_supervisor());
        } finally {
            scheduler.cleanup();
        }
    }
}
