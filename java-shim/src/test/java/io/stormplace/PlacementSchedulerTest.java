package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.Decision;
import io.stormplace.wire.PlacementDaemon;
import io.stormplace.wire.PlanResponse;
import io.stormplace.wire.Refused;
import io.stormplace.wire.TopologyPlan;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.DefaultScheduler;
import org.apache.storm.scheduler.ExecutorDetails;
import org.apache.storm.scheduler.WorkerSlot;
import org.apache.storm.scheduler.blacklist.BlacklistScheduler;
import org.apache.thrift.transport.TTransportException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whole rounds against a real daemon, or what stands in its place. */
class PlacementSchedulerTest {
    private static final Map<WorkerSlot, Set<ExecutorDetails>> ON_B =
        Map.of(Fixture.slot("b", 6701), Fixture.executors(1, 2, 3, 4));
    private static final PlacementDaemon.Iface NEW_ON_B = request -> TestDaemon.response(request,
        TestDaemon.onOneSlot(request, "new", "b", 6701), TestDaemon.decide("placed", Decision.KEEP, "stays"));

    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final PlacementScheduler scheduler =
        new PlacementScheduler(new StateChangeLog((message, cause) -> warnings.add(message)));

    /** A placed topology that Storm's default scheduler would spread out, and a new one. */
    private final Fixture fixture = new Fixture().supervisor("a", 3).supervisor("b", 3)
        .topology("placed", 3, 0).placed("placed", "a", 6700, 1, 2, 3, 4).topology("new", 2, 0);
    private final Map<WorkerSlot, Set<ExecutorDetails>> placed = SlotMap.of(fixture.cluster(), "placed");
    private TestDaemon daemon;

    private void prepare(int port, Object... keysAndValues) {
        Map<String, Object> conf = Fixture.conf(keysAndValues);
        conf.put(ShimSettings.DAEMON_PORT, port);
        conf.putIfAbsent(ShimSettings.DAEMON_DEADLINE_MS, 20_000);
        scheduler.prepare(conf, new StormMetricsRegistry());
    }

    /** Starts a daemon, which ends with the test, and prepares the scheduler for it. */
    private void startDaemon(PlacementDaemon.Iface planner, Object... keysAndValues) throws TTransportException {
        daemon = new TestDaemon(planner);
        prepare(daemon.port(), keysAndValues);
    }

    private Cluster round() {
        Cluster cluster = fixture.cluster();
        scheduler.schedule(fixture.topologies(), cluster);
        return cluster;
    }

    @AfterEach
    void cleanup() {
        if (daemon != null) {
            daemon.close();
        }
        scheduler.cleanup();
        assertFalse(Thread.interrupted(), "a test left its thread interrupted");
    }

    private List<String> daemonWarnings() {
        return warnings.stream().filter(warning -> !warning.contains("ZooKeeper")).toList();
    }

    private void assertFallenBack(Cluster cluster, String reason) {
        assertFallenBack(cluster, reason, "placed by DefaultScheduler");
    }

    /** In each later round the fixture hides "new" like a rebalance: it goes back to where the first round placed it. */
    private void assertFallenBackAgain(Cluster cluster, String reason) {
        assertFallenBack(cluster, reason, "put back where it ran");
    }

    private void assertFallenBack(Cluster cluster, String reason, String how) {
        assertEquals(placed, SlotMap.of(cluster, "placed"));
        assertEquals(0, cluster.getUnassignedExecutors(fixture.details("new")).size());
        assertTrue(cluster.getStatus("new").startsWith("No plan: "), cluster.getStatus("new"));
        assertTrue(cluster.getStatus("new").contains(reason), cluster.getStatus("new"));
        assertTrue(cluster.getStatus("new").endsWith("; " + how), cluster.getStatus("new"));
        assertTrue(cluster.getStatus("placed").endsWith("; its workers stay where they are"),
            cluster.getStatus("placed"));
    }

    @Test
    void aPlanIsAppliedAndItsStatusShown() throws Exception {
        startDaemon(NEW_ON_B);
        Cluster cluster = round();
        assertEquals(Map.of("placed", placed, "new", ON_B), Fixture.state(cluster));
        assertEquals(Map.of("placed", "stays", "new", "placed by the test"), cluster.getStatusMap());
        assertTrue(daemon.lastRequest().getDeadline_ms() > 0 && daemon.lastRequest().getDeadline_ms() <= 20_000);
        assertFalse(daemon.lastRequest().isReadings_live());
        assertEquals(List.of(), daemonWarnings());
    }

