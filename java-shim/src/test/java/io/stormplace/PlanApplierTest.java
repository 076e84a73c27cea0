package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.SchedulerAssignment;
import org.apache.storm.scheduler.WorkerSlot;
import org.junit.jupiter.api.Test;

class PlanApplierTest {
    private static final WorkerSlot A0 = Fixture.slot("a", 6700);
    private static final WorkerSlot A1 = Fixture.slot("a", 6701);
    private static final WorkerSlot B0 = Fixture.slot("b", 6700);
    private static final WorkerSlot B1 = Fixture.slot("b", 6701);

    private final Fixture fixture = new Fixture().supervisor("a", 2).supervisor("b", 2)
        .topology("t1", 2, 0).topology("t2", 1, 0).placed("t1", "a", 6700, 1, 2).placed("t1", "b", 6700, 3, 4);

    private static Map<WorkerSlot, Set<ExecutorDetails>> oneWorker(WorkerSlot slot) {
        return Map.of(slot, Fixture.executors(1, 2, 3, 4));
    }

    @Test
    void placementsOfSeveralTopologiesAreAppliedAndStormsBooksAgree() {
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> moved = Map.of(A0, Fixture.executors(1, 2, 3), B0, Fixture.executors(4));
        assertEquals(Map.of(), new PlanApplier().apply(cluster, Map.of("t1", moved, "t2", oneWorker(A1)), Set.of()));
        assertEquals(Map.of("t1", moved, "t2", oneWorker(A1)), Fixture.state(cluster));
        assertEquals(Set.of(A0, A1, B0), Set.copyOf(cluster.getUsedSlots()));
        assertEquals(70.0, cluster.getScheduledCpuForNode("a"));
        assertEquals(10.0, cluster.getScheduledCpuForNode("b"));
    }

    @Test
    void whatIsAlreadySoIsNotWritten() {
        Fixture.RecordingCluster cluster = fixture.recordingCluster();
        new PlanApplier().apply(cluster, Map.of("t1", SlotMap.of(cluster, "t1")), Set.of());
        assertEquals(List.of(), cluster.writes());
    }

    @Test
    void onlyWorkersWhoseExecutorsChangeAreFreedAndAssigned() {
        Fixture.RecordingCluster copy = fixture.recordingCluster();
        new PlanApplier(source -> copy).apply(fixture.cluster(),
            Map.of("t1", Map.of(A0, Fixture.executors(1, 2), B1, Fixture.executors(3, 4))), Set.of());
        assertEquals(List.of("free b:6700", "assign b:6701"), copy.writes());
    }

    @Test
    void aTopologyThatCannotBePlacedIsUndoneCompletelyAndTheOthersArePlaced() {
        Cluster cluster = fixture.cluster();
        Map<String, String> failures = new PlanApplier().apply(cluster, Map.of("t1", oneWorker(B1),
            "t2", Map.of(A1, Fixture.executors(1, 2), B1, Fixture.executors(3, 4))), Set.of());
        assertEquals(Set.of("t2"), failures.keySet());
        assertEquals("RuntimeException: slot: [b, 6701] is already occupied.", failures.get("t2"));
        assertEquals(Map.of("t1", oneWorker(B1)), Fixture.state(cluster));
    }

    @Test
    void howeverManyTopologiesFailTheClusterIsCopiedOnce() {
        Cluster cluster = fixture.topology("t3", 1, 0).topology("t4", 1, 0).placed("t4", "b", 6701, 1, 2, 3, 4).cluster();
        AtomicInteger copies = new AtomicInteger();
        // The free slot first: each failure leaves something to undo.
        Map<WorkerSlot, Set<ExecutorDetails>> onTaken = new LinkedHashMap<>();
        onTaken.put(A1, Fixture.executors(1, 2));
        onTaken.put(B1, Fixture.executors(3, 4));
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = Fixture.state(cluster);
        Map<String, String> failures = new PlanApplier(source -> {
            copies.incrementAndGet();
            return new Cluster(source);
        }).apply(cluster, Map.of("t1", onTaken, "t2", onTaken, "t3", oneWorker(A1)), Set.of());
        assertEquals(Set.of("t1", "t2"), failures.keySet());
        assertEquals(1, copies.get());
        assertEquals(oneWorker(A1), Fixture.state(cluster).get("t3"));
        assertEquals(before.get("t1"), Fixture.state(cluster).get("t1"));
        assertEquals(Set.of("t1", "t3", "t4"), Fixture.state(cluster).keySet());
    }

    @Test
    void whereEveryTopologyFailsNothingIsWritten() {
        Fixture.RecordingCluster cluster = fixture.recordingCluster();
        new PlanApplier().apply(cluster, Map.of("t2", oneWorker(A0)), Set.of());
        assertEquals(List.of(), cluster.writes());
    }

    @Test
    void aThrowMidwayOnTheCopyLeavesTheClusterAsItWas() {
        Cluster cluster = fixture.cluster();
        cluster.setStatus("t1", "before");
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = Fixture.state(cluster);
        PlanApplier applier = new PlanApplier(source -> new ThrowingCluster(source, 1));
        Map<String, String> failures = applier.apply(cluster,
            Map.of("t2", Map.of(A1, Fixture.executors(1, 2), B1, Fixture.executors(3, 4))), Set.of());
        assertEquals(Map.of("t2", "IllegalStateException: injected"), failures);
        assertEquals(before, Fixture.state(cluster));
        assertEquals("before", cluster.getStatus("t1"));
    }

    @Test
    void aThrowMidwayInTheCommitIsTakenBack() {
        Cluster source = fixture.cluster();
        source.setStatus("t1", "before");
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = Fixture.state(source);
        ThrowingCluster cluster = new ThrowingCluster(source, 1);
        assertThrows(IllegalStateException.class, () -> new PlanApplier().apply(cluster,
            Map.of("t2", Map.of(A1, Fixture.executors(1, 2), B1, Fixture.executors(3, 4))), Set.of()));
        assertEquals(1, cluster.thrown);
        assertEquals(before, Fixture.state(cluster));
        assertEquals(Set.of(A0, B0), Set.copyOf(cluster.getUsedSlots()));
        assertEquals("before", cluster.getStatus("t1"));
    }

    @Test
    void theAssignmentsOfTheClusterAreNotSharedWithTheCopy() {
        Cluster cluster = fixture.cluster();
        SchedulerAssignment before = cluster.getAssignmentById("t1");
        new PlanApplier(source -> {
            Cluster copy = new Cluster(source);
            copy.unassign("t1");
            assertEquals(4, before.getExecutors().size());
            return copy;
        }).apply(cluster, Map.of("t1", oneWorker(A1)), Set.of());
        assertEquals(Map.of("t1", oneWorker(A1)), Fixture.state(cluster));
    }

    /** Throws once, after a number of assignments that succeed. */
    private static final class ThrowingCluster extends Cluster {
        private int left;
        private int thrown;
        private boolean armed;

        ThrowingCluster(Cluster source, int successes) {
            super(source);
            left = successes;
            armed = true;
        }

        @Override
        public void assign(WorkerSlot slot, String id, Collection<ExecutorDetails> executors) {
            if (armed && left-- == 0) {
                thrown++;
                armed = false;
                throw new IllegalStateException("injected");
            }
            super.assign(slot, id, executors);
        }
    }
}
