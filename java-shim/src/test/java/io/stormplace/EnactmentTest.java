package io.stormplace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.stormplace.wire.PlacementDaemon;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.storm.metric.StormMetricsRegistry;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.scheduler.SupervisorDetails;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rounds in which a step fails after the plan was applied: one topology has a plan, others get what can be done without one. */
class EnactmentTest {
    private static final PlacementDaemon.Iface ONE_PLAN = request -> request.getTopologiesSize() == 3
        ? TestDaemon.response(request, TestDaemon.onOneSlot(request, "planned", "b", 6701)) : TestDaemon.response(request);

    private final List<String> warnings = Collections.synchronizedList(new ArrayList<>());
    private final PlacementScheduler scheduler =
        new PlacementScheduler(new StateChangeLog((message, cause) -> warnings.add(message)));
    private final Fixture fixture = hosts().topology("planned", 1, 0).topology("new", 1, 0)
        .topology("part", 1, 0).placed("part", "a", 6700, 1, 2);
    private TestDaemon daemon;

    @BeforeEach
    void start() throws Exception {
        daemon = new TestDaemon(ONE_PLAN);
        scheduler.prepare(Fixture.conf(ShimSettings.DAEMON_PORT, daemon.port(), ShimSettings.DAEMON_DEADLINE_MS, 20_000,
            ShimSettings.FALLBACK_SCHEDULER, ScriptedScheduler.class.getName()), new StormMetricsRegistry());
        ScriptedScheduler.script(() -> { });
    }

    @AfterEach
    void cleanup() {
        daemon.close();
        scheduler.cleanup();
    }

    private static Fixture hosts() {
        return new Fixture().supervisor("a", 3).supervisor("b", 3);
    }

    /** A cluster whose free slots cannot be counted, so that missing executors cannot be given new workers. */
    private Cluster withoutPorts() {
        boolean[] armed = {false};
        Cluster cluster = new Cluster(fixture.cluster()) {
            @Override
            public Set<Integer> getAvailablePorts(SupervisorDetails supervisor) {
                if (armed != null && armed[0]) {
                    throw new OutOfMemoryError("injected");
                }
                return super.getAvailablePorts(supervisor);
            }
        };
        armed[0] = true;
        return cluster;
    }

    private void assertPlannedIsRemembered() {
        Fixture hidden = hosts().topology("planned", 1, 0);
        scheduler.schedule(hidden.topologies(), hidden.cluster());
        assertEquals(List.of(6701, 6701, 6701, 6701), daemon.lastRequest().getTopologies().get(0).getLast_port());
    }

    @Test
    void aStepThatFailsCostsNoOtherStepAnything() {
        for (int round = 0; round < 2; round++) {
            Cluster cluster = withoutPorts();
            scheduler.schedule(fixture.topologies(), cluster);
            assertEquals(Set.of(Fixture.slot("b", 6701)), SlotMap.of(cluster, "planned").keySet());
            assertEquals(SlotMap.of(fixture.cluster(), "part"), SlotMap.of(cluster, "part"));
            assertEquals(0, cluster.getUnassignedExecutors(fixture.details("new")).size());
            assertEquals("placed by the test", cluster.getStatus("planned"));
            assertTrue(cluster.getStatus("part").endsWith("; the round could not be completed"), cluster.getStatus("part"));
            assertTrue(cluster.getStatus("new").endsWith(round == 0 ? "; placed by ScriptedScheduler" : "; put back where it ran"),
                cluster.getStatus("new"));
        }
        assertEquals(List.of("Stormplace could not complete a round: OutOfMemoryError: injected"),
            warnings.stream().filter(warning -> warning.contains("round")).toList());
        assertPlannedIsRemembered();
    }

    @Test
    void anInterruptDuringTheFallbackLeavesWhatWasDoneWithItsStatusesAndTheFlagSet() throws Exception {
        ScriptedScheduler.Gate gate = new ScriptedScheduler.Gate();
        ScriptedScheduler.script(gate);
        Cluster cluster = fixture.cluster();
        AtomicBoolean flag = new AtomicBoolean();
        Thread timer = new Thread(() -> {
            scheduler.schedule(fixture.topologies(), cluster);
            flag.set(Thread.currentThread().isInterrupted());
        });
        timer.start();
        gate.awaitRun();
        timer.interrupt();
        timer.join();
        assertTrue(flag.get());
        assertEquals(Set.of("planned", "part"), Fixture.state(cluster).keySet());
        assertEquals("placed by the test", cluster.getStatus("planned"));
        assertTrue(cluster.getStatus("part").endsWith("; 2 missing executors placed on free slots; its workers stay where they are"),
            cluster.getStatus("part"));
        assertTrue(cluster.getStatus("new").endsWith("; the round could not be completed"), cluster.getStatus("new"));
        gate.release();
        assertPlannedIsRemembered();
    }
}