    @Test
    void everyRoundHasANameOfItsOwn() throws Exception {
        startDaemon(NEW_ON_B);
        round();
        round();
        assertNotEquals(daemon.requests.get(0).getRound_id(), daemon.requests.get(1).getRound_id());
    }

    @Test
    void everyRoundNamesTheCluster() throws Exception {
        startDaemon(NEW_ON_B);
        round();
        assertEquals(ClusterIdentity.of(Fixture.conf()), daemon.lastRequest().getCluster());
        assertEquals("{}", daemon.lastRequest().getCluster_json());
    }

    @Test
    void whileAPlanHoldsAndNothingChangesTheDaemonIsNotAsked() throws Exception {
        Fixture running = new Fixture().supervisor("a", 3).topology("placed", 1, 0).placed("placed", "a", 6700, 1, 2, 3, 4);
        startDaemon(request -> {
            TopologyPlan[] keeps = request.getTopologies().stream()
                .map(topology -> TestDaemon.decide(topology.getId(), Decision.KEEP, "stays")).toArray(TopologyPlan[]::new);
            PlanResponse response = TestDaemon.response(request, keeps);
            response.setHold_ms(60_000);
            return response;
        });
        for (int i = 0; i < 3; i++) {
            Cluster cluster = running.cluster();
            scheduler.schedule(running.topologies(), cluster);
            assertEquals("stays", cluster.getStatus("placed"));
        }
        assertEquals(1, daemon.requests.size());

        running.supervisor("b", 3);
        scheduler.schedule(running.topologies(), running.cluster());

        assertEquals(2, daemon.requests.size());
    }

    @Test
    void aTopologyThatARebalanceHidesIsDescribedWithItsLastSlots() throws Exception {
        startDaemon(NEW_ON_B);
        round();
        Fixture hidden = new Fixture().supervisor("a", 3).supervisor("b", 3).topology("placed", 3, 0);
        scheduler.schedule(hidden.topologies(), hidden.cluster());

        assertEquals(List.of(0, 0, 0, 0), daemon.lastRequest().getTopologies().get(0).getLast_supervisor());
        assertEquals(List.of(6700, 6700, 6700, 6700), daemon.lastRequest().getTopologies().get(0).getLast_port());
    }

    @Test
    void aTopologyThatARebalanceHidesRightAfterItsPlacementIsDescribedWithIt() throws Exception {
        startDaemon(NEW_ON_B);
        round();
        Fixture hidden = new Fixture().supervisor("a", 3).supervisor("b", 3).topology("new", 2, 0);
        scheduler.schedule(hidden.topologies(), hidden.cluster());

        assertEquals(Set.of(6701), Set.copyOf(daemon.lastRequest().getTopologies().get(0).getLast_port()));
    }

    @Test
    void withoutADaemonARebalanceMovesNothing() throws Exception {
        startDaemon(NEW_ON_B);
        round();
        daemon.close();
        Fixture hidden = new Fixture().supervisor("a", 3).supervisor("b", 3).topology("placed", 3, 0);
        Cluster cluster = hidden.cluster();
        scheduler.schedule(hidden.topologies(), cluster);

        assertEquals(placed, SlotMap.of(cluster, "placed"));
        assertTrue(cluster.getStatus("placed").endsWith("; put back where it ran"), cluster.getStatus("placed"));
    }

    @Test
    void aSecondRoundWithTheSamePlanWritesNothing() throws Exception {
        fixture.topology("third", 1, 1);
        PlacementDaemon.Iface planner = request -> TestDaemon.response(request,
            TestDaemon.onOneSlot(request, "new", "b", 6701), TestDaemon.onOneSlot(request, "placed", "a", 6701),
            TestDaemon.onOneSlot(request, "third", "b", 6702));
        startDaemon(planner);
        Fixture.RecordingCluster first = fixture.recordingCluster();
        scheduler.schedule(fixture.topologies(), first);
        assertNotEquals(List.of(), first.writes());
        assertEquals(3, Fixture.state(first).size());
        Fixture.RecordingCluster second = new Fixture.RecordingCluster(first);
        scheduler.schedule(fixture.topologies(), second);
        assertEquals(List.of(), second.writes());
        assertEquals(2, daemon.requests.size());
    }

    @Test
    void withoutADaemonOnlyUnassignedExecutorsArePlacedByStorm() throws IOException {
        int port = Fixture.unusedPort();
        prepare(port);
        assertFallenBack(round(), "no connection to 127.0.0.1:" + port);
        for (int i = 0; i < 4; i++) {
            assertFallenBackAgain(round(), "no connection to 127.0.0.1:" + port);
        }
        assertEquals(1, daemonWarnings().size(), daemonWarnings().toString());
    }

