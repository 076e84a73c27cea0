package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.EvenScheduler;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.Topologies;
import org.apache.storm.scheduler.TopologyDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.resource.ResourceAwareScheduler;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FallbackSchedulerTest {
    private static final long AMPLE_MS = 60_000;
    private static final FallbackScheduler.Outcome LATE = new FallbackScheduler.Outcome(Map.of(),
        "ScriptedScheduler is still at work, its placement is used in a later round");

    private final List<String> warnings = new ArrayList<>();
    private final FallbackScheduler fallback = new FallbackScheduler(
        new StateChangeLog((message, cause) -> warnings.add(message)), Threads.DAEMONS, System::nanoTime);

    /** A placed topology that uses one worker of the three it asks for, and a new one. */
    private final Fixture fixture = new Fixture().supervisor("a", 3).supervisor("b", 3)
        .topology("placed", 3, 0).placed("placed", "a", 6700, 1, 2, 3, 4).topology("new", 2, 0);

    private FallbackScheduler.Outcome propose() throws InterruptedException {
        return fallback.propose(fixture.cluster(), List.of(fixture.details("new")), AMPLE_MS);
    }

    private void prepare(Class<?> scheduler) {
        fallback.prepare(scheduler.getName(), Fixture.conf(), new StormMetricsRegistry());
    }

    @Test
    void stormsDefaultSchedulerAloneWouldMoveThePlacedTopology() {
        Cluster cluster = fixture.cluster();
        Map<WorkerSlot, Set<ExecutorDetails>> before = SlotMap.of(cluster, "placed");
        new DefaultScheduler().schedule(fixture.topologies(), cluster);
        assertNotEquals(before, SlotMap.of(cluster, "placed"));
    }

    @ParameterizedTest
    @ValueSource(classes = {DefaultScheduler.class, EvenScheduler.class, ResourceAwareScheduler.class})
    void onlyTheWantedTopologyIsPlacedAndOnlyOnFreeSlots(Class<?> scheduler) throws InterruptedException {
        prepare(scheduler);
        Fixture.RecordingCluster cluster = fixture.recordingCluster();
        Map<String, FallbackScheduler.Proposal> proposals =
            fallback.propose(cluster, List.of(fixture.details("new")), AMPLE_MS).proposals();
        assertEquals(List.of(), cluster.writes());
        assertEquals(Set.of("new"), proposals.keySet());
        Map<WorkerSlot, Set<ExecutorDetails>> slots = proposals.get("new").slots();
        assertEquals(4, slots.values().stream().mapToInt(Set::size).sum(), slots.toString());
        assertTrue(!slots.containsKey(Fixture.slot("a", 6700)), "the slot of the placed topology was given away");
        assertEquals(List.of(), warnings);
    }

    @Test
    void theSchedulerIsShownNothingButTheWantedTopology() throws InterruptedException {
        prepare(ObservingScheduler.class);
        Map<String, FallbackScheduler.Proposal> proposals = propose().proposals();
        assertEquals("[new] [new] [a:6700]", proposals.get("new").status());
    }

    @Test
    void whatTheSchedulerSaysAboutATopologyIsKept() throws InterruptedException {
        prepare(ResourceAwareScheduler.class);
        Map<String, FallbackScheduler.Proposal> proposals = propose().proposals();
        assertTrue(proposals.get("new").status().startsWith("Running - Fully Scheduled"), proposals.toString());
    }

    @Test
    void theSlotsOfAllOtherTopologiesAreTakenEvenIfNoneIsLeft() throws InterruptedException {
        Fixture full = new Fixture().supervisor("a", 1).topology("placed", 1, 0)
            .placed("placed", "a", 6700, 1, 2, 3, 4).topology("new", 1, 0);
        assertEquals(Map.of(),
            fallback.propose(full.cluster(), List.of(full.details("new")), AMPLE_MS).proposals().get("new").slots());
    }

    @ParameterizedTest
    @ValueSource(strings = {"org.example.Missing", "java.lang.String", "io.stormplace.PlacementScheduler",
        "io.stormplace.FallbackSchedulerTest$UnpreparableScheduler"})
    void aSchedulerThatCannotBeUsedIsNamedAndTheDefaultOneUsed(String className) {
        fallback.prepare(className, Fixture.conf(), new StormMetricsRegistry());
        assertEquals("DefaultScheduler", fallback.name());
        assertEquals(1, warnings.size());
        assertTrue(warnings.get(0).startsWith("Stormplace cannot use " + className), warnings.get(0));
    }

    @Test
    void aSchedulerThatThrowsProposesNothingAndIsNamedOnce() throws InterruptedException {
        prepare(ThrowingScheduler.class);
        for (int round = 0; round < 3; round++) {
            assertEquals(new FallbackScheduler.Outcome(Map.of(), "ThrowingScheduler failed"), propose());
        }
        assertEquals(List.of("Stormplace's fallback scheduler ThrowingScheduler failed, what is unassigned stays so: "
            + "IllegalStateException: half done"), warnings);
    }

    @Test
    void aSchedulerThatThrowsInAWholeRoundLeavesTheClusterAsItWas() throws InterruptedException {
        prepare(ThrowingScheduler.class);
        Cluster cluster = fixture.cluster();
        Map<String, Map<WorkerSlot, Set<ExecutorDetails>>> before = Fixture.state(cluster);
        fallback.scheduleAll(fixture.topologies(), cluster);
        assertEquals(before, Fixture.state(cluster));
    }

    @Test
    void anInterruptInsideTheSchedulerIsAFaultLikeAnyOther() throws InterruptedException {
        ScriptedScheduler.script(() -> {
            throw new RuntimeException(new InterruptedException());
        });
        prepare(ScriptedScheduler.class);
        assertEquals("ScriptedScheduler failed", propose().otherwise());
        assertFalse(Thread.interrupted());
        fallback.scheduleAll(fixture.topologies(), fixture.cluster());
        assertFalse(Thread.interrupted());
    }

    @Test
    void anInterruptOfTheCallerGetsThrough() throws InterruptedException {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        ScriptedScheduler.script(gate);
        prepare(ScriptedScheduler.class);
        Thread.currentThread().interrupt();
        assertThrows(InterruptedException.class, () -> fallback.scheduleAll(fixture.topologies(), fixture.cluster()));
        gate.awaitRun();
        gate.release();
    }

    /** Begins a run that no round waits for long enough; it goes on at the gate. */
    private ScriptedScheduler.Gate lateRun() throws InterruptedException {
        return lateRun(fixture.cluster());
    }

    private ScriptedScheduler.Gate lateRun(Cluster cluster) throws InterruptedException {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        ScriptedScheduler.script(gate);
        prepare(ScriptedScheduler.class);
        assertEquals(LATE, fallback.propose(cluster, List.of(fixture.details("new")), 1));
        gate.awaitRun();
        return gate;
    }

    @Test
    void aRunThatTakesLongerThanARoundWaitsIsUsedInALaterRoundAndNotBegunAgain() throws InterruptedException {
        ScriptedScheduler.Gate gate = lateRun();
        assertEquals(LATE, propose());
        gate.release();
        Map<WorkerSlot, Set<ExecutorDetails>> slots = propose().proposals().get("new").slots();
        assertEquals(4, slots.values().stream().mapToInt(Set::size).sum(), slots.toString());
        assertEquals(1, gate.runs());
        propose();
        assertEquals(2, gate.runs());
    }

    static List<Arguments> changesOfTheCluster() {
        return List.of(
            change("its slots are taken", f -> f.placed("placed", "a", 6701, 1).placed("placed", "a", 6702, 2)
                .placed("placed", "b", 6700, 3).placed("placed", "b", 6701, 4).placed("more", "b", 6702, 1)),
            change("its supervisors are gone", f -> new Fixture().supervisor("c", 6).topology("new", 2, 0)),
            change("it has other executors", f -> f.topology("new", 2, Fixture.wordCount(),
                Map.of(new ExecutorDetails(1, 4), "words"))));
    }

    private static Arguments change(String name, UnaryOperator<Fixture> change) {
        return Arguments.of(Named.of(name, change));
    }

    @ParameterizedTest
    @MethodSource("changesOfTheCluster")
    void whatDoesNotFitAnyMoreIsNotProposed(UnaryOperator<Fixture> change) throws InterruptedException {
        ScriptedScheduler.Gate gate = lateRun();
        gate.release();
        Fixture changed = change.apply(fixture.topology("more", 1, 0));
        assertEquals(new FallbackScheduler.Outcome(Map.of(), "ScriptedScheduler is asked in the next round"),
            fallback.propose(changed.cluster(), List.of(changed.details("new")), AMPLE_MS));
    }

    @Test
    void whatNoRoundHasUseForIsDropped() throws InterruptedException {
        ScriptedScheduler.Gate gate = lateRun();
        gate.release();
        fallback.propose(fixture.cluster(), List.of(), AMPLE_MS);
        propose();
        assertEquals(2, gate.runs());
    }

    @Test
    void whatTheStatusWasBeforeIsNotTheSchedulersWord() throws InterruptedException {
        Cluster cluster = fixture.cluster();
        cluster.setStatus("new", "old");
        ScriptedScheduler.Gate gate = lateRun(cluster);
        gate.release();
        cluster.setStatus("new", "newer");
        assertNull(fallback.propose(cluster, List.of(fixture.details("new")), AMPLE_MS).proposals().get("new").status());
    }

    @Test
    void aRunThatIsUnderWayIsInterruptedAtTheEnd() throws InterruptedException {
        ScriptedScheduler.Gate gate = lateRun();
        fallback.cleanup();
        gate.awaitEnd();
    }

    /** Cannot be prepared. */
    public static final class UnpreparableScheduler extends DefaultScheduler {
        @Override
        public void prepare(Map<String, Object> conf, StormMetricsRegistry registry) {
            throw new IllegalStateException("no");
        }
    }

    /** Frees everything, then fails. */
    public static final class ThrowingScheduler extends DefaultScheduler {
        @Override
        public void schedule(Topologies topologies, Cluster cluster) {
            cluster.getUsedSlots().forEach(cluster::freeSlot);
            throw new IllegalStateException("half done");
        }
    }

    /** Writes into the topology's status which topologies and used slots it sees. */
    public static final class ObservingScheduler extends DefaultScheduler {
        @Override
        public void schedule(Topologies topologies, Cluster cluster) {
            cluster.setStatus("new", topologies.getAllIds() + " "
                + cluster.needsSchedulingTopologies().stream().map(TopologyDetails::getId).toList() + " "
                + cluster.getUsedSlots());
        }
    }
}