    @Test
    void aDaemonThatNeverAnswersCostsOneDeadlineAndThenABackOff() throws IOException {
        try (RawServer server = new RawServer(new byte[0])) {
            prepare(server.port(), ShimSettings.DAEMON_DEADLINE_MS, 1_000);
            assertFallenBack(round(), "did not answer before the deadline");
            for (int i = 0; i < 2; i++) {
                // The back-off of five deadlines may pass on a slow machine: then one more connection is right.
                assertFallenBackAgain(round(), "did not answer before the deadline");
            }
            assertEquals(1, daemonWarnings().size(), daemonWarnings().toString());
        }
    }

    @Test
    void duringTheBackOffTheDaemonIsNotAsked() throws IOException {
        try (RawServer server = new RawServer(new byte[0])) {
            // Twenty rounds take far less than the back-off of five deadlines.
            prepare(server.port(), ShimSettings.DAEMON_DEADLINE_MS, 2_000);
            for (int i = 0; i < 20; i++) {
                round();
            }
            assertEquals(1, server.accepted.size());
        }
    }

    @Test
    void aDaemonThatTalksNonsenseIsNotBelieved() throws IOException {
        try (RawServer server = new RawServer("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII))) {
            prepare(server.port());
            assertFallenBack(round(), "cannot be read");
            assertFallenBackAgain(round(), "cannot be read");
            assertEquals(1, daemonWarnings().size(), daemonWarnings().toString());
        }
    }

    @Test
    void aDaemonOfAnotherVersionIsNotBelieved() throws Exception {
        startDaemon(request -> new PlanResponse(99, request.getRound_id(), List.of()));
        assertFallenBack(round(), "speaks version 99, this shim speaks version 1");
    }

    @Test
    void aDaemonThatRefusesIsNoAbsentDaemon() throws Exception {
        startDaemon(request -> {
            throw new Refused("wire version 1 is not mine");
        });
        assertFallenBack(round(), "refused the request: wire version 1 is not mine");
    }

    @Test
    void everyChangeOfTheDaemonsStateIsOneWarning() throws Exception {
        AtomicReference<PlacementDaemon.Iface> planner = new AtomicReference<>(NEW_ON_B);
        startDaemon(request -> planner.get().plan(request));
        int port = daemon.port();
        round();
        planner.set(request -> new PlanResponse(99, request.getRound_id(), List.of()));
        round();
        round();
        planner.set(NEW_ON_B);
        round();
        round();
        daemon.close();
        round();
        round();
        assertEquals(3, daemonWarnings().size(), daemonWarnings().toString());
        assertTrue(daemonWarnings().get(0).contains("version 99"));
        assertEquals("Stormplace has plans from 127.0.0.1:" + port + ".", daemonWarnings().get(1));
        assertTrue(daemonWarnings().get(2).contains("no connection"));
    }

    @Test
    void aDaemonThatComesBackTakesOverInTheNextRound() throws Exception {
        int port = Fixture.unusedPort();
        prepare(port);
        round();
        daemon = new TestDaemon(port, NEW_ON_B);
        assertEquals(ON_B, SlotMap.of(round(), "new"));
    }

    @Test
    void anInterruptDuringTheCallEndsTheRoundWithTheFlagSetAndTheClusterUnchanged() throws Exception {
        try (RawServer server = new RawServer(new byte[0])) {
            prepare(server.port());
            Fixture.RecordingCluster cluster = fixture.recordingCluster();
            AtomicBoolean flag = new AtomicBoolean();
            AtomicReference<Throwable> escaped = new AtomicReference<>();
            CountDownLatch ended = new CountDownLatch(1);
            Thread timer = new Thread(() -> {
                try {
                    scheduler.schedule(fixture.topologies(), cluster);
                } catch (Throwable t) {
                    escaped.set(t);
                }
                flag.set(Thread.currentThread().isInterrupted());
                ended.countDown();
            });
            timer.start();
            server.firstConnection.await();
            timer.interrupt();
            ended.await();
            assertEquals(null, escaped.get());
            assertTrue(flag.get());
            assertEquals(List.of(), cluster.writes());
            assertEquals(Map.of(), cluster.getStatusMap());
        }
    }

    @Test
    void aFallbackThatTakesLongerThanTheDeadlineHoldsUpNoRoundAndIsUsedInALaterOne() throws Exception {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        ScriptedScheduler.script(gate);
        prepare(Fixture.unusedPort(), ShimSettings.DAEMON_DEADLINE_MS, 10,
            ShimSettings.FALLBACK_SCHEDULER, ScriptedScheduler.class.getName());
        for (int i = 0; i < 2; i++) {
            Cluster cluster = round();
            assertEquals(Map.of("placed", placed), Fixture.state(cluster));
            assertTrue(cluster.getStatus("new").endsWith(
                "; ScriptedScheduler is still at work, its placement is used in a later round"), cluster.getStatus("new"));
        }
        gate.awaitRun();
        gate.release();
        Cluster cluster = round();
        assertEquals(0, cluster.getUnassignedExecutors(fixture.details("new")).size());
        assertTrue(cluster.getStatus("new").endsWith("; placed by ScriptedScheduler"), cluster.getStatus("new"));
    }

    @Test
    void aWrongPlanForOneTopologyDoesNotKeepTheOthersFromTheirs() throws Exception {
        fixture.topology("third", 1, 0);
        PlacementDaemon.Iface planner = request -> TestDaemon.response(request,
            TestDaemon.onOneSlot(request, "new", "b", 6701), TestDaemon.decide("placed", Decision.KEEP, "stays"),
            TestDaemon.onOneSlot(request, "third", "a", 6700));
        startDaemon(planner);
        Cluster cluster = round();
        assertEquals(ON_B, SlotMap.of(cluster, "new"));
        assertEquals(placed, SlotMap.of(cluster, "placed"));
        assertEquals(0, cluster.getUnassignedExecutors(fixture.details("third")).size());
        assertEquals("No plan: slot a:6700 is occupied by another topology; placed by DefaultScheduler",
            cluster.getStatus("third"));
        assertEquals(List.of("Stormplace has no usable plan for some topologies: "
            + "{third=slot a:6700 is occupied by another topology}"), daemonWarnings());
    }

    @Test
    void topologiesThatAreNotDescribedAreNoFaultOfTheDaemonAndNamedOnceHoweverTheyChange() throws Exception {
        startDaemon(request -> TestDaemon.response(request, TestDaemon.decide("placed", Decision.KEEP, "stays")));
        Map<ExecutorDetails, String> executors = new HashMap<>();
        executors.put(new ExecutorDetails(1, 1), null);
        for (String odd : List.of("odd-1", "odd-2")) {
            Fixture some = new Fixture().supervisor("a", 3).topology("placed", 1, 0).placed("placed", "a", 6700, 1, 2, 3, 4)
                .topology(odd, 1, null, executors);
            scheduler.schedule(some.topologies(), some.cluster());
        }
        assertEquals(1, daemonWarnings().size(), daemonWarnings().toString());
        assertTrue(daemonWarnings().get(0).startsWith(
            "Stormplace left some topologies out of its question to the daemon: {odd-1=cannot be described"), daemonWarnings().get(0));
        Fixture good = new Fixture().supervisor("a", 3).topology("placed", 1, 0).placed("placed", "a", 6700, 1, 2, 3, 4);
        scheduler.schedule(good.topologies(), good.cluster());
        assertEquals(List.of("Stormplace describes all topologies to the daemon."), daemonWarnings().subList(1, daemonWarnings().size()));
    }

    @Test
    void anUnplaceableTopologyStaysUnassignedWithTheReason() throws Exception {
        PlacementDaemon.Iface planner = request -> TestDaemon.response(request,
            TestDaemon.decide("new", Decision.UNPLACEABLE, "count is pinned to a host that is away"),
            TestDaemon.onOneSlot(request, "placed", "b", 6700));
        startDaemon(planner);
        Cluster cluster = round();
        assertEquals(Set.of("placed"), Fixture.state(cluster).keySet());
        assertEquals("count is pinned to a host that is away", cluster.getStatus("new"));
    }

    @Test
    void anAnswerForATopologyThatIsGoneHarmsNoOther() throws Exception {
        PlacementDaemon.Iface planner = request -> {
            PlanResponse response = NEW_ON_B.plan(request);
            List<TopologyPlan> plans = new ArrayList<>(response.getPlans());
            plans.add(TestDaemon.assign("killed", List.of(0), List.of(6702)));
            return response.setPlans(plans);
        };
        startDaemon(planner);
        assertEquals(Map.of("placed", placed, "new", ON_B), Fixture.state(round()));
        assertEquals(List.of("Stormplace has no usable plan for some topologies: "
            + "{killed=is not a topology of this round}"), daemonWarnings());
    }

    @Test
    void aRoundThatFailsWhileItCommitsChangesNothingAndThrowsNothing() throws Exception {
        startDaemon(NEW_ON_B);
        AtomicBoolean armed = new AtomicBoolean();
        Cluster cluster = new Cluster(fixture.cluster()) {
            @Override
            public void assign(WorkerSlot slot, String id, Collection<ExecutorDetails> executors) {
                if (armed != null && armed.get() && id.equals("new")) {
                    throw new OutOfMemoryError("injected");
                }
                super.assign(slot, id, executors);
            }
        };
        armed.set(true);
        scheduler.schedule(fixture.topologies(), cluster);
        assertEquals(Map.of("placed", placed), Fixture.state(cluster));
        assertEquals(1, daemonWarnings().size(), daemonWarnings().toString());
    }

    @Test
    void aSchedulerThatWasNeverPreparedDoesNotThrow() {
        new PlacementScheduler(new StateChangeLog((message, cause) -> warnings.add(message)))
            .schedule(fixture.topologies(), fixture.cluster());
        prepare(1);
        assertEquals(1, warnings.size());
    }

    @Test
    void anEmptyClusterIsNoReasonToAsk() throws Exception {
        startDaemon(NEW_ON_B);
        Fixture empty = new Fixture().supervisor("a", 1);
        scheduler.schedule(empty.topologies(), empty.cluster());
        assertEquals(0, daemon.requests.size());
    }

    @Test
    void inShadowModeTheFallbackDoesTheRoundAndTheStatusShowsThePlan() throws Exception {
        startDaemon(NEW_ON_B, ShimSettings.MODE, "shadow");
        Cluster storms = fixture.cluster();
        new DefaultScheduler().schedule(fixture.topologies(), storms);
        Cluster cluster = round();
        assertEquals(Fixture.state(storms), Fixture.state(cluster));
        assertNotEquals(placed, SlotMap.of(cluster, "placed"));
        assertEquals("Shadow plan: would assign: placed by the test", cluster.getStatus("new"));
        assertEquals("Shadow plan: would keep: stays", cluster.getStatus("placed"));
    }

    @Test
    void itWorksInsideTheBlacklistSchedulerThatNimbusWrapsAroundIt() throws Exception {
        daemon = new TestDaemon(request -> TestDaemon.response(request,
            TestDaemon.onOneSlot(request, "new", "b", 6701), TestDaemon.onOneSlot(request, "placed", "b", 6702)));
        // One worker each: with a shortage of slots Storm would pardon the host.
        fixture.topology("placed", 1, 0);
        BlacklistScheduler nimbus = new BlacklistScheduler(scheduler);
        Map<String, Object> conf = Fixture.conf(ShimSettings.DAEMON_PORT, daemon.port(),
            ShimSettings.DAEMON_DEADLINE_MS, 20_000, "blacklist.scheduler.tolerance.count", 1);
        nimbus.prepare(conf, new StormMetricsRegistry());
        nimbus.schedule(fixture.topologies(), fixture.cluster());

        // Supervisor b is away for a round; when it is back its host is blacklisted.
        Fixture without = new Fixture().supervisor("a", 3).topology("placed", 1, 0)
            .placed("placed", "a", 6700, 1, 2, 3, 4).topology("new", 2, 0);
        nimbus.schedule(without.topologies(), without.cluster());
        Cluster cluster = fixture.cluster();
        nimbus.schedule(fixture.topologies(), cluster);
        assertEquals(Set.of("host-b"), cluster.getBlacklistedHosts());
        assertTrue(daemon.lastRequest().getSupervisors().get(1).isBlacklisted());
        assertEquals(placed, SlotMap.of(cluster, "placed"));
        assertEquals("No plan: host host-b is blacklisted; its workers stay where they are",
            cluster.getStatus("placed"));
        assertTrue(SlotMap.of(cluster, "new").keySet().stream().allMatch(slot -> slot.getNodeId().equals("a")));
        assertEquals(Map.of(), nimbus.config());
    }

    @Test
    void badSettingsAreNoReasonToFail() throws Exception {
        startDaemon(NEW_ON_B, ShimSettings.MODE, 7, ShimSettings.ZOOKEEPER_ROOT, "no",
            ShimSettings.FALLBACK_SCHEDULER, "org.example.Missing");
        assertEquals(ON_B, SlotMap.of(round(), "new"));
    }
}
